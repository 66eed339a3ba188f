/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Thresholds of gaps, from histograms of loops: 24 that were taken within a minute on a busy guest,
 * and some made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/threshold.h"

static uint64_t loop[LOOP_SLOTS];

static uint64_t ns(uint64_t ticks, double ns_per_tick)
{
	return ticks * ns_per_tick + 0.5;
}

/* A line of the file: ns per tick, then ticks:loops. */
static double take(char *line)
{
	char *rest, *word = strtok_r(line, " \n", &rest);
	double ns_per_tick = strtod(word, NULL);
	unsigned long ticks, count;

	memset(loop, 0, sizeof(loop));
	while ((word = strtok_r(NULL, " \n", &rest))) {
		assert_int_equal(sscanf(word, "%lu:%lu", &ticks, &count), 2);
		assert_true(ticks < LOOP_SLOTS);
		loop[ticks] = count;
	}
	return ns_per_tick;
}

static uint64_t quantile(uint64_t one_in)
{
	uint64_t all = 0, seen = 0, i = 0;

	for (unsigned k = 0; k < LOOP_SLOTS; k++)
		all += loop[k];
	while ((seen += loop[i]) < all - all / one_in)
		i++;
	return i;
}

/* Loops are not alike: the length that one loop in 1000 exceeds, and the one in 30,000, differ
 * several times. The threshold does not. */
static void same_on_one_machine(void **state)
{
	FILE *f = fopen("tests/fixtures/loops", "r");
	uint64_t low = UINT64_MAX, high = 0, count = 0;
	char *line = NULL;
	size_t size = 0;

	(void)state;
	assert_non_null(f);
	for (; getline(&line, &size, f) > 0; count++) {
		double per_tick = take(line);
		uint64_t bare = threshold_auto(loop, per_tick, false),
			 guest = threshold_auto(loop, per_tick, true);
		uint64_t often = quantile(1000);

		low = often < low ? often : low;
		high = often > high ? often : high;
		assert_int_equal(ns(bare, per_tick), 200);
		assert_int_equal(ns(guest, per_tick), 500);
		assert_int_equal(ns(threshold_short(loop, per_tick, 0, bare), per_tick), 100);
		assert_int_equal(ns(threshold_short(loop, per_tick, 0, guest), per_tick), 100);
		assert_int_equal(
			ns(threshold_short(loop, per_tick, 0, threshold_ticks(50000, per_tick)),
			   per_tick),
			100);
	}
	assert_int_equal(count, 24);
	assert_true(high > 3 * low);
	free(line);
	fclose(f);
}

static void make(uint64_t ticks, uint64_t count)
{
	loop[ticks] += count;
}

/* A clock that is read by a system call: eight loops. A tenth more or less of the loop is not much
 * more of the threshold. */
static void slow_loop(void **state)
{
	uint64_t last = 0;

	(void)state;
	for (uint64_t length = 180; length <= 220; length += 10) {
		uint64_t t;

		memset(loop, 0, sizeof(loop));
		make(length, 90000);
		make(length * 5, 500);
		t = threshold_auto(loop, 1, true);
		assert_in_range(t, 8 * length, 8 * length + 100);
		assert_in_range(threshold_short(loop, 1, 0, t), 4 * length, 4 * length + 100);
		assert_true(!last || (t >= last && t <= last * 1.2));
		last = t;
	}
}

/* 24 MHz: a loop of 40 ns seems to take one tick, and now and then none or two. */
static void coarse_counter(void **state)
{
	const double per_tick = 1e9 / 24e6;

	(void)state;
	for (int none = 20000; none <= 80000; none += 20000) {
		memset(loop, 0, sizeof(loop));
		make(0, none);
		make(1, 100000);
		make(2, 3000);
		assert_in_range(ns(threshold_auto(loop, per_tick, false), per_tick), 200, 360);
		assert_in_range(threshold_given(loop, per_tick, 0, 1), 3, 3);
		assert_in_range(threshold_short(loop, per_tick, 0, 12), 3,
				4); /* a threshold that the grain cannot make */
	}
}

static void edges(void **state)
{
	(void)state;
	memset(loop, 0, sizeof(loop));
	assert_int_equal(threshold_auto(loop, 1, false), 200); /* nothing was seen */
	make(LOOP_SLOTS - 1, 1000); /* every loop is longer than there are slots */
	assert_true(threshold_auto(loop, 1, false) > 8 * (LOOP_SLOTS - 1));
	memset(loop, 0, sizeof(loop));
	make(10, 100000);
	assert_int_equal(threshold_short(loop, 1, 0, 100), 100); /* none fit below */
	assert_int_equal(threshold_short(loop, 1, 0, 50), 50);
	assert_int_equal(threshold_short(loop, 1, 0, 101), 100);
	/* twice the way back from the gap before, as far as that is more than four loops */
	assert_int_equal(threshold_short(loop, 1, 50, 500), 100);
	assert_in_range(threshold_short(loop, 1, 90, 500), 180, 190);
	assert_int_equal(threshold_short(loop, 1, 90, 150), 150);
	/* neither the loop itself nor the way back, whatever is given */
	assert_int_equal(threshold_given(loop, 1, 0, 500), 500);
	assert_int_equal(threshold_given(loop, 1, 0, 41), 41);
	assert_int_equal(threshold_given(loop, 1, 0, 1), 40);
	assert_int_equal(threshold_given(loop, 1, 70, 90), 90);
	assert_int_equal(threshold_given(loop, 1, 70, 89), 90);
	assert_int_equal(threshold_given(loop, 1, 80, 1), 200);
	make(150, 2000); /* two in a hundred: a part of the loop, whatever it is */
	assert_int_equal(threshold_short(loop, 1, 0, 500), 200);
	assert_int_equal(threshold_short(loop, 1, 0, 150), 150);
	assert_int_equal(threshold_ticks(0.1, 1), 1);
	assert_int_equal(threshold_ticks(500, 1e9 / 24e6), 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_on_one_machine),
		cmocka_unit_test(slow_loop),
		cmocka_unit_test(coarse_counter),
		cmocka_unit_test(edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
