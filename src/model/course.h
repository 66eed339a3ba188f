/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values over time: the number, sum and largest of each slice of it. All slices have one
 * width; when they are full, neighbours become one and the width doubles, so a day takes the memory
 * of five seconds. While it measures, a sampler counts in ticks; readers have ns. */
#ifndef CULPRIT_COURSE_H
#define CULPRIT_COURSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hist.h"

#define COURSE_BINS     512
#define COURSE_WIDTH_NS 10000000 /* width of a slice in the beginning */

struct course_bin {
	uint64_t count, sum, max; /* in the values' unit */
};

struct course {
	uint64_t start;         /* time of the first value: CLOCK_MONOTONIC, ns or ticks */
	uint64_t width;         /* width of a slice; 0: no course is kept */
	uint32_t n;             /* number of slices */
	uint64_t begin;         /* time of the slice that is being filled */
	uint64_t reach;         /* width of that slice; 0: none is filled yet */
	uint32_t filled;        /* index of that slice */
	struct course_bin *bin; /* owned, but by course_place */
};

/* Uses memory of the caller: COURSE_BINS zeros; do not free it with course_free. */
void course_place(struct course *c, struct course_bin *memory);
/* Empties it; from then on its slices have that width. */
void course_reset(struct course *c, uint64_t width);
void course_free(struct course *c);

/* Goes to the slice of that time. A time before the first value's counts as that. */
void course_seek(struct course *c, uint64_t at);

static inline void course_add(struct course *c, uint64_t at, uint64_t value)
{
	struct course_bin *b;

	if (at - c->begin >= c->reach)
		course_seek(c, at);
	b = &c->bin[c->filled];
	b->count++;
	b->sum += value;
	if (value > b->max)
		b->max = value;
}

/* True when the slices hold the values of that histogram, but for one at most: a sampler that was
 * killed may have entered its last value in one of the two only. */
bool course_fits(const struct course *c, const struct hist *h);

/* Copies a course of ticks into one of ns with memory of its own. start_ns: the time of its first
 * value. False: out of memory, and the copy is empty. */
bool course_copy(struct course *to, const struct course *from, uint64_t start_ns,
		 double ns_per_tick);

#endif
