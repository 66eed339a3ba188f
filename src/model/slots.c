/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/slots.h"

#include <stdbool.h>
#include <string.h>

static uint64_t *row(struct slots_table t, uint64_t i)
{
	return &t.cell[i * t.columns];
}

static bool is_empty(struct slots_table t, uint64_t i)
{
	for (uint32_t k = 0; k < t.columns; k++)
		if (row(t, i)[k])
			return false;
	return true;
}

static void clear(struct slots_table t, uint64_t i, uint64_t n)
{
	memset(row(t, i), 0, n * t.columns * sizeof(*t.cell));
}

void slots_coarsen(struct slots *s, struct slots_table t)
{
	uint64_t first = s->first >> 1;

	for (uint32_t i = 0; i < t.rows; i++) {
		uint64_t to = ((s->first + i) >> 1) - first;

		if (to == i || is_empty(t, i))
			continue;
		for (uint32_t k = 0; k < t.columns; k++)
			row(t, to)[k] += row(t, i)[k];
		clear(t, i, 1);
	}
	s->first = first;
	s->log2++;
}

/* Moves the rows up, so that the first may lie earlier; false: no room. */
static bool begin_earlier(struct slots *s, struct slots_table t, uint64_t first)
{
	uint64_t by = s->first - first;

	if (by >= t.rows)
		return false;
	for (uint64_t i = t.rows - by; i < t.rows; i++)
		if (!is_empty(t, i))
			return false;
	memmove(row(t, by), row(t, 0), (t.rows - by) * t.columns * sizeof(*t.cell));
	clear(t, 0, by);
	s->first = first;
	return true;
}

uint64_t *slots_make(struct slots *s, struct slots_table t, uint64_t at_ns)
{
	if (!s->log2) {
		s->log2 = SLOTS_LOG2_LEAST;
		s->first = at_ns >> SLOTS_LOG2_LEAST;
	}
	for (;; slots_coarsen(s, t)) {
		uint64_t at = at_ns >> s->log2;

		if (at < s->first && !begin_earlier(s, t, at))
			continue;
		if (at - s->first < t.rows)
			return row(t, at - s->first);
	}
}
