/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A histogram of nanoseconds with constant relative error: buckets as wide as 2^-bits of their
 * octave (the idea is Gil Tene's HdrHistogram; the layout here is plain powers of two). Covers all
 * of uint64_t, so nothing overflows or is clipped. Memory grows with what is added: a few cells
 * first, then the octaves between the least and the largest value, so that one value takes tens of
 * bytes and not the 15 kB of all buckets. */
#ifndef CULPRIT_HIST_H
#define CULPRIT_HIST_H

#include <stdbool.h>
#include <stdint.h>

struct hist_cell { /* a bucket that is not empty */
	uint32_t index, n;
};

struct hist {
	unsigned bits;       /* sub-bucket bits: relative error is at most 2^-bits; 0: not made */
	uint64_t count, sum; /* exact; sum wraps only past 584 years */
	uint64_t min, max;   /* exact; min is UINT64_MAX and max 0 while count is 0 */
	uint32_t nbuckets;
	/* Inside: few different buckets, by rising index, or many: those from first on, `room`. */
	uint32_t nfew, first, room;
	struct hist_cell *few; /* owned */
	uint64_t *many;        /* owned, but by hist_place */
};

/* bits 1..10. Values below 2^(bits+1) have buckets of their own. Returns 0, or -EINVAL for other
 * bits. Free with hist_free. */
int hist_init(struct hist *h, unsigned bits);
void hist_free(struct hist *h);
/* Allocates all buckets of an empty histogram now, so that adding never does. 0 or -ENOMEM. */
int hist_reserve(struct hist *h);
/* Uses memory of the caller, (65 - bits) << bits zeros; do not free it with hist_free. bits as
 * above. */
void hist_place(struct hist *h, unsigned bits, uint64_t *memory);
void hist_reset(struct hist *h);

/* Out of memory a value counts, but has no bucket. */
void hist_add(struct hist *h, uint64_t value);
void hist_add_n(struct hist *h, uint64_t value, uint64_t n);
/* False when the count or the sum would wrap: for numbers that somebody else counted. */
bool hist_fits(const struct hist *h, uint64_t value, uint64_t n);
/* Adds all of `from` (same bits) to `h`. */
void hist_merge(struct hist *h, const struct hist *from);

/* The smallest value v such that at least p percent of the values are <= v, 0 < p <= 100 (nearest
 * rank): exact to the bucket, returned as the bucket's highest value clamped into [min, max]. 0
 * when empty. p means its decimal: 99.9 of 1000 values is the 999th, though the double is a little
 * over 99.9. */
uint64_t hist_percentile(const struct hist *h, double p);

/* True when a value or more lies beyond this percentile: else it would just repeat the largest. */
bool hist_reaches(const struct hist *h, double p);

/* Median absolute deviation from the median, both by nearest rank, to the bucket's width (bucket
 * middles stand for their values). 0 when empty. */
uint64_t hist_mad(const struct hist *h);

double hist_mean(const struct hist *h); /* 0 when empty */

/* Buckets for readers: index of a value, lowest and highest value of a bucket (index < nbuckets).
 */
uint32_t hist_index(const struct hist *h, uint64_t value);
uint64_t hist_lowest(const struct hist *h, uint32_t index);
uint64_t hist_highest(const struct hist *h, uint32_t index);

/* Number of values in a bucket. */
uint64_t hist_at(const struct hist *h, uint32_t index);
/* The first bucket from index on that is not empty; nbuckets: none. */
uint32_t hist_next(const struct hist *h, uint32_t index);
/* Adds n to a bucket and to the count, and leaves sum, min and max to the caller: for one that was
 * written down. */
void hist_fill(struct hist *h, uint32_t index, uint64_t n);

#endif
