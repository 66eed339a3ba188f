/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order of lanes: by share lost and by the longest gap in turn, each once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "../world/world.h"
#include "model/rank.h"

#define MANY 1024

static void assert_order(const struct rank_of *of, uint32_t n, const uint32_t *expected)
{
	uint32_t order[8];

	assert_int_equal(rank(of, n, order), 0);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(order[i], expected[i]);
}

static void test_by_turns(void **state)
{
	const struct rank_of of[] = {{0.001, 100}, {0.004, 30}, {0.003, 20}, {0.002, 10}, {0, 90}};

	(void)state;
	assert_order(of, 5, (const uint32_t[]){1, 0, 2, 4, 3});
}

static void test_equal_and_unknown(void **state)
{
	const struct rank_of same[] = {{0.1, 5}, {0.1, 5}, {0.1, 5}},
			     ties[] = {{0.1, 5}, {0.1, 9}, {0.2, 5}}, unknown[] = {{-1, 7}, {0, 7}};

	(void)state;
	assert_order(same, 3, (const uint32_t[]){0, 1, 2});
	assert_order(ties, 3, (const uint32_t[]){2, 1, 0});
	assert_order(unknown, 2, (const uint32_t[]){1, 0});
	assert_order(same, 0, NULL);
}

/* One of a thousand lanes loses little, and has the longest gap: it is second. */
static void test_rare_and_long(void **state)
{
	struct rank_of of[MANY];
	uint32_t order[MANY];
	bool seen[MANY] = {false};

	(void)state;
	for (uint32_t i = 0; i < MANY; i++)
		of[i] = (struct rank_of){0.005 + i * 1e-9, 40000 + i};
	of[700] = (struct rank_of){0.0001, 5900000};
	assert_int_equal(rank(of, MANY, order), 0);
	assert_int_equal(order[0], MANY - 1);
	assert_int_equal(order[1], 700);
	for (uint32_t i = 0; i < MANY; i++) {
		assert_false(seen[order[i]]);
		seen[order[i]] = true;
	}
}

/* Lanes among the first k of either list are among the first 2k. */
static void test_promise(void **state)
{
	struct rank_of of[100];
	uint32_t order[100], place[100];

	(void)state;
	srand(7);
	for (int round = 0; round < 50; round++) {
		for (uint32_t i = 0; i < 100; i++)
			of[i] = (struct rank_of){rand() % 50, rand() % 50};
		assert_int_equal(rank(of, 100, order), 0);
		for (uint32_t i = 0; i < 100; i++)
			place[order[i]] = i;
		for (uint32_t i = 0; i < 100; i++) {
			uint32_t more = 0, longer = 0;

			for (uint32_t k = 0; k < 100; k++) {
				more += of[k].lost >= of[i].lost;
				longer += of[k].longest_ns >= of[i].longest_ns;
			}
			assert_true(place[i] < 2 * (more < longer ? more : longer));
		}
	}
}

static void test_views(void **state)
{
	static const unsigned numbers[] = {4, 5, 6};
	struct view v;
	uint32_t order[3];

	(void)state;
	world_view(&v, "", numbers, 3);
	world_lasts(&v, 1000000);
	hist_add_n(&v.cpu[0].hiccups, 100, 10);
	hist_add_n(&v.cpu[1].hiccups, 500, 1);
	v.cpu[2].observed_ns = 1000; /* lost half of a short time */
	hist_add_n(&v.cpu[2].hiccups, 50, 10);
	assert_int_equal(rank_lanes(&v, order), 0);
	assert_int_equal(order[0], 2);
	assert_int_equal(order[1], 1);
	assert_int_equal(order[2], 0);
	v.run.watch = true; /* shares of threads do not compare */
	assert_int_equal(rank_lanes(&v, order), 0);
	assert_int_equal(order[0], 0);
	assert_int_equal(order[1], 1);
	assert_int_equal(order[2], 2);
	view_free(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_turns),      cmocka_unit_test(test_equal_and_unknown),
		cmocka_unit_test(test_rare_and_long), cmocka_unit_test(test_promise),
		cmocka_unit_test(test_views),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
