/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Other threads on a CPU: rows by thread, their bound, and their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "model/bystanders.h"

static struct bystanders bystanders;

static void add(uint32_t tid, const char *comm, uint64_t ns)
{
	struct record r = {.kind = RECORD_THREAD, .id = tid, .start_ns = 1000, .end_ns = 1000 + ns};

	memcpy(r.name, comm, strnlen(comm, sizeof(r.name)));
	bystanders_add(&bystanders, &r);
}

static int begin(void **state)
{
	(void)state;
	memset(&bystanders, 0, sizeof(bystanders));
	return 0;
}

static void test_one_row_a_thread(void **state)
{
	uint32_t order[BYSTANDERS_ROWS];

	(void)state;
	add(7, "short", 10);
	add(8, "a comm of 16 chr", 100);
	add(7, "short", 5);
	add(7, "renamed", 1);
	add(0, "swapper/1", 1000000);
	assert_int_equal(bystanders.count, 3);
	assert_int_equal(bystanders.row[0].count, 2);
	assert_int_equal(bystanders.row[0].total_ns, 15);
	assert_string_equal(bystanders.row[1].comm, "a comm of 16 chr");
	bystanders_rank(&bystanders, order);
	assert_int_equal(order[0], 1);
	assert_int_equal(order[1], 0);
	assert_int_equal(order[2], 2);
}

/* A fork storm: threads with the least time share a row, nothing is lost, and one with much time is
 * named whenever it comes. */
static void test_many_threads_share_a_row(void **state)
{
	uint64_t count = 0, ns = 0;
	bool heavy = false;
	unsigned rest = 0;
	char comm[16];

	(void)state;
	for (uint32_t i = 1; i <= 1000; i++) {
		snprintf(comm, sizeof(comm), "t%u", i);
		add(i, comm, i % 10);
		if (i == 700)
			add(5000, "heavy", 100000);
		if (i % 20 == 0)
			add(6000, "patient", 8);
		assert_true(bystanders.count <= BYSTANDERS_ROWS);
	}
	for (uint32_t i = 0; i < bystanders.count; i++) {
		const struct bystander *o = &bystanders.row[i];

		count += o->count;
		ns += o->total_ns;
		rest += o->rest && !o->tid && !strcmp(o->comm, "(others)");
		heavy |= o->tid == 5000 && o->total_ns == 100000 && !o->rest;
		assert_true(o->tid != 6000 || o->count > 40);
	}
	assert_int_equal(rest, 1);
	assert_true(heavy);
	assert_int_equal(count, 1000 + 1 + 50);
	assert_int_equal(ns, 1000 * 45 / 10 + 100000 + 50 * 8);
}

/* A thread with another's name, or the rest's, is a thread of its own. */
static void test_fakes(void **state)
{
	struct record kernel = {.kind = RECORD_THREAD,
				.id = 12,
				.flags = RECORD_KTHREAD,
				.end_ns = 5,
				.name = "kworker/1:0"};

	(void)state;
	add(12, "kworker/1:0", 3);
	bystanders_add(&bystanders, &kernel);
	add(13, "(others)", 1);
	assert_int_equal(bystanders.count, 3);
	assert_true(!bystanders.row[0].kernel_thread && bystanders.row[1].kernel_thread &&
		    !bystanders.row[2].rest);
	assert_int_equal(bystanders.row[1].total_ns, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_one_row_a_thread, begin),
		cmocka_unit_test_setup(test_many_threads_share_a_row, begin),
		cmocka_unit_test_setup(test_fakes, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
