/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads rows of /proc/interrupts for what an interrupt is where the architecture has no vectors
 * (arm64, riscv): the CPU's own timer and the IPIs are interrupts with a number there. */
#ifndef CULPRIT_IRQ_ROW_H
#define CULPRIT_IRQ_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct irq_row {
	int irq;        /* number of the interrupt; -1: the row has none */
	int ipi;        /* n of a row "IPIn", whose number the row does not tell; -1: no IPI */
	uint8_t vector; /* enum vector_id that it is to culprit; 0: none */
	bool per_cpu;   /* every CPU has its own of it: it cannot be moved */
};

/* Reads a row: label, a count for each CPU, and what it is. */
void irq_row_read(const char *line, struct irq_row *row);

/* The same of its label and what stands behind the counts, up to a line break or `len`. */
void irq_row_take(const char *label, const char *what, size_t len, struct irq_row *row);

#endif
