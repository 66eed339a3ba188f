/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/irq_row.h"

#include <stdlib.h>
#include <string.h>

#include "record.h"

/* The kernel's words for what x86 has vectors for (arch/arm64/kernel/smp.c: ipi_types,
 * drivers/clocksource/arm_arch_timer.c, arch/riscv/kernel/smp.c,
 * drivers/clocksource/timer-riscv.c). A function call for one CPU and one for many are the same IPI
 * there. */
static const struct {
	const char *words;
	uint8_t vector;
} known[] = {
	{"arch_timer", VECTOR_LOCAL_TIMER},
	{"riscv-timer", VECTOR_LOCAL_TIMER},
	{"Rescheduling interrupts", VECTOR_RESCHEDULE},
	{"Function call interrupts", VECTOR_CALL_FUNCTION},
	{"IRQ work interrupts", VECTOR_IRQ_WORK},
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool starts_with(const char *text, const char *end, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(end - text) >= n && !strncmp(text, word, n);
}

/* True when the text ends with these words. */
static bool ends_with(const char *text, size_t len, const char *words)
{
	size_t n = strlen(words);

	return len >= n && !strncmp(text + len - n, words, n) &&
	       (len == n || text[len - n - 1] == ' ');
}

/* True for interrupts that each CPU has for itself: with a GIC the SGIs and PPIs, which are those
 * below 32 (GICv3 has more from 1056 to 1119, GICv5 a kind of them); with RISC-V's INTC all. */
static bool is_per_cpu(const char *chip, const char *end)
{
	unsigned hwirq = 0;

	if (starts_with(chip, end, "RISC-V INTC") || starts_with(chip, end, "GICv5-PPI"))
		return true;
	if (!starts_with(chip, end, "GIC") || starts_with(chip, end, "GICv5"))
		return false;
	while (chip < end && *chip != ' ')
		chip++;
	while (chip < end && *chip == ' ')
		chip++;
	for (; chip < end && is_digit(*chip) && hwirq < 10000; chip++)
		hwirq = 10 * hwirq + *chip - '0';
	return hwirq < 32 || (hwirq >= 1056 && hwirq < 1120);
}

/* The number that begins here; -1: there is no such. */
static int number_of(const char *text)
{
	long n = strtol(text, NULL, 10);

	return n <= INT32_MAX ? n : -1;
}

void irq_row_take(const char *label, const char *what, size_t len, struct irq_row *row)
{
	const char *end = memchr(what, '\n', len);

	*row = (struct irq_row){.irq = -1, .ipi = -1};
	if (!end)
		end = what + len;
	if (is_digit(label[0]))
		row->irq = number_of(label);
	else if (!strncmp(label, "IPI", 3) && is_digit(label[3]))
		row->ipi = number_of(label + 3);
	if (row->irq < 0 && row->ipi < 0)
		return;
	while (what < end && *what == ' ')
		what++;
	row->per_cpu = row->ipi >= 0 || is_per_cpu(what, end);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]) && row->per_cpu; i++)
		if (ends_with(what, end - what, known[i].words))
			row->vector = known[i].vector;
}

/* The counts are words of digits, and a chip's name is not. */
static const char *skip_counts(const char *at)
{
	for (;;) {
		size_t n;

		at += strspn(at, " ");
		n = strspn(at, "0123456789");
		if (!n || !strchr(" \n", at[n])) /* the line may end here, where a row is cut */
			return at;
		at += n;
	}
}

void irq_row_read(const char *line, struct irq_row *row)
{
	const char *label = line + strspn(line, " "), *at = strchr(label, ':');

	if (!at) {
		*row = (struct irq_row){.irq = -1, .ipi = -1};
		return;
	}
	at = skip_counts(at + 1);
	irq_row_take(label, at, strlen(at), row);
}
