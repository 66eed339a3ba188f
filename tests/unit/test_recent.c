/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last second and the last ten: differences of sums that only grow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../world/world.h"
#include "model/recent.h"

#define SECOND 1000000000ULL

static void open_view(struct view *v)
{
	world_view(v, "", (const unsigned[]){3}, 1);
}

static void lose(struct view *v, uint32_t row, uint64_t ns)
{
	source_add(v->cpu[0].sources.row[row], ns, true);
	hist_add(&v->cpu[0].hiccups, ns);
}

static void test_seconds(void **state)
{
	struct view v = {0};
	struct recent r;
	uint32_t a, b;

	(void)state;
	open_view(&v);
	assert_int_equal(recent_init(&r, 1), 0);
	assert_true(recent_share(&r, 0, 0) < 0);
	a = sources_find(&v.cpu[0].sources, SOURCE_THREAD, 7, "a", NULL);
	for (uint64_t second = 1; second <= 25; second++) {
		v.cpu[0].observed_ns = second * SECOND;
		lose(&v, a, second * 1000000);
		assert_int_equal(recent_second(&r, &v), 0);
		assert_int_equal(recent_of(&r, 0, a, 1).ns, second * 1000000);
		assert_int_equal(recent_of(&r, 0, a, 1).count, 1);
		assert_int_equal(recent_of(&r, 0, a, 10).count, second < 10 ? second : 10);
		assert_int_equal(recent_observed(&r, 0, 10), (second < 10 ? second : 10) * SECOND);
		assert_int_equal(recent_lost(&r, 0, 1), second * 1000000);
		assert_float_equal(recent_share(&r, 0, 0), second / 1000.0, 1e-6);
	}
	assert_float_equal(recent_share(&r, 0, 24), 0.001, 1e-6);
	assert_true(recent_share(&r, 0, 25) < 0);
	/* A source that comes late has taken nothing before. */
	b = sources_find(&v.cpu[0].sources, SOURCE_THREAD, 8, "b", NULL);
	lose(&v, b, 5);
	v.cpu[0].observed_ns += SECOND;
	assert_int_equal(recent_of(&r, 0, b, 1).count, 0);
	recent_second(&r, &v);
	assert_int_equal(recent_of(&r, 0, b, 10).ns, 5);
	assert_int_equal(recent_of(&r, 0, a, 1).count, 0);
	recent_free(&r);
	view_free(&v);
}

/* More time lost than there was: hiccups are counted when they end. */
static void test_share_is_bounded(void **state)
{
	struct view v = {0};
	struct recent r;
	uint32_t a;

	(void)state;
	open_view(&v);
	assert_int_equal(recent_init(&r, 1), 0);
	a = sources_find(&v.cpu[0].sources, SOURCE_THREAD, 7, "a", NULL);
	v.cpu[0].observed_ns = SECOND;
	lose(&v, a, 5 * SECOND);
	recent_second(&r, &v);
	assert_float_equal(recent_share(&r, 0, 0), 1, 0);
	recent_second(&r, &v); /* nothing was observed */
	assert_float_equal(recent_share(&r, 0, 0), 0, 0);
	recent_free(&r);
	view_free(&v);
}

/* Rows go into the rest and others take their places: each second's growth is what came in it, and
 * nobody has another's past. */
static void test_rows_change_places(void **state)
{
	struct view v = {0};
	struct sources *t;
	struct recent r;
	char name[16];

	(void)state;
	open_view(&v);
	t = &v.cpu[0].sources;
	assert_int_equal(recent_init(&r, 1), 0);
	for (uint32_t second = 1; second <= 30; second++) {
		uint64_t sum = 0;

		for (uint32_t i = 0; i < 150; i++) {
			snprintf(name, sizeof(name), "n%u", second * 1000 + i);
			lose(&v, sources_find(t, SOURCE_THREAD, 9, name, NULL), 100);
		}
		lose(&v, sources_find(t, SOURCE_THREAD, 7, "steady", NULL), 700);
		v.cpu[0].observed_ns += SECOND;
		assert_int_equal(recent_second(&r, &v), 0);
		for (uint32_t i = 0; i < t->count; i++) {
			sum += recent_of(&r, 0, i, 1).ns;
			if (!strcmp(t->row[i]->name, "steady"))
				assert_int_equal(recent_of(&r, 0, i, 10).ns,
						 700 * (second < 10 ? second : 10));
			else if (!t->row[i]->rest)
				assert_true(recent_of(&r, 0, i, 10).ns <= 100);
		}
		assert_int_equal(sum, 150 * 100 + 700);
	}
	assert_true(t->trims > 10);
	recent_free(&r);
	view_free(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seconds),
		cmocka_unit_test(test_share_is_bounded),
		cmocka_unit_test(test_rows_change_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
