/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that the programs of culprit watch share without a lock: places of waits, since when the
 * thread on a CPU is in somebody's way and until when, and the chosen cgroups. The real code runs
 * through all orders that ARMv8 permits (order.h): nothing wrong is ever seen. Without any one of
 * the barriers something is.
 *
 * What a wait's place holds needs none beside: one thread's events follow each other under the
 * kernel's run queue locks, whatever CPU they are on. So do a group's quota and its queue. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "order_hold.h"
#include "order_watch.h"
#include "wait.bpf.h"

/* Constant for the programs. */
volatile int summing = SUMS_ALONE, watch_comms;

#define OLD   0x1111111111111111ULL /* no byte of one of these is the other's */
#define NEW   0x2222222222222222ULL
#define FIRST 0x1000 /* threads whose places are those of the one set */
#define OTHER 0x2000

static __always_inline struct wait_set *waits_at(__u32 index)
{
	return &order_waits + index;
}

/* ---- places of waits ---- */

static struct wait *const place = &order_waits.wait[WAIT_WAYS - 1];
static struct wait *got;
static __s32 whose;
static __u64 since_ns;

/* One place is free, the last. */
static void reset_places(void)
{
	memset(&order_waits, 0, sizeof(order_waits));
	for (int i = 0; i < WAIT_WAYS - 1; i++)
		order_waits.wait[i].tid = 1 + i;
	got = NULL;
}

static void other_waits(void)
{
	order_wait(OTHER, NEW);
}

static void first_waits(void)
{
	got = order_wait(FIRST, OLD);
	if (got)
		whose = order_whose(got);
}

static bool is_not_its_own(void)
{
	return got && whose != FIRST;
}

/* Two threads begin to wait at once: the place is one's. */
static void test_a_free_place(void **unused)
{
	struct order_place *inside;

	(void)unused;
	order_begin(&order_state.own.fence, reset_places, other_waits, first_waits, is_not_its_own);
	order_place(&place->tid, sizeof(place->tid), BOTH);
	inside = order_place(&place->inside, sizeof(place->inside), BOTH);
	order_hold();
	order_fails_without(inside, WRITER, 1);
	order_fails_without(inside, WRITER, 2);
}

static void reset_wait(void)
{
	reset_places();
	place->tid = FIRST;
	place->since_ns = OLD;
}

static void first_comes(void)
{
	since_ns = order_comes(FIRST);
}

static bool is_others(void)
{
	return since_ns && since_ns != OLD;
}

/* A wait is over, and the next one has its place: nothing of that is taken for it. */
static void test_a_place_that_gets_free(void **unused)
{
	struct order_place *tid;

	(void)unused;
	order_begin(&order_state.own.fence, reset_wait, other_waits, first_comes, is_others);
	tid = order_place(&place->tid, sizeof(place->tid), BOTH);
	tid->blind = true;
	order_place(&place->inside, sizeof(place->inside), WRITER);
	order_data(&place->since_ns, &place->here_ns, OLD);
	order_hold();
	order_fails_without(tid, READER, 0);
}

/* ---- who is in the way ---- */

#define HERE  40 /* the thread that runs on the target, which nobody watches */
#define NEXT  41
#define BEGAN 0x800
#define LEFT  0x1000
#define AGAIN 0x1800
#define NOW   0x2000

static void reset_here(void)
{
	memset(&order_state, 0, offsetof(struct cpu_state, ring));
	memset(order_sums, 0, sizeof(order_sums));
	order_state.own.seen = 1;
	order_state.thread.id = HERE;
	order_clock = NOW;
}

/* For how long threads were in the way, in all. */
static __u64 taken_ns(void)
{
	__u64 ns = 0;

	for (int i = 0; i < SUM_ROWS; i++)
		ns += order_sums[i].net_ns;
	return ns;
}

static void somebody_waits(void)
{
	order_waits_here(BEGAN);
}

static void here_leaves(void)
{
	order_switch(HERE, NEXT);
}

/* The switch has seen that somebody waits. */
static bool is_not_since_then(void)
{
	return order_state.thread.start_ns == NOW && taken_ns() != NOW - BEGAN;
}

/* Another CPU lets a thread wait here: who runs here is in its way from then on. */
static void test_in_the_way(void **unused)
{
	(void)unused;
	order_begin(&order_state.own.fence, reset_here, somebody_waits, here_leaves,
		    is_not_since_then);
	order_place(&order_state.active, sizeof(order_state.active), WRITER);
	order_place(&order_state.thread.start_ns, 8, BOTH);
	order_hold();
	order_fails_without(order_fence, WRITER, 0);
	order_fails_without(order_fence, READER, 1);
}

static void reset_waited_for(void)
{
	reset_here();
	order_state.active = 1;
	order_state.thread.start_ns = BEGAN;
}

static void nobody_waits(void)
{
	order_goes_elsewhere(LEFT);
}

static bool is_not_until_then(void)
{
	return taken_ns() != LEFT - BEGAN && taken_ns() != NOW - BEGAN;
}

/* Another CPU takes the last one that waits here: who runs here was in its way until then. */
static void test_in_the_way_no_more(void **unused)
{
	(void)unused;
	order_begin(&order_state.own.fence, reset_waited_for, nobody_waits, here_leaves,
		    is_not_until_then);
	order_place(&order_state.active, sizeof(order_state.active), WRITER);
	order_place(&order_state.own.sums.left_ns, 8, WRITER);
	order_hold();
	order_fails_without(order_fence, WRITER, 0);
	order_fails_without(order_fence, READER, 1);
}

static void somebody_waits_again(void)
{
	order_waits_here(AGAIN);
}

static bool is_no_gap(void)
{
	__u64 gap = order_state.own.sums.open[SUM_THREAD].gap_ns;

	return gap && gap != AGAIN - LEFT;
}

/* A third lets one wait here again: in between nobody did. */
static void test_in_the_way_again(void **unused)
{
	struct order_place *active;

	(void)unused;
	order_begin(&order_state.own.fence, reset_waited_for, nobody_waits, somebody_waits_again,
		    is_no_gap);
	active = order_place(&order_state.active, sizeof(order_state.active), BOTH);
	active->blind = true;
	active->most = 2;
	order_place(&order_state.own.sums.left_ns, 8, WRITER);
	order_hold();
	order_fails_without(order_fence, WRITER, 0);
	order_fails_without(order_fence, READER, 1);
}

/* ---- chosen cgroups ---- */

static void reset_groups(void)
{
	memset((void *)watch_group, 0, sizeof(watch_group));
	watch_groups_epoch = order_found = 0;
}

static void choose_group(void)
{
	order_choose((const __u64[CHOICE_GROUPS]){NEW});
}

static void look_for_group(void)
{
	order_look(NEW);
}

static bool is_missed(void)
{
	return order_found == 1 << 1;
}

/* A cgroup is looked for among the new ones as soon as it is looked for again. */
static void test_chosen_groups(void **unused)
{
	struct order_place *epoch;

	(void)unused;
	order_begin((uint32_t *)&watch_groups_fence, reset_groups, choose_group, look_for_group,
		    is_missed);
	epoch = order_place((void *)&watch_groups_epoch, sizeof(watch_groups_epoch), WRITER);
	order_data((void *)watch_group, (void *)(watch_group + 1), NEW);
	order_hold();
	order_fails_without(epoch, WRITER, 0);
	order_fails_without(order_fence, READER, 0);
}

#define NOBODY 99

static void switch_at(uint64_t now, int prev, int next)
{
	order_clock = now;
	order_switch(prev, next);
}

static void softirq_at(uint64_t now, unsigned vec, bool begins)
{
	order_clock = now;
	order_softirq(vec, begins);
}

/* At 1000 ns, where somebody waits. */
static void thread_1_comes(void)
{
	memset(&order_state, 0, sizeof(order_state));
	memset(order_sums, 0, sizeof(order_sums));
	order_state.active = order_state.own.seen = 1;
	switch_at(1000, NOBODY, 1);
}

/* The sum of a softirq, ns. */
static uint64_t softirq_ns(unsigned vec, uint64_t *count)
{
	uint64_t ns = 0;

	for (int i = 0; i < SUM_ROWS; i++)
		if ((order_sums[i].what & SUM_KIND) == RECORD_SOFTIRQ && order_sums[i].id == vec) {
			ns += order_sums[i].net_ns;
			*count += order_sums[i].count;
		}
	return ns;
}

/* PREEMPT_RT, from when softirqs of several threads may be open on one CPU: each has its own time,
 * also where the switch goes from the one right to the other. */
static void test_softirqs_of_two_threads(void **unused)
{
	uint64_t timers = 0, packets = 0;

	(void)unused;
	thread_1_comes();
	order_softirq(1, true);
	switch_at(1100, 1, 2); /* 100 ns */
	order_softirq(3, true);
	switch_at(1130, 2, 1);      /* 30 ns */
	softirq_at(1150, 1, false); /* 20 ns */
	switch_at(1200, 1, 2);
	softirq_at(1207, 3, false); /* 7 ns */
	assert_int_equal(order_state.unpaired, 0);
	assert_int_equal(softirq_ns(1, &timers), 120);
	assert_int_equal(softirq_ns(3, &packets), 37);
	assert_int_equal(timers, 1);
	assert_int_equal(packets, 1);
}

/* Nobody watched is here any more when a softirq ends, so nobody sees that. */
static void test_softirq_that_ends_unseen(void **unused)
{
	uint64_t count = 0;

	(void)unused;
	thread_1_comes();
	softirq_at(1100, 3, true);
	order_goes_elsewhere(1150);
	softirq_at(1200, 3, false);
	order_waits_here(1000000);
	switch_at(1000010, 1, 2);
	switch_at(1000020, 2, 1);
	switch_at(1500000, 1, 2);
	assert_int_equal(softirq_ns(3, &count), 0);
	assert_int_equal(count, 0);
}

/* PREEMPT_RT: a softirq that is put aside with its thread ends after the thread has come back where
 * nobody was watched. unseen: nobody is when it comes back; else when it ends there. */
static void put_aside(bool unseen)
{
	uint64_t count = 0;

	thread_1_comes();
	softirq_at(1100, 3, true);
	switch_at(1150, 1, 2); /* 50 ns */
	if (unseen)
		order_goes_elsewhere(1200);
	switch_at(1300, 2, 1);
	if (!unseen)
		order_goes_elsewhere(1350);
	softirq_at(1400, 3, false);
	switch_at(1500, 1, 2);
	order_waits_here(1000000);
	switch_at(1000010, 2, 1);
	switch_at(1500000, 1, 2);
	assert_int_equal(softirq_ns(3, &count), 50);
	softirq_at(1500010, 1, true); /* a whole one is as ever */
	softirq_at(1500020, 1, false);
	assert_int_equal(softirq_ns(1, &count), 10);
}

static void test_softirq_put_aside_unseen(void **unused)
{
	(void)unused;
	put_aside(true);
	put_aside(false);
}

/* Some kernels hide threads from the tracepoint, and with them the arrival of who comes after one:
 * a thread that waited and leaves ends its wait all the same. */
static void test_comes_unseen(void **unused)
{
	(void)unused;
	for (int waited = 0; waited < 2; waited++) {
		memset(&order_state, 0, sizeof(order_state));
		memset(&order_waits, 0, sizeof(order_waits));
		order_state.own.seen = 1;
		if (waited) {
			order_wait(ORDER_WATCHED, BEGAN);
			order_waits_here(BEGAN);
		}
		assert_int_equal(order_state.active, waited);
		order_clock = NOW;
		order_sleeps(ORDER_WATCHED, NOBODY);
		assert_int_equal(order_state.active, 0);
		assert_int_equal(order_comes(ORDER_WATCHED), 0);
	}
}

/* ---- since when a thread waits ---- */

static void reset_records(void)
{
	memset(&order_state, 0, sizeof(order_state));
	memset(&order_other, 0, sizeof(order_other));
	memset(&order_waits, 0, sizeof(order_waits));
	order_state.own.seen = 1;
	summing = SUMS_BESIDE;
}

static void clock_is(uint64_t now)
{
	order_clock = now;
}

/* The watched thread comes 100 ns after it was woken, and goes to sleep again. The record of its
 * coming is of this kind, and begins then. */
static void comes_since(int mark, uint64_t start_ns)
{
	const struct record *came = NULL;
	uint32_t before = order_state.own.place[LEVEL_THREAD];

	clock_is(order_clock + 100);
	order_switch(NOBODY, ORDER_WATCHED);
	for (uint32_t i = before; i < order_state.own.place[LEVEL_THREAD];) {
		const struct record *r = (void *)&order_state.ring[i];

		if (r->kind == RECORD_WATCH && r->end_ns == order_clock)
			came = r;
		i += r->level & RECORD_WIDE ? 2 : 1;
	}
	assert_non_null(came);
	assert_int_equal(came->mark, mark);
	assert_int_equal(came->start_ns, start_ns);
	clock_is(order_clock + 100);
	order_sleeps(ORDER_WATCHED, NOBODY);
}

/* A clock is set, or the machine sleeps: timers that are late by that alone were not due before,
 * which is not known until another one follows. */
static void test_clock_is_set(void **unused)
{
	enum { AHEAD = 1000000 };

	(void)unused;
	reset_records();
	clock_is(5000);
	order_timer_wakes(1, 4900 + AHEAD, AHEAD);
	comes_since(WATCH_IN_WOKEN, 5000); /* set just now, for all that is known */
	clock_is(6000);
	order_timer_wakes(1, 5900 + AHEAD, AHEAD);
	comes_since(WATCH_IN_DUE, 5900);
	clock_is(7000);
	order_timer_wakes(1, 7500 + AHEAD, AHEAD + 1000);
	comes_since(WATCH_IN_WOKEN, 7000);
	clock_is(8000);
	order_timer_wakes(0, 7900, 0); /* CLOCK_MONOTONIC */
	comes_since(WATCH_IN_DUE, 7900);
	clock_is(9000);
	order_timer_wakes(1, 8900 + AHEAD + 1000, AHEAD + 1000);
	comes_since(WATCH_IN_DUE, 8900);
	clock_is(10000);
	order_timer_wakes(1, 9900 + AHEAD, AHEAD); /* set back */
	comes_since(WATCH_IN_WOKEN, 10000);
	summing = SUMS_ALONE;
}

/* A thread that is new has nothing of a dead one of its number, and this leaves nothing. */
static void test_number_used_again(void **unused)
{
	(void)unused;
	reset_records();
	clock_is(5000);
	order_timer_wakes(0, 4900, 0);
	comes_since(WATCH_IN_DUE, 4900);
	assert_non_null(order_due());
	clock_is(6000);
	order_begins_to_live();
	comes_since(WATCH_IN_WOKEN, 6000);
	clock_is(7000);
	order_timer_wakes(0, 6900, 0);
	clock_is(7100);
	order_switch(NOBODY, ORDER_WATCHED);
	assert_non_null(order_due());
	order_dies(ORDER_WATCHED, NOBODY);
	assert_null(order_due());
	summing = SUMS_ALONE;
}

/* A process that is watched by its name is forgotten as it ends, which takes a while: its thread
 * may sleep or make way until it is gone, and leaves its CPU like any other. */
static void test_ends_slowly(void **unused)
{
	(void)unused;
	for (unsigned int state = 0; state < 2; state++) {
		const struct record *left;

		reset_records();
		watch_comms = 1;
		order_named = HERE;
		clock_is(1000);
		order_switch(NOBODY, HERE);
		assert_int_equal(order_state.active, 1);
		order_named = 0;
		clock_is(2000);
		left = (void *)&order_state.ring[order_state.own.place[LEVEL_THREAD]];
		order_ends(HERE, NOBODY, state);
		assert_int_equal(left->kind, RECORD_WATCH);
		assert_int_equal(left->mark, WATCH_OUT);
		assert_int_equal(left->start_ns, 1000);
		assert_int_equal(left->end_ns, 2000);
		assert_int_equal(order_state.active, !state);
		order_switch(NOBODY, HERE);
		assert_int_equal(order_state.active, 0);
		order_dies(HERE, NOBODY);
		assert_int_equal(order_state.active, 0);
	}
	summing = SUMS_ALONE;
	watch_comms = 0;
}

/* NUMA: the kernel looks for a place near where the sleeper was to go, and finds the one where it
 * was: it waits there. */
static void test_waits_where_it_is(void **unused)
{
	(void)unused;
	reset_records();
	order_wakes(0, 1);
	assert_int_equal(order_state.active, 1);
	assert_int_equal(order_other.active, 0);
	reset_records();
	order_wakes(1, 0);
	assert_int_equal(order_state.active, 0);
	assert_int_equal(order_other.active, 1);
	summing = SUMS_ALONE;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_comes_unseen),
					   cmocka_unit_test(test_softirqs_of_two_threads),
					   cmocka_unit_test(test_softirq_that_ends_unseen),
					   cmocka_unit_test(test_softirq_put_aside_unseen),
					   cmocka_unit_test(test_clock_is_set),
					   cmocka_unit_test(test_number_used_again),
					   cmocka_unit_test(test_ends_slowly),
					   cmocka_unit_test(test_waits_where_it_is),
					   cmocka_unit_test(test_a_free_place),
					   cmocka_unit_test(test_a_place_that_gets_free),
					   cmocka_unit_test(test_in_the_way),
					   cmocka_unit_test(test_in_the_way_no_more),
					   cmocka_unit_test(test_in_the_way_again),
					   cmocka_unit_test(test_chosen_groups)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
