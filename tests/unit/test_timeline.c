/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The timeline: every lost nanosecond is in the slot that it was lost in, however long hiccups and
 * the run are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "model/lengths.h"
#include "model/timeline.h"

#define MS    1000000ULL
#define S     1000000000ULL
#define LEAST (1ULL << SLOTS_LOG2_LEAST)

static struct timeline t;

static int begin(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	return 0;
}

static void add(uint64_t start, uint64_t duration, uint64_t thread, uint64_t edge, uint64_t outside)
{
	const uint64_t lost[TIMELINE_KINDS] = {
		[SOURCE_THREAD] = thread, [TIMELINE_EDGE] = edge, [SOURCE_OUTSIDE] = outside};

	timeline_add(&t, start, duration, lost);
}

static uint64_t sum(unsigned kind)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < TIMELINE_SLOTS; i++)
		all += t.lost_ns[i][kind];
	return all;
}

static uint64_t at(uint64_t ns, unsigned kind)
{
	const uint64_t *slot = timeline_slot(&t, ns >> t.slots.log2);

	return slot ? slot[kind] : 0;
}

static void test_nothing(void **state)
{
	(void)state;
	assert_null(timeline_slot(&t, 0));
	add(5 * S, 0, 0, 0, 0);
	assert_null(timeline_slot(&t, 5 * S / LEAST));
}

static void test_kinds(void **state)
{
	(void)state;
	add(1000 * LEAST + 5, 100, 60, 30, 10);
	add(1000 * LEAST + 500, 50, 50, 0, 0);
	add(1003 * LEAST, 7, 0, 0, 7);
	assert_int_equal(t.slots.log2, SLOTS_LOG2_LEAST);
	assert_int_equal(at(1000 * LEAST, SOURCE_THREAD), 110);
	assert_int_equal(at(1000 * LEAST, TIMELINE_EDGE), 30);
	assert_int_equal(at(1000 * LEAST, SOURCE_OUTSIDE), 10);
	assert_int_equal(at(1003 * LEAST, SOURCE_OUTSIDE), 7);
	assert_null(timeline_slot(&t, 999));
	assert_null(timeline_slot(&t, 1000 + TIMELINE_SLOTS));
	assert_int_equal(timeline_slot(&t, 1000 + TIMELINE_SLOTS - 1)[SOURCE_THREAD], 0);
}

/* A long one is spread evenly, and nothing of it is lost to rounding. */
static void test_long_hiccup(void **state)
{
	uint64_t start = 77 * LEAST + LEAST / 2;

	(void)state;
	add(start, 10 * LEAST, 7 * LEAST + 1, 3 * LEAST - 4, 3);
	assert_int_equal(sum(SOURCE_THREAD), 7 * LEAST + 1);
	assert_int_equal(sum(TIMELINE_EDGE), 3 * LEAST - 4);
	assert_int_equal(sum(SOURCE_OUTSIDE), 3);
	assert_in_range(at(77 * LEAST, SOURCE_THREAD), 7 * LEAST / 20, 7 * LEAST / 20 + 1);
	for (unsigned i = 78; i < 87; i++)
		assert_in_range(at(i * LEAST, SOURCE_THREAD), 7 * LEAST / 10, 7 * LEAST / 10 + 1);
	assert_int_equal(at(88 * LEAST, SOURCE_THREAD), 0);
	assert_int_equal(t.slots.log2, SLOTS_LOG2_LEAST);
}

/* Longer than all slots together: they grow first, and no slot has more than its length. */
static void test_longer_than_all(void **state)
{
	(void)state;
	add(3 * S, MS, MS, 0, 0);
	add(4 * S, 100 * S, 100 * S, 0, 0);
	assert_int_equal(sum(SOURCE_THREAD), 100 * S + MS);
	for (unsigned i = 0; i < TIMELINE_SLOTS; i++)
		assert_true(t.lost_ns[i][SOURCE_THREAD] <= 1ULL << t.slots.log2);
	assert_true(100 * S >> t.slots.log2 >= TIMELINE_SLOTS / 2 - 2);
	add(4 * S + 1, 8000000 * S, 0, 8000000 * S, 0); /* three months */
	assert_int_equal(sum(TIMELINE_EDGE), 8000000 * S);
}

/* As the run gets longer, what came stays where it was. */
static void test_growing(void **state)
{
	uint64_t now = 123456789 * MS;

	(void)state;
	for (uint64_t i = 1; i <= 20000; i++) {
		add(now, i, i, 0, 0);
		now += MS * (1 + i % 7);
	}
	assert_int_equal(sum(SOURCE_THREAD), 20000ULL * 20001 / 2);
	now = 123456789 * MS;
	for (uint64_t i = 1, slot = 0, here = 0; i <= 20000;
	     i++) { /* the same again, slot by slot */
		if (now >> t.slots.log2 != slot) {
			assert_true(!slot ||
				    timeline_slot(&t, slot)[SOURCE_THREAD] <= here + 20000);
			assert_true(!slot ||
				    timeline_slot(&t, slot)[SOURCE_THREAD] + 20000 >= here);
			slot = now >> t.slots.log2;
			here = 0;
		}
		here += i;
		now += MS * (1 + i % 7);
	}
}

/* Rows in order, each with the time by kind of the hiccups that belong to it, and none lost. */
static void test_lengths(void **state)
{
	static const uint64_t durations[] = {92000, 300, 4800, 0, 4801, 1ULL << 63, 300, 5500, 7};
	uint64_t count = 0, net = 0, edge = 0, all = 0;
	struct lengths l = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]); i++) {
		uint64_t lost[TIMELINE_KINDS] = {
			[SOURCE_IRQ] = durations[i] / 2, [TIMELINE_EDGE] = i};

		lengths_add(&l, durations[i], lost);
		all += durations[i] / 2;
	}
	assert_int_equal(l.count, 9);
	assert_int_equal(l.n, 7); /* two of 300, 4800 with 4801 */
	for (const struct length_row *r = l.row; r < l.row + l.n; r++) {
		uint64_t in = 0;

		assert_true(r == l.row || lengths_from(r) >= lengths_to(r - 1));
		for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]); i++)
			in += durations[i] >= lengths_from(r) &&
			      (double)durations[i] < lengths_to(r);
		assert_int_equal(r->count, in);
		count += r->count;
		net += r->lost_ns[SOURCE_IRQ];
		edge += r->lost_ns[TIMELINE_EDGE];
	}
	assert_int_equal(count, 9);
	assert_true(net == all && edge == 36);
	lengths_free(&l);
	assert_int_equal(l.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_nothing, begin),
		cmocka_unit_test_setup(test_kinds, begin),
		cmocka_unit_test_setup(test_long_hiccup, begin),
		cmocka_unit_test_setup(test_growing, begin),
		cmocka_unit_test_setup(test_longer_than_all, begin),
		cmocka_unit_test(test_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
