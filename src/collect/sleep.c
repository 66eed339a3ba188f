/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/sleep.h"

#include <errno.h>
#include <time.h>

#include "base/units.h"
#include "collect/counter.h"

#define WARM_INTERVAL_NS (10 * NSEC_PER_MSEC) /* while learning, at most */
/* Longest sleep without a check whether to stop. */
#define PATIENCE_NS (50 * NSEC_PER_MSEC)

enum { LATENCY, DELTA, LOADED }; /* LOADED: the same two again, under load */

static int sleep_until(uint64_t ns)
{
	struct timespec t = {ns / NSEC_PER_SEC, ns % NSEC_PER_SEC};

	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static int sleep_for(uint64_t ns)
{
	struct timespec t = {ns / NSEC_PER_SEC, ns % NSEC_PER_SEC};

	return clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

/* Sleeps in short steps until shortly before `due`, so Ctrl-C is noticed. False: stopped. */
static bool approach(struct work *w, uint64_t due)
{
	while (due > now_ns() + 2 * PATIENCE_NS) {
		sleep_for(PATIENCE_NS);
		if (!w->learning && !work_going(w))
			return false;
	}
	return true;
}

/* Series of this sleep; -1: none, the load is just starting. */
static int series_now(const struct work *w, uint64_t n)
{
	const struct sleep_options *o = w->options;
	int phase, not_yet = LOAD_NONE;

	if (!o->load || w->learning)
		return 0;
	if (o->samples && n >= o->samples / 2)
		atomic_compare_exchange_strong(&o->load->phase, &not_yet, LOAD_WANTED);
	phase = atomic_load_explicit(&o->load->phase, memory_order_relaxed);
	return phase == LOAD_WANTED ? -1 : phase == LOAD_NONE ? 0 : LOADED;
}

static void begin(struct work *w)
{
	const struct sleep_options *o = w->options;
	uint64_t not_yet = 0;

	if (o->load && !w->learning)
		atomic_compare_exchange_strong(&o->load->begun, &not_yet, now_ns());
}

/* Enters the values of a sleep. While learning, of both parts: one threshold holds for both. */
static void note(struct work *w, int series, uint64_t due, uint64_t now, uint64_t tick,
		 cursors_t cursors, uint64_t last)
{
	const struct sleep_options *o = w->options;

	for (int part = series; part <= series + (w->learning && o->load ? LOADED : 0);
	     part += LOADED) {
		work_window(w, part + LATENCY, now - due, work_tick_of(w, due, tick, now), tick,
			    cursors);
		if (last)
			work_value(w, part + DELTA, now - last);
	}
}

static int run(struct work *w)
{
	const struct sleep_options *o = w->options;
	uint64_t interval = w->learning && o->interval_ns > WARM_INTERVAL_NS ? WARM_INTERVAL_NS
									     : o->interval_ns;
	uint64_t due = now_ns() + interval, last = 0;

	begin(w);
	for (uint64_t n = 0; work_going(w) && (w->learning || !o->samples || n < o->samples);) {
		uint64_t now, tick;
		cursors_t cursors;
		int err, series = series_now(w, n);

		if (!approach(w, due))
			break;
		cursors = work_cursors(w);
		now = now_ns();
		/* A relative call asks for the rest of the interval, and counts from its own
		 * begin. */
		if (o->relative && due > now) {
			due = n ? now + interval : due;
			err = sleep_for(due - now);
		} else {
			err = sleep_until(due);
		}
		tick = work_tick(w);
		now = now_ns();
		if (err)
			return work_failed(w, err, "clock_nanosleep");
		if (series >= 0) {
			note(w, series, due, now, tick, cursors, last);
			n++;
		}
		last = series >= 0 ? now : 0;
		due += interval;
		if (due <=
		    now) /* counts a sleep through whole intervals as one late wake-up, not many */
			due = now + interval;
	}
	return 0;
}

#define REST "timer late, or exit from idle"

const struct workload sleep_loaded_workload = {
	.name = "sleep",
	.series = (const char *const[]){"latency", "delta", "latency under load",
					"delta under load", NULL},
	.rest = REST,
	.warm = 64,
	.run = run,
};

const struct workload sleep_workload = {
	.name = "sleep",
	.series = (const char *const[]){"latency", "delta", NULL},
	.rest = REST,
	.warm = 64,
	.run = run,
};
