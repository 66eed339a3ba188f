/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time in slots of equal length, which double whenever there would be too many: memory is constant
 * for any duration. Slots are aligned to zero of the clock, so those of two CPUs or two windows
 * coincide. A slot is a row of counters that can be added. */
#ifndef CULPRIT_SLOTS_H
#define CULPRIT_SLOTS_H

#include <stdint.h>

#define SLOTS_LOG2_LEAST 20 /* 1 ms */

struct slots {          /* all zeros: nothing came */
	unsigned log2;  /* a slot is 2^log2 ns long; 0: nothing came */
	uint64_t first; /* the first slot begins at first << log2 */
};

/* The counters; the caller owns them, zeros at first: `rows` slots of `columns` counters each. */
struct slots_table {
	uint64_t *cell;
	uint32_t rows, columns;
};

/* Makes a slot for a time that has none, and returns its row. */
uint64_t *slots_make(struct slots *s, struct slots_table t, uint64_t at_ns);

/* The row of a time in ns; times may come in any order. Rows found before may have moved. */
static inline uint64_t *slots_at(struct slots *s, struct slots_table t, uint64_t at_ns)
{
	uint64_t at = (at_ns >> s->log2) - s->first;

	return s->log2 && at < t.rows ? &t.cell[at * t.columns] : slots_make(s, t, at_ns);
}

/* Makes slots twice as long. */
void slots_coarsen(struct slots *s, struct slots_table t);

#endif
