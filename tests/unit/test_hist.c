/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The histogram against sorted arrays of the same values: nearest ranks computed in integers, the
 * relative error of every answer, and the median absolute deviation within the bounds that the
 * buckets' widths leave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hist.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define VALUES_MAX   20000

static const unsigned some_bits[] = {1, 3, 7, 10};
static const size_t some_counts[] = {1, 2, 3, 10, 99, 100, 1000, VALUES_MAX};

static uint64_t random64(void)
{
	return (uint64_t)random() << 62 ^ (uint64_t)random() << 31 ^ (uint64_t)random();
}

static uint64_t uniform(void)
{
	return random64() % 1000000;
}

/* Every octave alike: most values small, a few enormous, as jitter is. */
static uint64_t heavy_tail(void)
{
	return random64() >> random64() % 64;
}

/* A sum of halvings is near enough to an exponential distribution. */
static uint64_t exponential(void)
{
	uint64_t value = random64() % 2000;

	while (random64() % 2)
		value += 2000;
	return value;
}

static uint64_t constant(void)
{
	return 38217;
}

static uint64_t huge(void)
{
	return UINT64_MAX - (random64() % 4 ? random64() >> 24 : 0);
}

static uint64_t zero(void)
{
	return 0;
}

static uint64_t two_values(void)
{
	return random64() % 2 ? 1 : UINT64_MAX;
}

static uint64_t (*const shapes[])(void) = {uniform, heavy_tail, exponential, constant,
					   huge,    zero,       two_values};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Fills values[count] with a shape, sorted, and the histogram with the same. */
static void fill(struct hist *h, unsigned bits, uint64_t (*shape)(void), uint64_t *values,
		 size_t count)
{
	assert_int_equal(hist_init(h, bits), 0);
	for (size_t i = 0; i < count; i++) {
		values[i] = shape();
		hist_add(h, values[i]);
	}
	qsort(values, count, sizeof(*values), compare);
}

static void check_percentiles(const struct hist *h, const uint64_t *sorted, size_t count)
{
	static const unsigned thousandths[] = {1,     10,    100,   1000,  5000,  25000,
					       29000, 50000, 57000, 75000, 90000, 95000,
					       99000, 99500, 99900, 99990, 99999, 100000};

	for (size_t i = 0; i < COUNT(thousandths); i++) {
		size_t rank = (count * thousandths[i] + 99999) / 100000;
		uint64_t want = sorted[rank - 1], got = hist_percentile(h, thousandths[i] / 1000.0);
		uint64_t highest = hist_highest(h, hist_index(h, want));

		if (got != (highest < sorted[count - 1] ? highest : sorted[count - 1]))
			fail_msg("p%g of %zu values is %llu, rank %zu is %llu",
				 thousandths[i] / 1000.0, count, (unsigned long long)got, rank,
				 (unsigned long long)want);
		assert_true(got >= want);
		assert_true(got - want <= want >> h->bits);
	}
}

static void test_percentiles_are_nearest_ranks(void **state)
{
	static uint64_t values[VALUES_MAX];
	struct hist h;

	(void)state;
	srandom(4);
	for (size_t s = 0; s < COUNT(shapes); s++)
		for (size_t b = 0; b < COUNT(some_bits); b++)
			for (size_t c = 0; c < COUNT(some_counts); c++) {
				fill(&h, some_bits[b], shapes[s], values, some_counts[c]);
				assert_int_equal(h.count, some_counts[c]);
				assert_int_equal(h.min, values[0]);
				assert_int_equal(h.max, values[some_counts[c] - 1]);
				check_percentiles(&h, values, some_counts[c]);
				hist_free(&h);
			}
}

/* Values of their own buckets: the answer is the rank itself, so that one rank off would show. */
static void test_decimal_percentages_hit_their_rank(void **state)
{
	struct hist h;

	(void)state;
	assert_int_equal(hist_init(&h, 10), 0);
	for (uint64_t i = 1; i <= 1000; i++)
		hist_add(&h, i);
	for (unsigned tenths = 1; tenths <= 1000; tenths++)
		assert_int_equal(hist_percentile(&h, tenths / 10.0), tenths);
	assert_int_equal(hist_percentile(&h, 99.91), 1000);
	assert_int_equal(hist_percentile(&h, 0.01), 1);
	assert_int_equal(hist_percentile(&h, 1e-300), 1);
	hist_free(&h);
}

static void test_percentiles_of_enormous_counts(void **state)
{
	struct hist h;

	(void)state;
	assert_int_equal(hist_init(&h, 7), 0);
	hist_add_n(&h, 10, UINT64_MAX / 2);
	hist_add_n(&h, 20, UINT64_MAX / 2 + 1);
	assert_int_equal(h.count, UINT64_MAX);
	assert_int_equal(hist_percentile(&h, 49.9), 10);
	assert_int_equal(hist_percentile(&h, 50.1), 20);
	assert_int_equal(hist_percentile(&h, 100), 20);
	assert_int_equal(hist_mad(&h), 0);
	hist_free(&h);
}

/* The buckets tile all of uint64_t in order, and none is wider than its share of its octave. */
static void test_buckets_tile_the_range(void **state)
{
	(void)state;
	for (unsigned bits = 1; bits <= 10; bits++) {
		uint64_t next = 0;
		struct hist h;

		assert_int_equal(hist_init(&h, bits), 0);
		for (uint32_t i = 0; i < h.nbuckets; i++) {
			uint64_t low = hist_lowest(&h, i), high = hist_highest(&h, i);

			assert_int_equal(low, next);
			assert_true(high >= low);
			assert_true(high - low <= low >> bits);
			assert_int_equal(hist_index(&h, low), i);
			assert_int_equal(hist_index(&h, high), i);
			assert_int_equal(hist_index(&h, low + (high - low) / 2), i);
			if (low < 2u << bits)
				assert_int_equal(low, high);
			next = high + 1;
		}
		assert_int_equal(next, 0);
		hist_free(&h);
	}
}

static uint64_t add_capped(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* Each value may stand anywhere in its bucket, the median too: every deviation is known up to those
 * two widths, so the sorted lower ends and the sorted upper ends enclose the right answer at the
 * median's rank. */
static void check_mad(const struct hist *h, const uint64_t *sorted, size_t count)
{
	static uint64_t low[VALUES_MAX], high[VALUES_MAX];
	size_t at = (count - 1) / 2;
	uint64_t median = sorted[at], got = hist_mad(h);

	for (size_t i = 0; i < count; i++) {
		uint64_t deviation = sorted[i] > median ? sorted[i] - median : median - sorted[i];
		uint32_t bucket = hist_index(h, sorted[i]), middle = hist_index(h, median);
		uint64_t slack = hist_highest(h, bucket) - hist_lowest(h, bucket);

		slack += hist_highest(h, middle) - hist_lowest(h, middle);
		low[i] = deviation > slack ? deviation - slack : 0;
		high[i] = add_capped(deviation, slack);
	}
	qsort(low, count, sizeof(*low), compare);
	qsort(high, count, sizeof(*high), compare);
	if (got < low[at] || got > high[at])
		fail_msg("mad of %zu values is %llu, not in %llu..%llu", count,
			 (unsigned long long)got, (unsigned long long)low[at],
			 (unsigned long long)high[at]);
}

static void test_mad_against_brute_force(void **state)
{
	static uint64_t values[VALUES_MAX];
	struct hist h;

	(void)state;
	srandom(5);
	for (size_t s = 0; s < COUNT(shapes); s++)
		for (size_t b = 0; b < COUNT(some_bits); b++)
			for (size_t c = 0; c < COUNT(some_counts); c++) {
				fill(&h, some_bits[b], shapes[s], values, some_counts[c]);
				check_mad(&h, values, some_counts[c]);
				hist_free(&h);
			}
}

static uint64_t small(void)
{
	return random64() % (random64() % 2 ? 2000 : 300);
}

/* With a bucket for each value nothing is left to tolerance. */
static void test_mad_is_exact_for_small_values(void **state)
{
	static uint64_t values[VALUES_MAX];

	(void)state;
	srandom(6);
	for (size_t count = 1; count < 300; count++) {
		struct hist h;
		uint64_t median;

		fill(&h, 10, small, values, count);
		median = values[(count - 1) / 2];
		for (size_t i = 0; i < count; i++)
			values[i] = values[i] > median ? values[i] - median : median - values[i];
		qsort(values, count, sizeof(*values), compare);
		assert_int_equal(hist_mad(&h), values[(count - 1) / 2]);
		hist_free(&h);
	}
}

static void test_merge_is_adding_all(void **state)
{
	struct hist a, b, all;

	(void)state;
	srandom(7);
	assert_int_equal(hist_init(&a, 7), 0);
	assert_int_equal(hist_init(&b, 7), 0);
	assert_int_equal(hist_init(&all, 7), 0);
	for (int i = 0; i < 5000; i++) {
		uint64_t value = heavy_tail();

		hist_add(i % 3 ? &a : &b, value);
		hist_add(&all, value);
	}
	hist_merge(&a, &b);
	assert_int_equal(a.count, all.count);
	assert_int_equal(a.sum, all.sum);
	assert_int_equal(a.min, all.min);
	assert_int_equal(a.max, all.max);
	for (uint32_t i = 0; i < all.nbuckets; i++)
		assert_int_equal(hist_at(&a, i), hist_at(&all, i));

	hist_reset(&b);
	hist_merge(&a, &b); /* an empty one changes nothing, its min of UINT64_MAX included */
	assert_int_equal(a.count, all.count);
	assert_int_equal(a.min, all.min);
	assert_int_equal(a.max, all.max);
	hist_merge(&b, &a);
	assert_int_equal(b.min, all.min);
	assert_int_equal(b.max, all.max);
	hist_free(&a);
	hist_free(&b);
	hist_free(&all);
}

/* A histogram says the same whether it has a few cells, some octaves, or all buckets: for 1 to 2000
 * values of all magnitudes, some of them many times. */
static void test_memory_grows_with_what_comes(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		struct hist grown, whole;
		uint32_t i, k;

		assert_int_equal(hist_init(&grown, 5), 0);
		assert_int_equal(hist_init(&whole, 5), 0);
		assert_int_equal(hist_reserve(&whole), 0);
		for (unsigned n = 0; n < 1 + round * 10; n++) {
			uint64_t value = heavy_tail() >> round % 40 << round / 5;

			hist_add_n(&grown, value, 1 + round * round * round * n);
			hist_add_n(&whole, value, 1 + round * round * round * n);
		}
		assert_int_equal(grown.count, whole.count);
		assert_int_equal(grown.sum, whole.sum);
		for (i = 0; i < whole.nbuckets; i++)
			assert_int_equal(hist_at(&grown, i), hist_at(&whole, i));
		for (i = k = 0; i < whole.nbuckets; i++) {
			i = hist_next(&grown, i);
			k = hist_next(&whole, k);
			assert_int_equal(i, k++);
		}
		for (double p = 0.1; p <= 100; p += 0.7)
			assert_int_equal(hist_percentile(&grown, p), hist_percentile(&whole, p));
		assert_int_equal(hist_mad(&grown), hist_mad(&whole));
		hist_free(&grown);
		hist_free(&whole);
	}
}

static void test_one_value_takes_little(void **state)
{
	struct hist h;

	(void)state;
	assert_int_equal(hist_init(&h, 5), 0);
	assert_null(h.few);
	hist_add(&h, 1000);
	hist_add_n(&h, 1000000, UINT32_MAX);
	assert_int_equal(h.nfew, 2);
	assert_null(h.many);
	hist_add(&h, 1000000); /* more than a cell counts */
	assert_int_equal(hist_at(&h, hist_index(&h, 1000000)), UINT64_C(1) << 32);
	assert_true(h.room <= 12 << 5);
	hist_free(&h);
}

static void check_empty(const struct hist *h)
{
	assert_int_equal(h->count, 0);
	assert_int_equal(h->sum, 0);
	assert_int_equal(h->min, UINT64_MAX);
	assert_int_equal(h->max, 0);
	assert_int_equal(hist_percentile(h, 50), 0);
	assert_int_equal(hist_percentile(h, 100), 0);
	assert_int_equal(hist_mad(h), 0);
	assert_true(hist_mean(h) == 0);
	for (uint32_t i = 0; i < h->nbuckets; i++)
		assert_int_equal(hist_at(h, i), 0);
}

static void test_empty_and_reset(void **state)
{
	struct hist h;

	(void)state;
	assert_int_equal(hist_init(&h, 5), 0);
	check_empty(&h);
	hist_add_n(&h, 12345, 0);
	check_empty(&h);
	hist_add_n(&h, 1000, 3);
	hist_add(&h, UINT64_MAX);
	assert_int_equal(h.count, 4);
	assert_int_equal(hist_at(&h, hist_index(&h, 1000)), 3);
	assert_int_equal(hist_at(&h, h.nbuckets - 1), 1);
	hist_reset(&h);
	check_empty(&h);
	hist_free(&h);
}

static void test_sum_and_mean(void **state)
{
	struct hist h;

	(void)state;
	assert_int_equal(hist_init(&h, 1), 0);
	hist_add(&h, 1001);
	hist_add_n(&h, 17, 3);
	assert_int_equal(h.sum, 1052);
	assert_true(hist_mean(&h) == 263);
	hist_free(&h);
}

static void test_init_refuses_other_bits(void **state)
{
	struct hist h;

	(void)state;
	assert_int_equal(hist_init(&h, 0), -EINVAL);
	assert_int_equal(hist_init(&h, 11), -EINVAL);
	hist_free(&h); /* harmless after a failed init, and twice */
	assert_int_equal(hist_init(&h, 1), 0);
	hist_free(&h);
	hist_free(&h);
	assert_null(h.many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_percentiles_are_nearest_ranks),
		cmocka_unit_test(test_decimal_percentages_hit_their_rank),
		cmocka_unit_test(test_percentiles_of_enormous_counts),
		cmocka_unit_test(test_buckets_tile_the_range),
		cmocka_unit_test(test_mad_against_brute_force),
		cmocka_unit_test(test_mad_is_exact_for_small_values),
		cmocka_unit_test(test_merge_is_adding_all),
		cmocka_unit_test(test_memory_grows_with_what_comes),
		cmocka_unit_test(test_one_value_takes_little),
		cmocka_unit_test(test_empty_and_reset),
		cmocka_unit_test(test_sum_and_mean),
		cmocka_unit_test(test_init_refuses_other_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
