/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/syscall.h"

#include <errno.h>
#include <linux/futex.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "collect/spin.h"

#define BATCH_NS   2000 /* wanted length of a batch of short calls */
#define BATCH_MAX  4096 /* most calls in a batch */
#define SINGLES    16   /* calls of a round that are timed one by one, of a short call */
#define BARE_NS    40000
#define TRIES      5
#define EMPTY      101
#define NO_SYSCALL 1000 /* beyond all tables of x86-64 and arm64 */

/* ---- the calls: n times; false: one of them failed ---- */

#define MAKER(name, good)                                                                          \
	static bool name(unsigned n)                                                               \
	{                                                                                          \
		bool bad = false;                                                                  \
		while (n--)                                                                        \
			bad |= !(good);                                                            \
		return !bad;                                                                       \
	}

static bool sleep_ns(long ns)
{
	struct timespec t = {0, ns};

	return !nanosleep(&t, NULL);
}

static bool read_clock(clockid_t clock)
{
	struct timespec t;

	return !clock_gettime(clock, &t);
}

static bool call_nothing_there(void)
{
	return syscall(NO_SYSCALL) == -1 &&
	       (errno == ENOSYS || errno == EPERM); /* EPERM: a container's filter refuses it */
}

static uint32_t nobody_waits;

MAKER(make_getuid, getuid() != (uid_t)-1)
MAKER(make_getpid, getpid() > 0)
MAKER(make_close, close(-1) == -1)
MAKER(make_invalid, call_nothing_there())
MAKER(make_yield, !sched_yield())
MAKER(make_realtime, read_clock(CLOCK_REALTIME))
MAKER(make_tai, read_clock(CLOCK_TAI))
MAKER(make_monotonic, read_clock(CLOCK_MONOTONIC))
MAKER(make_raw, read_clock(CLOCK_MONOTONIC_RAW))
MAKER(make_wake, !syscall(SYS_futex, &nobody_waits, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0))
MAKER(make_sleep_0, sleep_ns(0))
MAKER(make_sleep_1, sleep_ns(1))

static bool make_nothing(unsigned n)
{
	while (n--)
		__asm__ volatile("");
	return true;
}

static bool make_addition(unsigned n)
{
	unsigned long sum = 0;

	while (n--) {
		sum += 3;
		__asm__ volatile("" : "+r"(sum));
	}
	return true;
}

static bool make_sqrt(unsigned n)
{
	volatile double two = 2;
	double x = two, root = 0;

	while (n--) {
		root = sqrt(x);
		__asm__ volatile("" : : "m"(root) : "memory");
		x = two;
	}
	return root >= 0;
}

static bool make_assignment(unsigned n)
{
	unsigned long to = 0;

	while (n--) {
		to = n;
		__asm__ volatile("" : "+r"(to));
	}
	return true;
}

/* The square root of 1/x, as it is written in C: a division and a root. */
static bool make_sqrt_reciprocal(unsigned n)
{
	volatile double two = 2;
	double x = two, root = 0;

	while (n--) {
		root = sqrt(1 / x);
		__asm__ volatile("" : : "m"(root) : "memory");
		x = two;
	}
	return root >= 0;
}

static pthread_cond_t unheard = PTHREAD_COND_INITIALIZER;

MAKER(make_cond_signal, !pthread_cond_signal(&unheard))

static const struct {
	bool (*make)(unsigned n);
	bool slack; /* with the timer slack that culprit was started with, not the sampler's 1 ns */
} calls[SYSCALL_CALLS] = {
	{make_nothing, false},         {make_assignment, false},
	{make_addition, false},        {make_sqrt, false},
	{make_sqrt_reciprocal, false}, {make_getuid, false},
	{make_getpid, false},          {make_close, false},
	{make_invalid, false},         {make_yield, false},
	{make_cond_signal, false},     {make_wake, false},
	{make_realtime, false},        {make_tai, false},
	{make_monotonic, false},       {make_raw, false},
	{make_sleep_0, true},          {make_sleep_0, false},
	{make_sleep_1, false},
};

const char *const syscall_names[SYSCALL_CALLS + 1] = {
	"nothing",
	"assignment",
	"addition",
	"sqrt",
	"sqrt_reciprocal",
	"getuid",
	"getpid",
	"close_bad_fd",
	"invalid",
	"sched_yield",
	"cond_signal",
	"futex_wake",
	"clock_realtime",
	"clock_tai",
	"clock_monotonic",
	"clock_raw",
	"nanosleep_0",
	"nanosleep_0_slack1",
	"nanosleep_1_slack1",
	NULL,
};

/* ---- timing ---- */

struct timing {
	struct work *w;
	const struct syscall_options *o;
	/* Ticks of an empty batch: two readings, a call of the maker, its return. */
	uint64_t empty;
	unsigned batch[SYSCALL_CALLS]; /* number of calls, for each chosen call */
	unsigned bare[SYSCALL_CALLS];
};

static uint64_t now(const struct timing *t)
{
	return t->w->spin->counter ? counter_fenced() : now_ns();
}

static uint64_t ps(const struct timing *t, uint64_t ticks, unsigned calls_made)
{
	return ticks * t->w->ns_per_tick * 1000 / calls_made + 0.5;
}

/* Ticks of n calls of a maker. Fences on both sides: none of it runs before the first reading or
 * after the second. */
static int time_calls(const struct timing *t, bool (*volatile make)(unsigned n), unsigned n,
		      uint64_t *before, uint64_t *after)
{
	bool good;

	errno = 0;
	*before = now(t);
	good = make(n);
	*after = now(t);
	return good ? 0 : errno ? -errno : -EINVAL;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int median_of(const struct timing *t, bool (*make)(unsigned n), unsigned n, unsigned tries,
		     uint64_t *median)
{
	uint64_t ticks[EMPTY], before, after;

	for (unsigned i = 0; i < tries; i++) {
		int err = time_calls(t, make, n, &before, &after);

		if (err)
			return err;
		ticks[i] = after - before;
	}
	qsort(ticks, tries, sizeof(ticks[0]), by_value);
	*median = ticks[tries / 2];
	return 0;
}

/* Chooses how many calls make a batch, from a few calls that also warm up. */
static int size_batches(struct timing *t)
{
	int err = median_of(t, make_nothing, 0, EMPTY, &t->empty);

	for (uint32_t i = 0; i < t->o->ncalls && !err; i++) {
		unsigned n = 1;
		uint64_t ticks = 0;
		double ns;

		do {
			err = median_of(t, calls[t->o->call[i]].make, n, TRIES, &ticks);
			ns = ticks > t->empty ? (ticks - t->empty) * t->w->ns_per_tick / n : 0;
			t->batch[i] = n;
			n *= 2;
		} while (!err && ns * t->batch[i] < BATCH_NS / 2 && n <= BATCH_MAX);
		if (t->batch[i] > 1 && t->o->bare)
			t->bare[i] = t->batch[i] * (BARE_NS / BATCH_NS);
		if (err)
			work_failed(t->w, -err, syscall_names[t->o->call[i]]);
	}
	return err;
}

/* Times a batch, or one long call, as a value of its series; or the bare loop beside it, by the
 * plain clock. One function does both: the loop has the same place on the stack then. (A call of
 * some nanoseconds takes a tenth more or less with that place, as its own variables and the stack
 * share parts of their addresses or not.) */
static __attribute__((noinline)) int time_batch(const struct timing *t, uint32_t i, bool bare)
{
	cursors_t cursors = work_cursors(t->w);
	unsigned n = bare ? t->bare[i] : t->batch[i];
	uint64_t before_ns = bare ? now_ns() : 0, before, after, ticks;
	int err = time_calls(t, calls[t->o->call[i]].make, n, &before, &after);

	if (bare) {
		work_value(t->w, t->o->ncalls + i, after, (now_ns() - before_ns) * 1000 / n);
		return err;
	}
	ticks = after - before > t->empty ? after - before - t->empty : 0;
	work_value(t->w, i, after, ps(t, ticks, n));
	if (n == 1)
		work_outlier(t->w, i, before, after, cursors);
	return err;
}

static int time_singles(const struct timing *t, uint32_t i)
{
	unsigned n = t->batch[i] < SINGLES ? t->batch[i] : SINGLES;
	int err = 0;

	for (unsigned k = 0; k < n && !err; k++) {
		cursors_t cursors = work_cursors(t->w);
		uint64_t before, after;

		err = time_calls(t, calls[t->o->call[i]].make, 1, &before, &after);
		work_outlier(t->w, i, before, after, cursors);
	}
	return err;
}

static int time_one(const struct timing *t, uint32_t i)
{
	bool slack = calls[t->o->call[i]].slack;
	int err = 0;

	if (t->batch[i] > 1) /* first, so that the batch finds the caches warm */
		err = time_singles(t, i);
	if (slack)
		prctl(PR_SET_TIMERSLACK, 0); /* back to its value at the fork */
	if (!err)
		err = time_batch(t, i, false);
	if (slack)
		prctl(PR_SET_TIMERSLACK, 1);
	if (!err && t->bare[i])
		err = time_batch(t, i, true);
	return err ? work_failed(t->w, -err, syscall_names[t->o->call[i]]) : 0;
}

static int run(struct work *w)
{
	struct timing t = {.w = w, .o = w->options};
	int err = size_batches(&t);

	for (uint64_t n = 0;
	     !err && work_going(w) && (w->learning || !t.o->rounds || n < t.o->rounds); n++)
		for (uint32_t i = 0; i < t.o->ncalls && !err; i++)
			err = time_one(&t, i);
	return err;
}

const struct workload syscall_workload = {
	.name = "syscall",
	.series = syscall_names,
	.fine = true,
	.rest = "the call itself",
	.warm = 64, /* rounds */
	.run = run,
};
