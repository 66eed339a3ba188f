/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/spans.h"

#include <stdlib.h>

#define DEPTHS 64

static uint64_t length(const struct span *s)
{
	return s->end_ns - s->start_ns;
}

/* Sorts the longest first; an outer span is at least as long as an inner one. */
static int by_length(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (length(x) != length(y))
		return length(x) < length(y) ? 1 : -1;
	return x->ended < y->ended ? 1 : -1;
}

static int by_time(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? 1 : -1;
	return x->ended < y->ended ? 1 : -1;
}

static void trim(struct spans *s)
{
	if (s->count <= SPANS_MAX)
		return;
	qsort(s->row, s->count, sizeof(s->row[0]), by_length);
	s->left += s->count - SPANS_MAX;
	s->count = SPANS_MAX;
}

void spans_add(struct spans *s, const struct span *span)
{
	if (span->start_ns >= span->end_ns)
		return;
	if (s->count == sizeof(s->row) / sizeof(s->row[0]))
		trim(s);
	s->row[s->count] = *span;
	s->row[s->count++].ended = s->ended++;
}

void spans_finish(struct spans *s)
{
	uint64_t end[DEPTHS]; /* ends of the spans around the one in hand */
	unsigned depth = 0;

	trim(s);
	qsort(s->row, s->count, sizeof(s->row[0]), by_time);
	for (uint32_t i = 0; i < s->count; i++) {
		while (depth && end[depth - 1] <= s->row[i].start_ns)
			depth--;
		s->row[i].depth = depth;
		if (depth < DEPTHS)
			end[depth++] = s->row[i].end_ns;
	}
}

void spans_clear(struct spans *s)
{
	s->count = s->left = s->ended = 0;
}
