/* Who else ran on a CPU: rows by thread, their bound, and their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "model/others.h"

static struct others others;

static void add(uint32_t tid, const char *comm, uint64_t ns)
{
	struct record r = {.kind = RECORD_THREAD, .id = tid, .start_ns = 1000, .end_ns = 1000 + ns};

	memcpy(r.name, comm, strnlen(comm, sizeof(r.name)));
	others_add(&others, &r);
}

static int begin(void **state)
{
	(void)state;
	memset(&others, 0, sizeof(others));
	return 0;
}

static void test_one_row_a_thread(void **state)
{
	uint32_t order[OTHERS_ROWS];

	(void)state;
	add(7, "short", 10);
	add(8, "a comm of 16 chr", 100);
	add(7, "short", 5);
	add(7, "renamed", 1);
	add(0, "swapper/1", 1000000);
	assert_int_equal(others.count, 3);
	assert_int_equal(others.row[0].count, 2);
	assert_int_equal(others.row[0].total_ns, 15);
	assert_string_equal(others.row[1].comm, "a comm of 16 chr");
	others_rank(&others, order);
	assert_int_equal(order[0], 1);
	assert_int_equal(order[1], 0);
	assert_int_equal(order[2], 2);
}

static void test_many_threads_share_the_last_row(void **state)
{
	uint64_t count = 0, ns = 0;
	char comm[16];

	(void)state;
	for (uint32_t i = 1; i <= 3 * OTHERS_ROWS; i++) {
		snprintf(comm, sizeof(comm), "t%u", i);
		add(i, comm, i);
	}
	add(1, "t1", 1);
	assert_int_equal(others.count, OTHERS_ROWS);
	assert_int_equal(others.row[0].count, 2);
	assert_int_equal(others.row[OTHERS_ROWS - 1].tid, 0);
	assert_string_equal(others.row[OTHERS_ROWS - 1].comm, "(others)");
	assert_true(others.row[OTHERS_ROWS - 1].rest && !others.row[0].rest);
	for (uint32_t i = 0; i < others.count; i++) {
		count += others.row[i].count;
		ns += others.row[i].total_ns;
	}
	assert_int_equal(count, 3 * OTHERS_ROWS + 1);
	assert_int_equal(ns, 3 * OTHERS_ROWS * (3 * OTHERS_ROWS + 1) / 2 + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_one_row_a_thread, begin),
		cmocka_unit_test_setup(test_many_threads_share_the_last_row, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
