/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reasons why the tick did not stop: rows, their bound, and names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "model/nohz_tick.h"
#include "model/report.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define RESERVED     8 /* rows for dependencies that come late */

static void add(struct nohz_ticks *t, uint32_t dependency, uint32_t tid, const char *comm)
{
	struct record r = {.kind = RECORD_TICK, .id = dependency, .arg = tid};

	memcpy(r.name, comm, strnlen(comm, sizeof(r.name)));
	nohz_ticks_add(t, &r);
}

static void assert_row(const struct nohz_ticks *t, uint32_t row, uint32_t dependency, uint32_t tid,
		       const char *comm, uint64_t count)
{
	assert_true(row < t->count);
	assert_int_equal(t->row[row].dependency, dependency);
	assert_int_equal(t->row[row].tid, tid);
	assert_string_equal(t->row[row].comm, comm);
	assert_int_equal(t->row[row].count, count);
}

static uint64_t total(const struct nohz_ticks *t)
{
	uint64_t sum = 0;

	assert_true(t->count <= NOHZ_TICK_ROWS);
	for (uint32_t i = 0; i < t->count; i++)
		sum += t->row[i].count;
	return sum;
}

static void test_names(void **state)
{
	/* include/linux/tick.h: enum tick_dep_bits */
	static const char *const names[] = {"POSIX_TIMER",    "PERF_EVENTS", "SCHED",
					    "CLOCK_UNSTABLE", "RCU",         "RCU_EXP"};

	(void)state;
	assert_string_equal(nohz_dependency_name(0), "NONE");
	for (unsigned i = 0; i < COUNT(names); i++)
		assert_string_equal(nohz_dependency_name(1U << i), names[i]);
	assert_string_equal(nohz_dependency_name(3), "several");
	assert_string_equal(nohz_dependency_name(1U << COUNT(names)), "several");
	assert_string_equal(nohz_dependency_name(UINT32_MAX), "several");
}

/* Anybody may be called kcompactd0. */
static void test_a_kernel_thread_is_another(void **state)
{
	struct record r = {.kind = RECORD_TICK, .id = 1, .arg = 7, .name = "kcompactd0"};
	struct nohz_ticks t = {.count = 0};

	(void)state;
	nohz_ticks_add(&t, &r);
	r.flags = RECORD_KTHREAD;
	nohz_ticks_add(&t, &r);
	assert_int_equal(t.count, 2);
	assert_false(t.row[0].kernel_thread);
	assert_true(t.row[1].kernel_thread);
}

static void test_each_part_of_the_key_counts(void **state)
{
	struct nohz_ticks t = {.count = 0};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		add(&t, 4, 100, "a");
		add(&t, 1, 100, "a");
		add(&t, 4, 101, "a");
		add(&t, 4, 100, "b"); /* the thread has a new name */
		add(&t, 4, 0, "swapper/3");
	}
	add(&t, 4, 101, "a");
	assert_int_equal(t.count, 5);
	assert_row(&t, 0, 4, 100, "a", 3);
	assert_row(&t, 1, 1, 100, "a", 3);
	assert_row(&t, 2, 4, 101, "a", 4);
	assert_row(&t, 3, 4, 100, "b", 3);
	assert_row(&t, 4, 4, 0, "swapper/3", 3);
}

static void test_comms_of_any_bytes(void **state)
{
	struct nohz_ticks t = {.count = 0};

	(void)state;
	add(&t, 4, 1, "0123456789abcdef"); /* no NUL */
	add(&t, 4, 1, "0123456789abcdef");
	add(&t, 4, 1, "0123456789abcde");
	add(&t, 4, 1, "\x1b[2J\xff\n");
	add(&t, 4, 1, "");
	assert_int_equal(t.count, 4);
	assert_row(&t, 0, 4, 1, "0123456789abcdef", 2);
	assert_row(&t, 1, 4, 1, "0123456789abcde", 1);
	assert_row(&t, 2, 4, 1, "\x1b[2J\xff\n", 1);
	assert_row(&t, 3, 4, 1, "", 1);
}

/* Later threads share the last row of their comm, or of their dependency; those that have rows keep
 * them; others' are left alone. */
static void test_many_threads(void **state)
{
	struct nohz_ticks t = {.count = 0};
	uint32_t last = NOHZ_TICK_ROWS - RESERVED - 1;

	(void)state;
	add(&t, 1, 7, "posix");
	for (uint32_t tid = 1; tid <= 1000; tid++)
		add(&t, 4, tid, "many");
	assert_int_equal(t.count, NOHZ_TICK_ROWS - RESERVED);
	assert_row(&t, 0, 1, 7, "posix", 1);
	for (uint32_t i = 1; i < last; i++)
		assert_row(&t, i, 4, i, "many", 1);
	assert_row(&t, last, 4, 0, "many", 1000 - (last - 1));
	add(&t, 4, 5, "many");
	add(&t, 4, last, "many"); /* the thread's row is gone */
	assert_row(&t, 5, 4, 5, "many", 2);
	assert_row(&t, last, 4, 0, "many", 1000 - (last - 1) + 1);
	add(&t, 1, 8, "timer");
	assert_row(&t, 0, 1, 0, "(several)", 2);
	assert_int_equal(total(&t), 1004);
}

/* Programs that end at once, of one name, do not fill a report. */
static void test_lines(void **state)
{
	struct nohz_tick_line line[NOHZ_TICK_ROWS];
	struct nohz_ticks t = {.count = 0};
	char before[48], after[16];

	(void)state;
	assert_int_equal(nohz_ticks_lines(&t, line), 0);
	add(&t, 4, 1, "one");
	add(&t, 4, 2, "two");
	add(&t, 4, 3, "two");
	add(&t, 4, 3, "two");
	for (uint32_t tid = 10; tid < 15; tid++)
		add(&t, 4, tid, "busybox");
	add(&t, 1, 15, "busybox"); /* for another reason */
	assert_int_equal(nohz_ticks_lines(&t, line), 5);
	assert_string_equal(line[0].row.comm, "busybox");
	assert_int_equal(line[0].row.count, 5);
	assert_int_equal(line[0].threads, 5);
	assert_false(line[0].more);
	assert_int_equal(line[1].row.tid, 3);
	assert_int_equal(line[1].row.count, 2);
	assert_int_equal(line[1].threads, 1);
	report_tick(&line[0], before, after);
	assert_string_equal(before, "5 threads of ");
	assert_string_equal(after, "");
	report_tick(&line[1], before, after);
	assert_string_equal(before, "");
	assert_string_equal(after, " [3]");
	for (uint32_t tid = 100; tid < 1000; tid++)
		add(&t, 4, tid, "busybox");
	assert_int_equal(nohz_ticks_lines(&t, line), 5);
	assert_int_equal(line[0].row.count, 905);
	assert_int_equal(line[0].threads, NOHZ_TICK_ROWS - RESERVED - 4 - 1);
	report_tick(&line[0], before, after);
	assert_string_equal(before, "19 or more threads of ");
}

/* However many threads came before, each dependency finds a row. */
static void test_late_dependencies(void **state)
{
	struct nohz_ticks t = {.count = 0};

	(void)state;
	for (uint32_t tid = 1; tid <= 100; tid++)
		add(&t, 4, tid, "many");
	for (unsigned i = 0; i < 6; i++) {
		if (1U << i == 4)
			continue;
		add(&t, 1U << i, 50, "late");
		assert_row(&t, t.count - 1, 1U << i, 50, "late", 1);
		add(&t, 1U << i, 51, "later");
		assert_row(&t, t.count - 1, 1U << i, 0, "(several)", 2);
	}
	add(&t, 0, 0, "none");
	assert_row(&t, t.count - 1, 0, 0, "none", 1);
	assert_int_equal(total(&t), 100 + 10 + 1);
}

/* Dependencies that no kernel has do not overflow the table. */
static void test_bound(void **state)
{
	struct nohz_ticks t = {.count = 0};

	(void)state;
	for (uint32_t i = 0; i < 5000; i++)
		add(&t, i, i, "wild");
	assert_int_equal(t.count, NOHZ_TICK_ROWS);
	for (uint32_t i = 0; i < NOHZ_TICK_ROWS; i++)
		assert_row(&t, i, i, i, "wild", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_a_kernel_thread_is_another),
		cmocka_unit_test(test_each_part_of_the_key_counts),
		cmocka_unit_test(test_comms_of_any_bytes),
		cmocka_unit_test(test_many_threads),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_late_dependencies),
		cmocka_unit_test(test_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
