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

/* True when the text ends with these words. */
static bool ends_with(const char *text, size_t len, const char *words)
{
	size_t n = strlen(words);

	return len >= n && !strncmp(text + len - n, words, n) &&
	       (len == n || text[len - n - 1] == ' ');
}

/* A chip has interrupts of each CPU: of a GIC the SGIs and PPIs, which are those below 32 (GICv3
 * has more from 1056 to 1119, GICv5 a kind of them); of RISC-V's INTC all. */
static bool is_per_cpu(const char *chip)
{
	unsigned long hwirq;

	if (!strncmp(chip, "RISC-V INTC", 11) || !strncmp(chip, "GICv5-PPI", 9))
		return true;
	if (strncmp(chip, "GIC", 3) || !strncmp(chip, "GICv5", 5))
		return false;
	hwirq = strtoul(chip + strcspn(chip, " "), NULL, 10);
	return hwirq < 32 || (hwirq >= 1056 && hwirq < 1120);
}

void irq_row_read(const char *line, struct irq_row *row)
{
	const char *label = line + strspn(line, " "), *at = strchr(label, ':');
	size_t len;

	*row = (struct irq_row){.irq = -1, .ipi = -1};
	if (!at)
		return;
	if (is_digit(label[0]))
		row->irq = atoi(label);
	else if (!strncmp(label, "IPI", 3) && is_digit(label[3]))
		row->ipi = atoi(label + 3);
	else
		return;
	/* The counts are words of digits, and a chip's name is not. */
	do
		at++, at += strspn(at, " ");
	while (is_digit(*at) && (at += strspn(at, "0123456789")));
	len = strcspn(at, "\n");
	row->per_cpu = row->ipi >= 0 || is_per_cpu(at);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]) && row->per_cpu; i++)
		if (ends_with(at, len, known[i].words))
			row->vector = known[i].vector;
}
