/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Choice of the sources that a report shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/shown.h"

static struct source source(enum source_kind kind, const char *name, const char *function)
{
	struct source s = {.kind = kind, .function = function};

	strcpy(s.name, name);
	return s;
}

static void test_kinds_and_names(void **state)
{
	struct source worker = source(SOURCE_THREAD, "kworker/3:1", "vmstat_update");
	struct source timer = source(SOURCE_VECTOR, "local_timer", NULL);
	struct shown all = {0}, threads = {.kinds = 1u << SOURCE_THREAD}, both = threads;

	(void)state;
	assert_true(shown_is(&all, &worker) && shown_is(&all, &timer) && !shown_some(&all));
	assert_true(shown_is(&threads, &worker) && !shown_is(&threads, &timer) &&
		    shown_some(&threads));
	both.kinds |= 1u << SOURCE_VECTOR;
	assert_true(shown_is(&both, &worker) && shown_is(&both, &timer));
	assert_true(shown_is(&(struct shown){.source = "kworker/*"}, &worker));
	assert_true(shown_is(&(struct shown){.source = "*:1"}, &worker));
	assert_true(shown_is(&(struct shown){.source = "*stat*"}, &worker)); /* the function */
	assert_true(shown_is(&(struct shown){.source = "local_timer"}, &timer));
	assert_false(shown_is(&(struct shown){.source = "local"}, &timer));
	assert_false(shown_is(&(struct shown){.source = ""}, &timer));
	assert_false(shown_is(&(struct shown){.source = "a*b*c*d"}, &timer));
	assert_false(shown_is(&(struct shown){.kinds = 1u << SOURCE_VECTOR, .source = "kworker/*"},
			      &worker));
}

static void test_rank_and_rows(void **state)
{
	struct shown threads = {.kinds = 1u << SOURCE_THREAD, .top = 1};
	uint32_t order[4], a, b;
	struct sources t;

	(void)state;
	assert_int_equal(sources_init(&t), 0);
	hist_add(&t.row[sources_find(&t, SOURCE_VECTOR, 1, "local_timer", NULL)]->net, 900);
	a = sources_find(&t, SOURCE_THREAD, 1, "a", NULL);
	hist_add(&t.row[a]->net, 5);
	b = sources_find(&t, SOURCE_THREAD, 2, "b", NULL);
	hist_add(&t.row[b]->net, 50);
	assert_int_equal(shown_rank(&threads, &t, order), 2);
	assert_int_equal(order[0], b);
	assert_int_equal(order[1], a);
	assert_int_equal(shown_rank(&(struct shown){0}, &t, order), 3);
	assert_int_equal(shown_rows(&threads, 2, 16), 1);
	assert_int_equal(shown_rows(&(struct shown){.top = 30}, 20, 16), 20);
	assert_int_equal(shown_rows(&(struct shown){0}, 20, 16), 16);
	assert_int_equal(shown_rows(&(struct shown){0}, 20, UINT32_MAX), 20);
	sources_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds_and_names),
					   cmocka_unit_test(test_rank_and_rows)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
