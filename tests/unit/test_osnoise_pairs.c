/* SPDX-License-Identifier: GPL-2.0-or-later */
/* compare: pairs the intervals of two sides, and counts those without a partner. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/osnoise_pairs.h"

#define MS 1000000ULL

static struct osnoise_pairs c;

static int setup(void **state)
{
	(void)state;
	return pairs_init(&c);
}

static int teardown(void **state)
{
	(void)state;
	pairs_free(&c);
	return 0;
}

static void add(bool theirs, enum source_kind kind, uint32_t id, uint64_t end, uint64_t net)
{
	struct interval i = {.end_ns = end,
			     .net_ns = net,
			     .theirs = theirs,
			     .kind = kind,
			     .id = id,
			     .name = "x"};

	pairs_add(&c, &i);
}

static const struct pairs_row *row(enum source_kind kind, uint32_t id)
{
	for (uint32_t i = 0; i < c.rows; i++)
		if (c.row[i].kind == kind && c.row[i].id == id)
			return &c.row[i];
	fail_msg("no row of kind %d id %u", kind, id);
	return NULL;
}

static void test_pairs(void **state)
{
	const struct pairs_row *r;

	(void)state;
	add(false, SOURCE_IRQ, 236, 1000, 500);
	add(true, SOURCE_IRQ, 236, 1010, 450);
	add(true, SOURCE_IRQ, 236, 5000, 700); /* the other side may come first */
	add(false, SOURCE_IRQ, 236, 4990, 720);
	pairs_finish(&c);
	r = row(SOURCE_IRQ, 236);
	assert_int_equal(r->matched, 2);
	assert_int_equal(r->only_ours + r->only_theirs, 0);
	assert_int_equal(r->ours, 2);
	assert_int_equal(r->theirs, 2);
	assert_int_equal(r->ours_ns, 1220);
	assert_int_equal(r->theirs_ns, 1150);
	assert_int_equal(r->difference.max, 50);
	assert_int_equal(r->difference.min, 20);
}

/* osnoise reports within its own probe, and ours comes behind it: the time of the report is no
 * difference. */
static void test_late(void **state)
{
	const struct pairs_row *r;

	(void)state;
	for (int i = 1; i <= 3; i++) {
		add(true, SOURCE_IRQ, 236, i * MS, 10000);
		add(false, SOURCE_IRQ, 236, i * MS + 900, 10950);
		add(true, SOURCE_NMI, 0, i * MS + 4000,
		    2000); /* in the other order all of it counts */
		add(false, SOURCE_NMI, 0, i * MS + 3500, 1200);
	}
	pairs_finish(&c);
	r = row(SOURCE_IRQ, 236);
	assert_int_equal(r->matched, 3);
	assert_int_equal(r->difference.max, 50);
	assert_false(pairs_differs(r));
	r = row(SOURCE_NMI, 0);
	assert_int_equal(r->difference.max, 800);
	assert_true(pairs_differs(r));
	assert_non_null(pairs_why_differs(&c, r));
	assert_int_equal(c.difference.count, 6);
	assert_int_equal(c.relative.max, 800 * 10000 / 1200);
}

static void test_alone(void **state)
{
	(void)state;
	add(false, SOURCE_SOFTIRQ, 8, 1000, 500);
	add(true, SOURCE_THREAD, 77, 2000, 100);
	add(true, SOURCE_THREAD, 78, 3000, 100);
	add(false, SOURCE_THREAD, 78, 3000 + 30 * MS, 100); /* too far apart to be the same */
	pairs_finish(&c);
	assert_int_equal(row(SOURCE_SOFTIRQ, 8)->only_ours, 1);
	assert_non_null(pairs_why(&c, row(SOURCE_SOFTIRQ, 8)));
	assert_int_equal(row(SOURCE_THREAD, 77)->only_theirs, 1);
	assert_int_equal(row(SOURCE_THREAD, 78)->only_theirs, 1);
	assert_int_equal(row(SOURCE_THREAD, 78)->only_ours, 1);
	assert_int_equal(row(SOURCE_THREAD, 78)->matched, 0);
}

/* On PREEMPT_RT the softirqs of a thread are the thread's to osnoise. Each pair but one says so,
 * and that one is as much longer as all others are shorter. */
static void test_softirqs_in_threads(void **state)
{
	const struct pairs_row *r;

	(void)state;
	for (int i = 1; i <= 20; i++) {
		add(false, SOURCE_SOFTIRQ, 8, i * MS - 1000, 2000);
		add(true, SOURCE_THREAD, 35, i * MS, 11000);
		add(false, SOURCE_THREAD, 35, i * MS, i == 7 ? 150000 : 8800);
	}
	pairs_finish(&c);
	r = row(SOURCE_THREAD, 35);
	assert_true(r->ours_ns > r->theirs_ns && pairs_differs(r));
	assert_non_null(pairs_why_differs(&c, r));
	add(true, SOURCE_SOFTIRQ, 9, 30 * MS, 2000); /* another kernel's osnoise has them */
	assert_null(pairs_why_differs(&c, r));
	assert_null(pairs_why(&c, row(SOURCE_SOFTIRQ, 8)));
}

/* The same number of another kind: an IRQ is not a softirq. */
static void test_kinds(void **state)
{
	(void)state;
	add(false, SOURCE_IRQ, 7, 1000, 10);
	add(true, SOURCE_SOFTIRQ, 7, 1000, 10);
	pairs_finish(&c);
	assert_int_equal(row(SOURCE_IRQ, 7)->only_ours, 1);
	assert_int_equal(row(SOURCE_SOFTIRQ, 7)->only_theirs, 1);
}

/* The nearest in time of two that wait is the partner. */
static void test_nearest(void **state)
{
	(void)state;
	add(false, SOURCE_IRQ, 1, 1 * MS, 100);
	add(false, SOURCE_IRQ, 1, 3 * MS, 200);
	add(true, SOURCE_IRQ, 1, 3 * MS + 10, 200);
	add(true, SOURCE_IRQ, 1, 1 * MS + 10, 100);
	pairs_finish(&c);
	assert_int_equal(row(SOURCE_IRQ, 1)->matched, 2);
	assert_int_equal(row(SOURCE_IRQ, 1)->difference.max, 0);
}

/* Very many, one side far behind the other's batches; intervals without a partner are counted once.
 */
static void test_many(void **state)
{
	uint64_t t = 0, alone = 0;

	(void)state;
	for (int batch = 0; batch < 400; batch++) {
		for (int k = 0; k < 100; k++)
			add(false, SOURCE_IRQ, k % 3, t + k * 1000, 50);
		for (int k = 0; k < 100; k++)
			if (k % 10)
				add(true, SOURCE_IRQ, k % 3, t + k * 1000 + 5, 60);
			else
				alone++;
		t += 50 * MS;
	}
	pairs_finish(&c);
	for (uint32_t i = 0; i < c.rows; i++) {
		assert_int_equal(c.row[i].ours, c.row[i].matched + c.row[i].only_ours);
		assert_int_equal(c.row[i].theirs, c.row[i].matched + c.row[i].only_theirs);
		assert_int_equal(c.row[i].only_theirs, 0);
		assert_int_equal(c.row[i].difference.max, 10);
		alone -= c.row[i].only_ours;
	}
	assert_int_equal(alone, 0);
	assert_int_equal(c.rows, 3);
}

static void test_interval_of(void **state)
{
	struct record r = {
		.kind = RECORD_VECTOR, .id = VECTOR_LOCAL_TIMER, .arg = 236, .end_ns = 9};
	struct interval i = interval_of(&r, 5);

	(void)state;
	assert_int_equal(i.kind, SOURCE_IRQ); /* osnoise does not tell vectors from IRQs */
	assert_int_equal(i.id, 236);
	assert_string_equal(i.name, "local_timer");
	assert_false(i.theirs);
	r = (struct record){
		.kind = RECORD_OSNOISE, .mark = RECORD_THREAD, .id = 7, .arg = 1234, .end_ns = 9};
	memset(r.name, 'n', sizeof(r.name)); /* all sixteen bytes, no NUL */
	i = interval_of(&r, 0);
	assert_true(i.theirs);
	assert_int_equal(i.kind, SOURCE_THREAD);
	assert_int_equal(i.net_ns, 1234);
	assert_int_equal(strlen(i.name), 16);
}

static void test_ring(void **state)
{
	struct intervals *q = calloc(1, sizeof(*q));
	struct interval i = {.id = 1};

	(void)state;
	assert_non_null(q);
	assert_null(intervals_next(q));
	for (uint32_t k = 0; k < INTERVALS_KEPT + 3; k++) {
		i.id = k;
		intervals_push(q, &i);
	}
	assert_int_equal(q->lost, 3);
	for (uint32_t k = 0; k < INTERVALS_KEPT; k++)
		assert_int_equal(intervals_next(q)->id, k);
	assert_null(intervals_next(q));
	free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_pairs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_late, setup, teardown),
		cmocka_unit_test_setup_teardown(test_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_softirqs_in_threads, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kinds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nearest, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many, setup, teardown),
		cmocka_unit_test(test_interval_of),
		cmocka_unit_test(test_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
