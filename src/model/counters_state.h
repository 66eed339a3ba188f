/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside counters.c and counters_compare.c. */
#ifndef CULPRIT_COUNTERS_STATE_H
#define CULPRIT_COUNTERS_STATE_H

#include "model/counters.h"

#define LABEL_MAX   sizeof(((struct closure_row *)NULL)->counter)
#define IRQS_MAX    16384
#define IRQS_BEYOND "numbers from 16384 on are not counted"
#define SOFTIRQS    16

/* One counter of the kernel's. */
struct counter {
	char label[LABEL_MAX]; /* "24", "LOC" as in /proc/interrupts; "softirq TIMER" */
	int32_t irq;           /* the number; -1: no interrupt with one */
	uint8_t vector;        /* enum vector_id that it is recorded as; 0: none */
};

/* Records of one CPU. */
struct tally {
	uint64_t vector[VECTOR_IDS], softirq[SOFTIRQS], nmi, irq[IRQS_MAX];
};

struct counters {
	const unsigned *cpu;
	uint32_t n;
	int ipi_base; /* the interrupt of row IPI0; -1: not known */
	uint64_t from_ns[READINGS], to_ns[READINGS];
	struct switches *switches[READINGS]; /* one for each CPU, as are: */
	struct tally *sure, *perhaps;
	struct counter *row;
	/* n for each row; as wide as the kernel's own, which may begin again at 0 */
	uint32_t *value[READINGS];
	uint32_t rows, room;
	uint32_t next;      /* the row after the one that was taken last */
	int32_t *of_column; /* for each column of the table: index of its CPU, -1: not measured */
	uint32_t columns, column_room;
	uint32_t *line; /* values of one line */
};

#endif
