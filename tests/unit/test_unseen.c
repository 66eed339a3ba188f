/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that leave the CPU without the tracepoint: the nest knows who came, and lets them have
 * the rest of the hiccup. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/nest.h"

static struct sources sources;
static struct nest *nest;

static int setup(void **state)
{
	(void)state;
	if (sources_init(&sources))
		return -1;
	nest = nest_new(&sources, (struct edge_bounds){100, 200}, NULL, false);
	return nest ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	nest_free(nest);
	sources_free(&sources);
	return 0;
}

static void take(uint8_t kind, uint8_t mark, uint32_t id, uint64_t start, uint64_t end)
{
	struct record r = {.kind = kind,
			   .mark = mark,
			   .id = id,
			   .start_ns = start,
			   .end_ns = end,
			   .name = "t"};

	r.level = kind == RECORD_VECTOR ? LEVEL_IRQ : LEVEL_THREAD;
	nest_take(nest, &r, 0, UINT64_MAX);
}

static uint64_t net_of_thread(const struct account *a, uint32_t tid)
{
	uint64_t net = 0;

	for (uint32_t i = 0; i < a->npieces; i++) {
		const struct source *s = sources.row[a->pieces[i].source];

		if (s->kind == SOURCE_THREAD && s->id == tid)
			net += a->pieces[i].net_ns;
	}
	return net;
}

static uint64_t unseen_of_thread(const struct account *a, uint32_t tid)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < a->npieces; i++) {
		const struct source *s = sources.row[a->pieces[i].source];

		if (s->kind == SOURCE_THREAD && s->id == tid)
			ns += a->pieces[i].unseen_ns;
	}
	return ns;
}

static void test_left_unseen(void **state)
{
	const struct account *a;
	unsigned out;

	(void)state;
	nest_open(nest);
	take(RECORD_MARK, MARK_THREAD, 75, 1100, 1100);
	take(RECORD_VECTOR, 0, VECTOR_LOCAL_TIMER, 2000, 2300);
	a = nest_close(nest, 1000, 5000, &out);
	assert_int_equal(out, 0);
	assert_int_equal(net_of_thread(a, 75), 3900 - 300); /* to the end, less the tick in it */
	assert_int_equal(a->attributed_ns, 3900);
	assert_int_equal(unseen_of_thread(a, 75), 3600); /* another may have come after it */
	assert_int_equal(a->edge_ns, 100);
	assert_int_equal(a->outside_ns, 0);
}

/* The usual case: its own record says how long it had the CPU, and the mark adds nothing. */
static void test_left_seen(void **state)
{
	const struct account *a;
	unsigned out;

	(void)state;
	nest_open(nest);
	take(RECORD_MARK, MARK_THREAD, 75, 1100, 1100);
	take(RECORD_THREAD, 0, 75, 1100, 1500);
	a = nest_close(nest, 1000, 1600, &out);
	assert_int_equal(net_of_thread(a, 75), 400);
	assert_int_equal(unseen_of_thread(a, 75), 0);
	assert_int_equal(a->intervals, 1);
	assert_int_equal(a->attributed_ns + a->edge_ns + a->outside_ns, 600);
}

/* One came, another was seen to leave: its own record says so, and only of that interval. Nobody
 * doubts the owner of an interrupt in it. */
static void test_another_left(void **state)
{
	struct record r = {.kind = RECORD_THREAD,
			   .flags = RECORD_UNSEEN,
			   .id = 76,
			   .start_ns = 1100,
			   .end_ns = 1500,
			   .name = "t"};
	const struct source *s;
	const struct account *a;
	unsigned out;

	(void)state;
	nest_open(nest);
	take(RECORD_MARK, MARK_THREAD, 75, 1100, 1100);
	take(RECORD_VECTOR, 0, VECTOR_LOCAL_TIMER, 1200, 1300);
	nest_take(nest, &r, 0, UINT64_MAX);
	take(RECORD_THREAD, 0, 76, 1600, 1700);
	a = nest_close(nest, 1000, 1800, &out);
	assert_int_equal(net_of_thread(a, 75), 0);
	assert_int_equal(net_of_thread(a, 76), 400);
	assert_int_equal(unseen_of_thread(a, 76), 300);
	s = sources.row[a->pieces[1].source];
	assert_int_equal(s->unseen.count, 1);
	assert_int_equal(s->unseen.ns, 300);
	s = sources.row[a->pieces[0].source];
	assert_int_equal(s->unseen.count + s->unseen.ns, 0);
}

/* The mark is forgotten with its hiccup. */
static void test_not_carried_over(void **state)
{
	const struct account *a;
	unsigned out;

	(void)state;
	nest_open(nest);
	take(RECORD_MARK, MARK_THREAD, 75, 1100, 1100);
	nest_close(nest, 1000, 1600, &out);
	nest_open(nest);
	a = nest_close(nest, 2000, 3000, &out);
	assert_int_equal(a->npieces, 0);
	assert_int_equal(a->outside_ns, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_left_unseen, setup, teardown),
		cmocka_unit_test_setup_teardown(test_left_seen, setup, teardown),
		cmocka_unit_test_setup_teardown(test_another_left, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_carried_over, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
