/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slices: nothing is lost however they grow, in whichever order times come, and their scatter tells
 * bursts from what comes evenly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "../world/chance.h"
#include "model/slices.h"

#define MS    1000000ULL
#define S     1000000000ULL
#define BEGIN (1234567 * S + 89)

static void check_holds(const struct slices *s, uint64_t count, uint64_t sum)
{
	for (unsigned i = 0; i < SLICES; i++) {
		count -= slices_at(s, i).count;
		sum -= slices_at(s, i).sum;
	}
	assert_int_equal(count, 0);
	assert_int_equal(sum, 0);
}

static void check_same(const struct slices *s, const struct slices *want)
{
	assert_int_equal(s->slots.log2, want->slots.log2);
	assert_int_equal(s->slots.first, want->slots.first);
	for (unsigned i = 0; i < SLICES; i++) {
		assert_int_equal(slices_at(s, i).count, slices_at(want, i).count);
		assert_int_equal(slices_at(s, i).sum, slices_at(want, i).sum);
	}
	assert_int_equal(s->largest, want->largest);
	assert_true(s->squares == want->squares);
}

static void test_none(void **state)
{
	struct slices s = {0}, other = {0};

	(void)state;
	slices_merge(&s, &other);
	assert_int_equal(s.slots.log2, 0);
	assert_true(slices_scatter(&s, BEGIN, 10 * S).sum == 0);
}

/* The slice that a time fell into still says so after they grew. */
static void test_any_order(void **state)
{
	static const uint64_t at[] = {5000, 5001, 4999,  4985,  5030, 1000,
				      9000, 3,    40000, 39999, 5000};
	struct slices s = {0};

	(void)state;
	for (unsigned n = 0; n < sizeof(at) / sizeof(at[0]); n++) {
		struct slice want[SLICES] = {0};
		uint64_t sum = 0;

		slices_add(&s, at[n] * MS, n + 1);
		for (unsigned k = 0; k <= n; k++) {
			uint64_t cell = (at[k] * MS >> s.slots.log2) - s.slots.first;

			assert_true(cell < SLICES);
			want[cell].count++;
			want[cell].sum += k + 1;
			sum += k + 1;
		}
		for (unsigned i = 0; i < SLICES; i++) {
			assert_int_equal(slices_at(&s, i).count, want[i].count);
			assert_int_equal(slices_at(&s, i).sum, want[i].sum);
		}
		check_holds(&s, n + 1, sum);
	}
	assert_int_equal(s.largest, 11);
	assert_true(s.squares == 506);
	slices_free(&s);
}

/* Merged is as if all had been added to one. */
static void test_merge(void **state)
{
	struct slices a = {0}, b = {0}, both = {0}, ab = {0}, ba = {0};

	(void)state;
	seed = 7;
	for (unsigned i = 0; i < 500; i++) {
		uint64_t at = BEGIN + (uint64_t)(uniform() * 20 * S),
			 value = 1 + (uint64_t)(uniform() * 1000);

		if (i % 3)
			slices_add(&a, at, value);
		else if (at < BEGIN + S) /* shorter slices than a's */
			slices_add(&b, at, value);
		else
			continue;
		slices_add(&both, at, value);
	}
	slices_merge(&ab, &a);
	check_same(&ab, &a);
	slices_merge(&ab, &b);
	check_same(&ab, &both);
	slices_merge(&ba, &b);
	slices_merge(&ba, &a);
	check_same(&ba, &both);
	assert_true(b.slots.log2 && b.slots.log2 < a.slots.log2);
	slices_free(&a);
	slices_free(&b);
	slices_free(&both);
	slices_free(&ab);
	slices_free(&ba);
}

/* One thing in a window takes one slice's memory, and all slices no more than all. */
static void test_memory(void **state)
{
	struct slices s = {0};

	(void)state;
	slices_add(&s, 5000 * MS, 1);
	assert_int_equal(s.room, 1);
	slices_add(&s, 5000 * MS, 2);
	assert_int_equal(s.room, 1);
	for (unsigned i = 0; i < 10 * SLICES; i++)
		slices_add(&s, (5000 - i) * MS, 1);
	assert_int_equal(s.room, SLICES);
	check_holds(&s, 10 * SLICES + 2, 10 * SLICES + 3);
	slices_free(&s);
	slices_add(&s, 5000 * MS, 1);
	assert_int_equal(s.room, 1);
	slices_free(&s);
}

/* Bursts of `size` events within 10 ms, come by chance, `rate` bursts a second for 20 s; each event
 * takes 1 to 3. */
static struct slices bursts(double rate, unsigned size)
{
	struct slices s = {0};

	for (double at = -log(uniform()) / rate; at < 20; at -= log(uniform()) / rate)
		for (unsigned i = 0; i < size; i++)
			slices_add(&s, BEGIN + (uint64_t)((at + 0.01 * i / size) * S),
				   1 + (uint64_t)(uniform() * 3));
	return s;
}

/* The scatter is that of one window to the next, near enough: on average a little more, for there
 * being few slices. */
static void check_scatter(double rate, unsigned size)
{
	double sum = 0, squares = 0, said = 0, said_sum = 0, n = 400, variance;

	for (unsigned i = 0; i < n; i++) {
		struct slices s = bursts(rate, size);
		struct slices_scatter v = slices_scatter(&s, BEGIN, 20 * S);
		double count = 0;

		for (unsigned k = 0; k < SLICES; k++)
			count += slices_at(&s, k).count;
		sum += count;
		squares += count * count;
		said += v.count;
		said_sum += v.sum;
		slices_free(&s);
	}
	variance = (squares - sum * sum / n) / n;
	if (said / n < 0.95 * variance || said / n > 1.5 * variance)
		fail_msg("%g bursts of %u: the variance is %g, the slices say %g", rate, size,
			 variance, said / n);
	if (said_sum / n < 3.8 * variance || said_sum / n > 7 * variance) /* bounds around 2 each */
		fail_msg("%g bursts of %u: the slices say %g of the sums", rate, size,
			 said_sum / n);
}

static void test_scatter(void **state)
{
	struct slices even = {0};

	(void)state;
	seed = 12345;
	check_scatter(50, 1);
	check_scatter(2, 50);
	check_scatter(0.5, 100);
	for (unsigned i = 0; i < 5000; i++)
		slices_add(&even, BEGIN + i * 4 * MS, 2000);
	assert_true(slices_scatter(&even, BEGIN, 20 * S).count < 500);
	slices_free(&even);
}

static void test_short_window(void **state)
{
	struct slices s = {0};

	(void)state;
	for (unsigned i = 0; i < 20; i++)
		slices_add(&s, BEGIN + i * i * i * 1000, 1);
	assert_true(slices_scatter(&s, BEGIN, 8 * MS).count == 0);
	assert_true(slices_scatter(&s, BEGIN, 40 * MS).count > 0);
	slices_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),         cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_merge),        cmocka_unit_test(test_scatter),
		cmocka_unit_test(test_short_window), cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
