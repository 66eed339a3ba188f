/* Log-linear buckets over all of uint64_t. With b sub-bucket bits, values below 2^b are their own
 * index; above, a value's octave (its highest bit e) is split into 2^b buckets of 2^(e-b) values
 * each, so that a bucket is never wider than 2^-b of the lowest value in it. Index and value are a
 * shift and an addition apart, which keeps adding cheap enough for every gap that a spinning thread
 * sees. */
#include "base/hist.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void hist_place(struct hist *h, unsigned bits, uint64_t *memory)
{
	memset(h, 0, sizeof(*h));
	h->bits = bits;
	h->nbuckets = (65 - bits) << bits;
	h->min = UINT64_MAX;
	h->bucket = memory;
}

int hist_init(struct hist *h, unsigned bits)
{
	memset(h, 0, sizeof(*h));
	if (bits < 1 || bits > 10)
		return -EINVAL;
	hist_place(h, bits, calloc((65 - bits) << bits, sizeof(*h->bucket)));
	return h->bucket ? 0 : -ENOMEM;
}

void hist_free(struct hist *h)
{
	free(h->bucket);
	h->bucket = NULL;
}

void hist_reset(struct hist *h)
{
	memset(h->bucket, 0, h->nbuckets * sizeof(*h->bucket));
	h->count = h->sum = h->max = 0;
	h->min = UINT64_MAX;
}

uint32_t hist_index(const struct hist *h, uint64_t value)
{
	unsigned shift;

	if (value >> h->bits == 0)
		return (uint32_t)value;
	shift = 63 - (unsigned)__builtin_clzll(value) - h->bits;
	/* value >> shift has its highest bit at 2^bits: that bit adds 1 to the shift. */
	return (shift << h->bits) + (uint32_t)(value >> shift);
}

uint64_t hist_lowest(const struct hist *h, uint32_t index)
{
	uint32_t octave = index >> h->bits;
	uint64_t sub = index & ((1u << h->bits) - 1);

	return octave ? (sub | UINT64_C(1) << h->bits) << (octave - 1) : sub;
}

uint64_t hist_highest(const struct hist *h, uint32_t index)
{
	uint32_t octave = index >> h->bits;

	return hist_lowest(h, index) + (octave ? (UINT64_C(1) << (octave - 1)) - 1 : 0);
}

void hist_add_n(struct hist *h, uint64_t value, uint64_t n)
{
	if (!n)
		return;
	h->bucket[hist_index(h, value)] += n;
	h->count += n;
	h->sum += value * n;
	if (value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
}

void hist_add(struct hist *h, uint64_t value)
{
	hist_add_n(h, value, 1);
}

void hist_merge(struct hist *h, const struct hist *from)
{
	assert(h->bits == from->bits);
	for (uint32_t i = 0; i < h->nbuckets; i++)
		h->bucket[i] += from->bucket[i];
	h->count += from->count;
	h->sum += from->sum;
	if (from->min < h->min)
		h->min = from->min;
	if (from->max > h->max)
		h->max = from->max;
}

/* The nearest rank of p percent, from 1. A decimal like 99.9 is no exact double: a product a hair
 * over a whole number must not count as the next rank. */
static uint64_t rank_of(const struct hist *h, double p)
{
	double exact = p * (double)h->count / 100;
	uint64_t rank;

	if (!(exact > 1))
		return 1;
	if (exact >= (double)h->count)
		return h->count;
	rank = (uint64_t)exact;
	if (exact - (double)rank > exact * 1e-15)
		rank++;
	return rank;
}

/* The bucket that holds the value of this rank; *before = number of values in the buckets below it.
 */
static uint32_t bucket_of_rank(const struct hist *h, uint64_t rank, uint64_t *before)
{
	uint32_t i = 0;

	for (*before = 0; *before + h->bucket[i] < rank; i++)
		*before += h->bucket[i];
	return i;
}

uint64_t hist_percentile(const struct hist *h, double p)
{
	uint64_t before, value;

	if (!h->count)
		return 0;
	value = hist_highest(h, bucket_of_rank(h, rank_of(h, p), &before));
	return value < h->max ? value : h->max;
}

/* The value that stands for all values of a bucket. */
static uint64_t bucket_middle(const struct hist *h, uint32_t index)
{
	uint64_t low = hist_lowest(h, index), middle = low + (hist_highest(h, index) - low) / 2;

	if (middle < h->min)
		return h->min;
	return middle < h->max ? middle : h->max;
}

/* Deviations grow to both sides of the median's bucket, so a walk outwards, the nearer side first,
 * meets them in order: no second histogram is needed. */
uint64_t hist_mad(const struct hist *h)
{
	uint64_t rank = h->count / 2 + h->count % 2, deviation = 0, seen, before, median;
	uint32_t at, down, up; /* down and up: the next bucket on each side, for down plus one */

	if (!h->count)
		return 0;
	at = bucket_of_rank(h, rank, &before);
	median = bucket_middle(h, at);
	seen = h->bucket[at];
	down = at;
	up = at + 1;
	while (seen < rank) {
		while (down && !h->bucket[down - 1])
			down--;
		while (up < h->nbuckets && !h->bucket[up])
			up++;
		if (up == h->nbuckets || (down && median - bucket_middle(h, down - 1) <=
							  bucket_middle(h, up) - median)) {
			down--;
			deviation = median - bucket_middle(h, down);
			seen += h->bucket[down];
		} else {
			deviation = bucket_middle(h, up) - median;
			seen += h->bucket[up];
			up++;
		}
	}
	return deviation;
}

double hist_mean(const struct hist *h)
{
	return h->count ? (double)h->sum / (double)h->count : 0;
}
