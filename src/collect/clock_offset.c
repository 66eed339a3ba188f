/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Offset between the counters of two CPUs: a thread on each, and two cache lines. Each in turn
 * waits for the other's message, reads its counter and passes the reading on. So every reading
 * comes after the one that it answers and before its own answer, and each message is a question and
 * an answer.
 *
 * The other thread may get its CPU late or never, because a thread of higher priority may hold it:
 * all waits end.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/cpus.h"
#include "base/units.h"
#include "collect/clock.h"
#include "collect/counter.h"

#define MESSAGES 20000                 /* number from each thread, at most */
#define TALK_NS  (100 * NSEC_PER_MSEC) /* for all messages */
#define WAIT_NS  NSEC_PER_SEC          /* until the other thread appears or answers */
#define LOOK     1024                  /* spins between looks at the clock */
#define NAP_NS   100000
#define TOO_LATE "a thread there was not given its CPU for a second"

struct talker {
	_Alignas(64) _Atomic uint64_t said; /* messages so far */
	uint64_t tick;                      /* the newest one */
	_Alignas(64) struct clock_way way;
};

struct talk {
	struct talker side[2]; /* the reference, which begins, and the other CPU */
	_Alignas(64) _Atomic int here, refused, over;
	unsigned cpu; /* the other one */
	const volatile int *stop;
};

/* Waits for a message. False: there will be none by then. */
static bool await_message(struct talk *t, const struct talker *from, uint64_t number,
			  uint64_t deadline)
{
	for (unsigned i = 1;; i++) {
		if (atomic_load_explicit(&from->said, memory_order_acquire) >= number)
			return true;
		if (i % LOOK)
			continue;
		if (atomic_load(&t->over) || *t->stop || now_ns() > deadline)
			return false;
	}
}

static void converse(struct talk *t, int me)
{
	struct talker *mine = &t->side[me], *theirs = &t->side[!me];
	/* A CPU that real-time threads hold may answer in the 50 ms of a second that they leave:
	 * each message is waited for, but all of them no longer than this. */
	uint64_t begin = now_ns(), end = begin + TALK_NS, latest = end + WAIT_NS;

	for (uint64_t n = 1; n <= MESSAGES; n++) {
		uint64_t now, last = mine->tick;

		if (!await_message(t, theirs, me ? n : n - 1, latest))
			break;
		now = counter_fenced();
		if (n > 1)
			clock_way_add(&mine->way, last, theirs->tick, now);
		mine->tick = now;
		atomic_store_explicit(&mine->said, n, memory_order_release);
		if (n % LOOK == 0 && now_ns() > end)
			break;
	}
	atomic_store(&t->over, 1);
}

static void *other_side(void *arg)
{
	struct talk *t = arg;

	if (cpus_run_on_one(t->cpu)) {
		atomic_store(&t->refused, 1);
		return NULL;
	}
	atomic_store(&t->here, 1);
	converse(t, 1);
	return NULL;
}

static bool await_here(const struct talk *t)
{
	uint64_t deadline = now_ns() + WAIT_NS;

	while (!atomic_load(&t->here) && !atomic_load(&t->refused) && !*t->stop &&
	       now_ns() < deadline)
		nanosleep(&(struct timespec){0, NAP_NS}, NULL);
	return atomic_load(&t->here);
}

static void keep(struct clock_offset *offset, const struct talk *t, double ns_per_tick)
{
	offset->way[0] = t->side[0].way;
	offset->way[1] = t->side[1].way;
	if (offset->way[0].count && offset->way[1].count)
		clock_offset_solve(offset, ns_per_tick);
	else
		offset->failed = *t->stop ? "ended early" : TOO_LATE;
}

void clock_measure_offset(struct clock_offset *offset, double ns_per_tick, const volatile int *stop)
{
	struct talk *t = aligned_alloc(64, sizeof(*t));
	struct timespec until;
	pthread_t thread;

	if (!t) {
		offset->failed = "out of memory";
		return;
	}
	*t = (struct talk){.stop = stop, .cpu = offset->cpu};
	if (pthread_create(&thread, NULL, other_side, t)) {
		offset->failed = "no thread can be started";
		free(t);
		return;
	}
	if (await_here(t))
		converse(t, 0);
	atomic_store(&t->over, 1);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	if (pthread_timedjoin_np(thread, NULL, &until)) {
		offset->failed = TOO_LATE; /* the thread keeps its memory */
		return;
	}
	if (atomic_load(&t->refused))
		offset->failed = "this process may not run there";
	else
		keep(offset, t, ns_per_tick);
	free(t);
}
