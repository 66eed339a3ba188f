/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The session: what it tells the join of the run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../world/scene.h"

static struct scene s;

/* A timer interrupt in the time of a thread without a real-time priority, which had the CPU before
 * the gap began. */
static void run(bool windows)
{
	static const unsigned cpus[] = {3};

	scene_init(&s, "web-07", cpus, 1);
	s.view.run.real_time = true;
	s.view.run.windows = windows;
	scene_begin(&s, NULL);
	scene_gap(&s, 0, 100000);
	scene_put(&s, vector(VECTOR_LOCAL_TIMER, 60000, 62000));
	scene_put(&s, kthread(0, "swapper/3", (uint64_t)-50000, 65000));
	scene_end(&s, 70000);
	assert_int_equal(scene_finish(&s), 0);
}

/* The thread that had the CPU while the workload slept was let in by nobody. */
static void workloads_that_sleep_are_not_throttled(void **state)
{
	(void)state;
	for (int windows = 0; windows < 2; windows++) {
		const struct source *row;

		run(windows);
		row = s.view.cpu[0].sources.row[1];
		assert_int_equal(row->kind, SOURCE_THREAD);
		assert_int_equal(row->word, windows ? WORD_NONE : WORD_THROTTLED);
		view_free(&s.view);
	}
}

/* A softirq was preempted, and the window ended before it went on. */
static void runs_end_with_the_window(void **state)
{
	static const unsigned cpus[] = {3};
	struct record part = softirq(1, 300, 2400);
	const struct source *row;

	(void)state;
	part.flags = RECORD_PART;
	scene_init(&s, "web-07", cpus, 1);
	scene_begin(&s, NULL);
	scene_gap(&s, 0, 100000);
	scene_put(&s, part);
	scene_end(&s, 3000);
	assert_int_equal(scene_finish(&s), 0);
	row = s.view.cpu[0].sources.row[0];
	assert_int_equal(row->kind, SOURCE_SOFTIRQ);
	assert_int_equal(row->net.count, 1);
	assert_int_equal(row->net.max, 2100);
	view_free(&s.view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(workloads_that_sleep_are_not_throttled),
		cmocka_unit_test(runs_end_with_the_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
