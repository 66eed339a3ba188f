/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/irq_vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/line_of_file.h"
#include "model/irq_row.h"
#include "model/source.h"

#if defined(__x86_64__)
#define ARE_NUMBERED                                                                               \
	false /* arch/x86/include/asm/trace/irq_vectors.h has a tracepoint for each                \
	       */
#else
#define ARE_NUMBERED true
#endif

/* True when the interrupt's one action has this name. */
static bool has_action(int irq, const char *name)
{
	char path[64], line[64];

	snprintf(path, sizeof(path), "/sys/kernel/irq/%d/actions", irq);
	return line_of_file(path, line, sizeof(line)) && !strcmp(line, name);
}

/* The IPIs follow each other, and all have the action IPI (arch/arm64/kernel/smp.c:
 * set_smp_ipi_range_percpu). Where each CPU has interrupts of its own for them, one CPU's follow
 * those of another. */
static void place_ipis(struct irq_vectors *v, const uint8_t *vector_of_ipi)
{
	int irq = 0;

	while (irq < VECTOR_IRQS && !has_action(irq, "IPI"))
		irq++;
	if (irq == VECTOR_IRQS || !v->ipis)
		return;
	v->ipi_base = irq;
	for (; irq < VECTOR_IRQS && (irq < v->ipi_base + v->ipis || has_action(irq, "IPI"));
	     irq++) {
		v->vector[irq] = vector_of_ipi[(irq - v->ipi_base) % v->ipis];
		v->per_cpu[irq] = true;
	}
}

/* The kernel's words stand behind the counts. */
static void name_ipi(char *name, const char *line, int ipi)
{
	const char *at = strchr(line, ':') + 1;

	at += strspn(at, " 0123456789");
	snprintf(name, sizeof(((struct irq_vectors *)NULL)->ipi_name[0]), "IPI%d %.*s", ipi,
		 (int)strcspn(at, "\n"), at);
}

const char *irq_vectors_ipi(uint32_t irq)
{
	const struct irq_vectors *v = irq_vectors();

	if (v->ipi_base < 0 || irq < (uint32_t)v->ipi_base || irq >= VECTOR_IRQS ||
	    !v->per_cpu[irq] || !has_action(irq, "IPI"))
		return NULL;
	return v->ipi_name[(irq - v->ipi_base) % v->ipis];
}

static void read_vectors(struct irq_vectors *v)
{
	FILE *f = fopen("/proc/interrupts", "re");
	uint8_t vector_of_ipi[IPIS_MAX] = {0};
	char *line = NULL;
	struct irq_row row;
	size_t room = 0;

	while (f && getline(&line, &room, f) > 0) {
		irq_row_read(line, &row);
		if (row.irq >= 0 && row.irq < VECTOR_IRQS) {
			v->vector[row.irq] = row.vector;
			v->per_cpu[row.irq] = row.per_cpu;
			v->any |= row.vector;
		}
		if (row.ipi >= 0 && row.ipi < IPIS_MAX) {
			name_ipi(v->ipi_name[row.ipi], line, row.ipi);
			vector_of_ipi[row.ipi] = row.vector;
			v->ipis = row.ipi + 1 > v->ipis ? row.ipi + 1 : v->ipis;
			v->any = true;
		}
	}
	free(line);
	if (f)
		fclose(f);
	if (v->ipis)
		place_ipis(v, vector_of_ipi);
}

const struct irq_vectors *irq_vectors(void)
{
	static struct irq_vectors vectors = {.ipi_base = -1};
	static bool is_read = !ARE_NUMBERED;

	if (!is_read)
		read_vectors(&vectors);
	is_read = true;
	return &vectors;
}

bool irq_vectors_replace(const char *hook)
{
	for (uint32_t id = 1; ARE_NUMBERED && id < VECTOR_IDS; id++) {
		size_t len = strlen(vector_name(id));

		if (!strncmp(hook, vector_name(id), len) &&
		    (!strcmp(hook + len, "_entry") || !strcmp(hook + len, "_exit")))
			return true;
	}
#if defined(__aarch64__)
	if (!strcmp(hook, "tlb_flush")) /* an instruction reaches all CPUs: none is interrupted */
		return true;
#endif
	return ARE_NUMBERED && (!strcmp(hook, "nmi_handler") || !strcmp(hook, "unknown_nmi_error"));
}
