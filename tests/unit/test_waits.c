/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of threads that wait: each has one place, no place has two, and one that ends its wait
 * leaves room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "state.h"

#include "wait.bpf.h"

#define SCHEDULERS 4
#define TURNS      200000

static struct wait_set sets[WAIT_SETS];
static __u64 lost; /* waits without a place */

static __always_inline struct wait_set *waits_at(__u32 index)
{
	assert_true(index < WAIT_SETS);
	return &sets[index];
}

/* A thread whose places are those of the first set. */
static __s32 tid_of(int n)
{
	return (n + 1) * WAIT_SETS;
}

static void test_places(void **state)
{
	struct wait *w[WAIT_WAYS];

	(void)state;
	for (int i = 0; i < WAIT_WAYS; i++) {
		assert_null(wait_of(tid_of(i)));
		w[i] = wait_new(tid_of(i), &lost);
		assert_non_null(w[i]);
		assert_null(wait_new(tid_of(i), &lost)); /* waits already */
		assert_ptr_equal(wait_of(tid_of(i)), w[i]);
	}
	assert_int_equal(lost, 0);
	assert_null(wait_new(tid_of(WAIT_WAYS), &lost)); /* no place */
	assert_int_equal(lost, 1);
	assert_non_null(wait_new(tid_of(0) + 1, &lost)); /* in another set */
	wait_end(w[1]);
	assert_null(wait_of(tid_of(1)));
	assert_ptr_equal(wait_of(tid_of(3)), w[3]);
	assert_ptr_equal(wait_new(tid_of(WAIT_WAYS), &lost), w[1]);
	assert_int_equal(lost, 1);
	memset(sets, 0, sizeof(sets));
}

/* Idle threads have tid 0, as free places have: they wait nowhere. */
static void test_idle(void **state)
{
	struct wait *w;

	(void)state;
	assert_null(wait_of(0));
	lost = 0;
	assert_null(wait_new(0, &lost));
	assert_int_equal(lost, 0);
	w = wait_new(tid_of(0), &lost);
	assert_non_null(w);
	assert_null(wait_of(0));
	wait_end(w);
	assert_null(wait_of(0)); /* nor in a place that was another's */
}

/* Runs threads of one scheduler; all have more threads than there are places. */
static void *schedule(void *arg)
{
	static _Atomic int at_once[WAIT_WAYS];
	__s32 first = *(int *)arg * 2;
	intptr_t wrong = 0, waited = 0;

	for (int i = 0; i < TURNS; i++) {
		__s32 tid = tid_of(first + i % 2);
		struct wait *w = wait_new(tid, &lost);

		if (!w)
			continue;
		waited++;
		wrong += atomic_fetch_add(&at_once[w - sets[0].wait], 1) || wait_of(tid) != w;
		w->since_ns = tid;
		wrong += w->since_ns != (__u64)tid;
		atomic_fetch_sub(&at_once[w - sets[0].wait], 1);
		wait_end(w);
	}
	return (void *)(wrong ? -1 : waited);
}

static void test_several(void **state)
{
	pthread_t thread[SCHEDULERS];
	int number[SCHEDULERS];
	uint64_t all = 0;

	(void)state;
	lost = 0;
	for (int i = 0; i < SCHEDULERS; i++) {
		number[i] = i;
		assert_int_equal(pthread_create(&thread[i], NULL, schedule, &number[i]), 0);
	}
	for (int i = 0; i < SCHEDULERS; i++) {
		void *waited;

		pthread_join(thread[i], &waited);
		assert_true((intptr_t)waited > 0);
		all += (intptr_t)waited;
	}
	/* each of a scheduler's threads ends its wait before the next turn */
	assert_int_equal(all + lost, SCHEDULERS * TURNS);
	for (int i = 0; i < WAIT_WAYS; i++)
		assert_int_equal(sets[0].wait[i].tid | sets[0].wait[i].inside, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_several),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
