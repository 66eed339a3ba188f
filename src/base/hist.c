/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Log-linear buckets over all of uint64_t. With b sub-bucket bits, values below 2^b are their own
 * index; above, a value's octave (its highest bit e) is split into 2^b buckets of 2^(e-b) values
 * each, so that a bucket is never wider than 2^-b of the lowest value in it. Index and value are a
 * shift and an addition apart, which keeps adding cheap enough for every gap that a spinning thread
 * sees. */
#include "base/hist.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FEW_FIRST 4
#define FEW_MOST  32 /* cells; a power of two */

void hist_place(struct hist *h, unsigned bits, uint64_t *memory)
{
	memset(h, 0, sizeof(*h));
	h->bits = bits;
	h->nbuckets = (65 - bits) << bits;
	h->min = UINT64_MAX;
	h->many = memory;
	h->room = memory ? h->nbuckets : 0;
}

int hist_init(struct hist *h, unsigned bits)
{
	memset(h, 0, sizeof(*h));
	if (bits < 1 || bits > 10)
		return -EINVAL;
	hist_place(h, bits, NULL);
	return 0;
}

int hist_reserve(struct hist *h)
{
	h->many = calloc(h->nbuckets, sizeof(*h->many));
	h->room = h->many ? h->nbuckets : 0;
	return h->many ? 0 : -ENOMEM;
}

void hist_free(struct hist *h)
{
	free(h->few);
	free(h->many);
	h->few = NULL;
	h->many = NULL;
	h->nfew = h->room = 0;
}

void hist_reset(struct hist *h)
{
	if (h->many)
		memset(h->many, 0, h->room * sizeof(*h->many));
	h->nfew = 0;
	h->count = h->sum = h->max = 0;
	h->min = UINT64_MAX;
}

uint32_t hist_index(const struct hist *h, uint64_t value)
{
	/* Values below 2^bits are in the octave of 2^bits: no branch for them. */
	unsigned shift = 63 - (unsigned)__builtin_clzll(value | 1ULL << h->bits) - h->bits;

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

/* ---- where the buckets are ---- */

/* Place of the first cell that is not below the index. */
static uint32_t place_of(const struct hist *h, uint32_t index)
{
	uint32_t low = 0, high = h->nfew;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (h->few[middle].index < index)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t hist_at(const struct hist *h, uint32_t index)
{
	uint32_t i;

	if (h->many)
		return index - h->first < h->room ? h->many[index - h->first] : 0;
	i = place_of(h, index);
	return i < h->nfew && h->few[i].index == index ? h->few[i].n : 0;
}

uint32_t hist_next(const struct hist *h, uint32_t index)
{
	uint32_t i;

	if (!h->many) {
		i = place_of(h, index);
		return i < h->nfew ? h->few[i].index : h->nbuckets;
	}
	for (i = index > h->first ? index - h->first : 0; i < h->room; i++)
		if (h->many[i])
			return h->first + i;
	return h->nbuckets;
}

/* Makes room for the octave of this bucket, and for all between it and those that are there. */
static bool widen(struct hist *h, uint32_t index)
{
	uint32_t first = index >> h->bits << h->bits, end = first + (1U << h->bits);
	uint64_t *many;

	if (h->room) {
		first = first < h->first ? first : h->first;
		end = end > h->first + h->room ? end : h->first + h->room;
	}
	many = calloc(end - first, sizeof(*many));
	if (!many)
		return false;
	if (h->room)
		memcpy(many + (h->first - first), h->many, h->room * sizeof(*many));
	free(h->many);
	h->many = many;
	h->first = first;
	h->room = end - first;
	return true;
}

/* Moves from cells to octaves, from the lowest to the highest at once. */
static bool spread(struct hist *h)
{
	if (!h->nfew)
		return true;
	if (!widen(h, h->few[0].index) || !widen(h, h->few[h->nfew - 1].index))
		return false;
	for (uint32_t i = 0; i < h->nfew; i++)
		h->many[h->few[i].index - h->first] = h->few[i].n;
	free(h->few);
	h->few = NULL;
	h->nfew = 0;
	return true;
}

/* Adds to a cell, or makes one; false: there is no room for it. */
static bool add_to_few(struct hist *h, uint32_t index, uint64_t n)
{
	uint32_t i = place_of(h, index);
	bool known = i < h->nfew && h->few[i].index == index;

	if (h->many || n > UINT32_MAX - (known ? h->few[i].n : 0))
		return false;
	if (known) {
		h->few[i].n += n;
		return true;
	}
	if (h->nfew == FEW_MOST)
		return false;
	if (!h->nfew || (h->nfew >= FEW_FIRST && !(h->nfew & (h->nfew - 1)))) {
		struct hist_cell *more =
			realloc(h->few, (h->nfew ? 2 * h->nfew : FEW_FIRST) * sizeof(*more));

		if (!more)
			return false;
		h->few = more;
	}
	memmove(&h->few[i + 1], &h->few[i], (h->nfew - i) * sizeof(*h->few));
	h->few[i] = (struct hist_cell){index, n};
	h->nfew++;
	return true;
}

/* Counts where there is no bucket yet that takes it. */
static void count_new(struct hist *h, uint32_t index, uint64_t n)
{
	if (add_to_few(h, index, n) || !spread(h))
		return;
	if (index - h->first < h->room || widen(h, index))
		h->many[index - h->first] += n;
}

static inline void count(struct hist *h, uint32_t index, uint64_t n)
{
	if (index - h->first < h->room)
		h->many[index - h->first] += n;
	else
		count_new(h, index, n);
}

/* ---- adding ---- */

void hist_add_n(struct hist *h, uint64_t value, uint64_t n)
{
	if (!n)
		return;
	count(h, hist_index(h, value), n);
	h->count += n;
	h->sum += value * n;
	if (value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
}

void hist_fill(struct hist *h, uint32_t index, uint64_t n)
{
	if (n)
		count(h, index, n);
	h->count += n;
}

void hist_add(struct hist *h, uint64_t value)
{
	hist_add_n(h, value, 1);
}

bool hist_fits(const struct hist *h, uint64_t value, uint64_t n)
{
	uint64_t all;

	return !__builtin_add_overflow(h->count, n, &all) &&
	       !__builtin_mul_overflow(value, n, &all) &&
	       !__builtin_add_overflow(h->sum, all, &all);
}

void hist_merge(struct hist *h, const struct hist *from)
{
	assert(h->bits == from->bits);
	for (uint32_t i = hist_next(from, 0); i < h->nbuckets; i = hist_next(from, i + 1))
		count(h, i, hist_at(from, i));
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

bool hist_reaches(const struct hist *h, double p)
{
	return (double)h->count * (1 - p / 100) > 1 - 1e-9;
}

/* The bucket that holds the value of this rank; *before = number of values in the buckets below it.
 */
static uint32_t bucket_of_rank(const struct hist *h, uint64_t rank, uint64_t *before)
{
	uint32_t i = hist_next(h, 0), next;

	for (*before = 0; *before + hist_at(h, i) < rank; i = next) {
		next = hist_next(h, i + 1);
		if (next == h->nbuckets) /* values without a bucket: there was no memory */
			break;
		*before += hist_at(h, i);
	}
	return i < h->nbuckets ? i : 0;
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
	seen = hist_at(h, at);
	down = at;
	up = at + 1;
	while (seen < rank) {
		while (down && !hist_at(h, down - 1))
			down--;
		up = hist_next(h, up);
		if (!down && up == h->nbuckets) /* values without a bucket */
			break;
		if (up == h->nbuckets || (down && median - bucket_middle(h, down - 1) <=
							  bucket_middle(h, up) - median)) {
			down--;
			deviation = median - bucket_middle(h, down);
			seen += hist_at(h, down);
		} else {
			deviation = bucket_middle(h, up) - median;
			seen += hist_at(h, up);
			up++;
		}
	}
	return deviation;
}

double hist_mean(const struct hist *h)
{
	return h->count ? (double)h->sum / (double)h->count : 0;
}
