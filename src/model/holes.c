/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/holes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void holes_free(struct holes *h)
{
	for (int i = 0; i < LEVELS; i++)
		free(h->level[i].row);
	memset(h, 0, sizeof(*h));
}

void holes_clear(struct holes *h)
{
	for (int i = 0; i < LEVELS; i++)
		h->level[i].count = 0;
	h->count = 0;
}

static bool has_row(struct holes_level *l)
{
	if (!l->row)
		l->row = calloc(HOLES_MAX, sizeof(*l->row));
	return l->row;
}

void holes_add(struct holes *h, unsigned level, uint64_t start_ns, uint64_t end_ns)
{
	struct holes_level *l = &h->level[level];
	struct hole *last;

	if (!has_row(l) || start_ns >= end_ns)
		return;
	last = l->count ? &l->row[l->count - 1] : NULL;
	if (last && (start_ns <= last->end_ns || l->count == HOLES_MAX)) {
		if (end_ns > last->end_ns)
			last->end_ns = end_ns;
		return;
	}
	l->row[l->count++] = (struct hole){start_ns, end_ns};
	h->count++;
}

void holes_add_first(struct holes *h, unsigned level, uint64_t start_ns, uint64_t end_ns)
{
	struct holes_level *l = &h->level[level];

	if (!l->count) {
		holes_add(h, level, start_ns, end_ns);
	} else if (end_ns >= l->row->start_ns || l->count == HOLES_MAX) {
		l->row->start_ns = start_ns < l->row->start_ns ? start_ns : l->row->start_ns;
	} else if (start_ns < end_ns) {
		memmove(l->row + 1, l->row, l->count++ * sizeof(*l->row));
		l->row[0] = (struct hole){start_ns, end_ns};
		h->count++;
	}
}

/* The first hole of a level that ends after `ns`. */
static uint32_t first_behind(const struct holes_level *l, uint64_t ns)
{
	uint32_t low = 0, high = l->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (l->row[middle].end_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Walks the holes of all levels together, always to the next in time. */
uint64_t holes_within(const struct holes *h, unsigned level, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t sum = 0, at = start_ns;
	uint32_t next[LEVELS];

	if (!h->count || start_ns >= end_ns)
		return 0;
	for (unsigned i = level; i < LEVELS; i++)
		next[i] = first_behind(&h->level[i], start_ns);
	for (;;) {
		const struct hole *first = NULL;
		uint64_t from, to;

		for (unsigned i = level; i < LEVELS; i++) {
			const struct holes_level *l = &h->level[i];

			while (next[i] < l->count && l->row[next[i]].end_ns <= at)
				next[i]++;
			if (next[i] < l->count &&
			    (!first || l->row[next[i]].start_ns < first->start_ns))
				first = &l->row[next[i]];
		}
		if (!first || first->start_ns >= end_ns)
			return sum;
		from = first->start_ns > at ? first->start_ns : at;
		to = first->end_ns < end_ns ? first->end_ns : end_ns;
		sum += to - from;
		at = to;
		if (at >= end_ns)
			return sum;
	}
}
