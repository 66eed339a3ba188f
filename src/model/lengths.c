/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/lengths.h"

#include <stdlib.h>
#include <string.h>

#include "base/hist.h"

static const struct hist shape = {.bits = LENGTHS_BITS};

/* Place of the first row that is not below the index. */
static uint32_t place_of(const struct lengths *l, uint32_t index)
{
	uint32_t low = 0, high = l->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (l->row[middle].index < index)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The row of an index, made where there is none; NULL: out of memory. */
static struct length_row *row_of(struct lengths *l, uint32_t index)
{
	uint32_t at = place_of(l, index);

	if (at < l->n && l->row[at].index == index)
		return &l->row[at];
	if (l->n == l->room) {
		uint32_t room = l->room ? 2 * l->room : 8;
		struct length_row *row = realloc(l->row, room * sizeof(*row));

		if (!row)
			return NULL;
		l->row = row;
		l->room = room;
	}
	memmove(&l->row[at + 1], &l->row[at], (l->n++ - at) * sizeof(*l->row));
	l->row[at] = (struct length_row){.index = index};
	return &l->row[at];
}

void lengths_add(struct lengths *l, uint64_t duration_ns, const uint64_t lost_ns[TIMELINE_KINDS])
{
	struct length_row *r = row_of(l, hist_index(&shape, duration_ns));

	if (!r)
		return;
	l->count++;
	r->count++;
	for (unsigned k = 0; k < TIMELINE_KINDS; k++)
		r->lost_ns[k] += lost_ns[k];
}

void lengths_free(struct lengths *l)
{
	free(l->row);
	*l = (struct lengths){0};
}

uint64_t lengths_from(const struct length_row *r)
{
	return hist_lowest(&shape, r->index);
}

double lengths_to(const struct length_row *r)
{
	return (double)hist_highest(&shape, r->index) + 1;
}
