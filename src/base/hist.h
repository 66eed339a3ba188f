/* A histogram of nanoseconds with constant relative error: buckets as wide as 2^-bits of their
 * octave (the idea is Gil Tene's HdrHistogram; the layout here is plain powers of two). Covers all
 * of uint64_t, so nothing overflows or is clipped. Memory is one allocation at init; adding never
 * allocates. */
#ifndef CULPRIT_HIST_H
#define CULPRIT_HIST_H

#include <stdint.h>

struct hist {
	unsigned bits;       /* sub-bucket bits: relative error is at most 2^-bits */
	uint64_t count, sum; /* exact; sum wraps only past 584 years */
	uint64_t min, max;   /* exact; min is UINT64_MAX and max 0 while count is 0 */
	uint32_t nbuckets;
	uint64_t *bucket; /* owned */
};

/* bits 1..10. Values below 2^(bits+1) have buckets of their own. Returns 0, -ENOMEM, or -EINVAL for
 * other bits. Free with hist_free. */
int hist_init(struct hist *h, unsigned bits);
void hist_free(struct hist *h);
/* Uses memory of the caller, (65 - bits) << bits zeros; do not free it with hist_free. bits as
 * above. */
void hist_place(struct hist *h, unsigned bits, uint64_t *memory);
void hist_reset(struct hist *h);

void hist_add(struct hist *h, uint64_t value);
void hist_add_n(struct hist *h, uint64_t value, uint64_t n);
/* Adds all of `from` (same bits) to `h`. */
void hist_merge(struct hist *h, const struct hist *from);

/* The smallest value v such that at least p percent of the values are <= v, 0 < p <= 100 (nearest
 * rank): exact to the bucket, returned as the bucket's highest value clamped into [min, max]. 0
 * when empty. p means its decimal: 99.9 of 1000 values is the 999th, though the double is a little
 * over 99.9. */
uint64_t hist_percentile(const struct hist *h, double p);

/* Median absolute deviation from the median, both by nearest rank, to the bucket's width (bucket
 * middles stand for their values). 0 when empty. */
uint64_t hist_mad(const struct hist *h);

double hist_mean(const struct hist *h); /* 0 when empty */

/* Buckets for readers: index of a value, lowest and highest value of a bucket (index < nbuckets).
 */
uint32_t hist_index(const struct hist *h, uint64_t value);
uint64_t hist_lowest(const struct hist *h, uint32_t index);
uint64_t hist_highest(const struct hist *h, uint32_t index);

#endif
