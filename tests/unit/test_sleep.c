/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sleep --kernel: what the sampler's thread takes of the runs that a timer of the kernel's has
 * left, and what it says of those that it came too late for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/now.h"
#include "base/units.h"
#include "collect/sleep.h"
#include "collect/spin.h"
#include "state.h"

#define INTERVAL_NS NSEC_PER_MSEC
#define LATE_NS     7000

enum { LATENCY, DELTA };

static struct cpu_state *state;
static struct sampler_shm *shm;
static struct samples *samples;

/* Plays the kernel's side: waits until the thread has begun, then all runs come at once. The first
 * one may have begun before the window, and is nobody's. */
static void *run_all(void *runs)
{
	const struct timespec nap = {0, 100000};
	const volatile uint64_t *count = &samples_series(samples)[LATENCY].hist.count;
	uint64_t n = *(const uint64_t *)runs, taken = (n < TICKS ? n : TICKS) - 1;
	uint64_t first = now_ns() - n * INTERVAL_NS;

	while (!__atomic_load_n(&state->tick_interval, __ATOMIC_ACQUIRE))
		nanosleep(&nap, NULL);
	for (uint64_t i = 0; i < n; i++) {
		struct tick *t = &state->tick[i % TICKS];

		t->due_ns = first + i * INTERVAL_NS;
		t->ran_ns = t->due_ns + LATE_NS;
	}
	__atomic_store_n(&state->ticks, n, __ATOMIC_RELEASE);
	while (*count < taken)
		nanosleep(&nap, NULL);
	atomic_store(&shm->stop, 1);
	return NULL;
}

static const struct series *after(uint64_t runs)
{
	const struct sleep_options options = {.interval_ns = INTERVAL_NS};
	const char *names[SLEEP_SERIES];
	struct workload workload = sleep_kernel_workload;
	struct spin spin = {.shm = shm, .cursors = (const cursors_t *)state->cursor};
	struct work work = {
		.spin = &spin, .workload = &workload, .options = &options, .ns_per_tick = 1};
	pthread_t kernel;

	sleep_series(&options, names);
	workload.series = names;
	samples = samples_new(&workload);
	assert_non_null(samples);
	work.series = samples_series(samples);
	work.cpu = sched_getcpu();
	memset(work.limit, 0xff, sizeof(work.limit));
	memset(state, 0, sizeof(*state));
	memset(shm, 0, sizeof(*shm));
	shm->anchor_min = UINT64_MAX / 8;
	assert_int_equal(pthread_create(&kernel, NULL, run_all, &runs), 0);
	assert_int_equal(workload.run(&work), 0);
	pthread_join(kernel, NULL);
	return work.series;
}

static void counts(void **unused)
{
	static const struct {
		uint64_t runs, unread;
	} cases[] = {{2, 0}, {TICKS, 0}, {TICKS + 1, 1}, {5 * TICKS + 3, 4 * TICKS + 3}};

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct series *s = after(cases[i].runs);
		uint64_t taken = cases[i].runs - 1 - cases[i].unread;

		assert_int_equal(shm->unread, cases[i].unread);
		assert_int_equal(s[LATENCY].hist.count, taken);
		assert_int_equal(s[LATENCY].hist.min, LATE_NS);
		assert_int_equal(s[LATENCY].hist.max, LATE_NS);
		/* from one that was taken to the next: not over those that were not */
		assert_int_equal(s[DELTA].hist.count, taken - 1);
		assert_int_equal(s[DELTA].hist.max, taken > 1 ? INTERVAL_NS : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(counts)};
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	sched_setaffinity(0, sizeof(here), &here);
	shm = aligned_alloc(64, sizeof(*shm));
	state = aligned_alloc(4096, sizeof(*state));
	return shm && state ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
