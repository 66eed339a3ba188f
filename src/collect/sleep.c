/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/sleep.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "collect/counter.h"
#include "collect/spin.h"

#define WARM_INTERVAL_NS (10 * NSEC_PER_MSEC) /* while learning, at most */
/* Longest sleep without a check whether to stop. */
#define PATIENCE_NS (50 * NSEC_PER_MSEC)

/* The parts of a latency: until its timer ran, from there until its thread had the CPU, and from
 * there until it ran on. */
enum part { LATENCY, DELTA, TIMER, WAKE, SWITCH, PARTS };

uint32_t sleep_series(const struct sleep_options *o, const char *names[SLEEP_SERIES])
{
	static const char *const all[2][PARTS] = {
		{"latency", "delta", "timer late", "wake late", "switch late"},
		{"latency under load", "delta under load", "timer late under load",
		 "wake late under load", "switch late under load"}};
	uint32_t n = 0;

	for (int load = 0; load <= !!o->load; load++)
		for (int part = 0; part < (o->split ? PARTS : TIMER); part++)
			names[n++] = all[load][part];
	names[n] = NULL;
	return n;
}

/* Distance to the series under load. */
static int to_loaded(const struct sleep_options *o)
{
	return o->split ? PARTS : TIMER;
}

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
	return phase == LOAD_WANTED ? -1 : phase == LOAD_NONE ? 0 : to_loaded(o);
}

static void begin(struct work *w)
{
	const struct sleep_options *o = w->options;
	uint64_t not_yet = 0;

	if (o->load && !w->learning)
		atomic_compare_exchange_strong(&o->load->begun, &not_yet, now_ns());
}

/* A sleep that has ended: due and over, ns, and the tick and the sequences around it. */
struct slept {
	uint64_t called, due, now, last, tick;
	cursors_t cursors;
};

/* Enters the parts of a latency. A clock that is read elsewhere may be behind: no timer runs before
 * it is due. */
static void note_parts(struct work *w, int series, const struct slept *s)
{
	uint64_t timer, came;

	if (!work_woken(w, s->called, &timer, &came) || came > s->now)
		return;
	timer = timer < s->due ? s->due : timer;
	came = came < timer ? timer : came;
	work_value(w, series + TIMER, s->tick, timer - s->due);
	work_value(w, series + WAKE, s->tick, came - timer);
	work_value(w, series + SWITCH, s->tick, s->now - came);
}

/* Enters the values of a sleep. While learning, of both parts: one threshold holds for both. */
static void note(struct work *w, int series, const struct slept *s)
{
	const struct sleep_options *o = w->options;
	int last = series + (w->learning && o->load ? to_loaded(o) : 0);

	for (int at = series; at <= last; at += to_loaded(o)) {
		work_window(w, at + LATENCY, s->now - s->due,
			    work_tick_of(w, s->due, s->tick, s->now), s->tick, s->cursors);
		if (s->last)
			work_value(w, at + DELTA, s->tick, s->now - s->last);
		if (o->split)
			note_parts(w, at, s);
	}
}

static int run(struct work *w)
{
	const struct sleep_options *o = w->options;
	uint64_t interval = w->learning && o->interval_ns > WARM_INTERVAL_NS ? WARM_INTERVAL_NS
									     : o->interval_ns;
	struct slept s = {.due = now_ns() + interval};

	begin(w);
	for (uint64_t n = 0; work_going(w) && (w->learning || !o->samples || n < o->samples);) {
		int err, series = series_now(w, n);

		if (o->relative) /* counts from when it is called, not from when it was due */
			s.due = now_ns() + interval;
		if (!approach(w, s.due))
			break;
		s.cursors = work_cursors(w);
		s.called = now_ns();
		/* A relative call asks for what approach() left of the interval. */
		err = o->relative && s.due > s.called ? sleep_for(s.due - s.called)
						      : sleep_until(s.due);
		s.tick = work_tick(w);
		s.now = now_ns();
		if (err)
			return work_failed(w, err, "clock_nanosleep");
		if (series >= 0) {
			note(w, series, &s);
			n++;
		}
		s.last = series >= 0 ? s.now : 0;
		s.due += interval;
		if (s.due <= s.now) /* counts a sleep through whole intervals as one late wake-up,
				       not many */
			s.due = s.now + interval;
	}
	return 0;
}

/* ---- the kernel's timer ---- */

#define RATE_NS  (100 * NSEC_PER_MSEC) /* from then on a rate is exact to 1e-6 */
#define VISIT_NS (40 * NSEC_PER_MSEC)  /* between two visits, where the runs are closer together */

static cursors_t cursors_in(const __u32 *level)
{
	cursors_t c;

	memcpy(&c, level, sizeof(c));
	return c;
}

/* A reading of both clocks, and the first one. */
struct anchors {
	uint64_t tick, ns, first_tick, first_ns;
};

/* Reads them anew. Runs of some ms ago are converted, so the counter's rate must be better known
 * than from learning: from all the time since the first reading. */
static void read_anchors(struct work *w, struct anchors *a)
{
	read_anchor(w->spin->shm, w->spin->counter, &a->tick, &a->ns);
	if (!a->first_ns) {
		a->first_tick = a->tick;
		a->first_ns = a->ns;
	}
	if (a->ns > a->first_ns + RATE_NS)
		w->ns_per_tick = (double)(a->ns - a->first_ns) / (a->tick - a->first_tick);
}

/* Enters a run; last_ns: when the one before it came, 0: there is none. */
static void note_tick(struct work *w, int series, const struct anchors *a, const struct tick *t,
		      uint64_t last_ns)
{
	const struct sleep_options *o = w->options;
	int last = series + (w->learning && o->load ? to_loaded(o) : 0);
	uint64_t ran = work_tick_of(w, t->ran_ns, a->tick, a->ns);

	for (int at = series; at <= last; at += to_loaded(o)) {
		work_past(w, at + LATENCY, t->ran_ns > t->due_ns ? t->ran_ns - t->due_ns : 0,
			  work_tick_of(w, t->due_ns, a->tick, a->ns), ran, cursors_in(t->before),
			  cursors_in(t->after));
		if (last_ns)
			work_value(w, at + DELTA, ran, t->ran_ns - last_ns);
	}
}

/* Sleeps until runs are to be seen: as many as lie within VISIT_NS, and one at least. The visit is
 * between two of them. */
static int await_ticks(struct work *w, uint64_t due, uint64_t interval)
{
	uint64_t some = VISIT_NS / interval < TICKS / 4 ? VISIT_NS / interval : TICKS / 4;

	due += (some ? some : 1) * interval;
	if (!approach(w, due))
		return 0;
	return sleep_until(due + (interval / 2 < NSEC_PER_MSEC ? interval / 2 : NSEC_PER_MSEC));
}

/* Takes the run of that number, which is over. False: it is written over, or is being so, because
 * this thread came late. */
static bool take_tick(const volatile struct cpu_state *c, uint64_t at, struct tick *t)
{
	memcpy(t, (const void *)&c->tick[at % TICKS], sizeof(*t));
	atomic_thread_fence(memory_order_acquire);
	return c->ticks - at < TICKS;
}

/* The oldest run that is still there; those before it, from `at` on, count as not read. */
static uint64_t skip_lost(const struct work *w, const volatile struct cpu_state *c, uint64_t at)
{
	uint64_t oldest = c->ticks - TICKS + 1;

	if (!w->learning)
		w->spin->shm->unread += oldest - at;
	return oldest;
}

/* The runs come by themselves; this thread, beside them, only takes what they left. */
static int run_ticks(struct work *w)
{
	const struct sleep_options *o = w->options;
	volatile struct cpu_state *c = work_state(w);
	uint64_t interval = w->learning && o->interval_ns > WARM_INTERVAL_NS ? WARM_INTERVAL_NS
									     : o->interval_ns;
	uint64_t at = c->ticks + 1, last = 0, due = now_ns(), n = 0;
	struct anchors anchors = {0};
	int err = 0;

	begin(w);
	c->tick_interval = interval;
	while (!err && (w->learning || !o->samples || n < o->samples)) {
		read_anchors(w, &anchors);
		while (at < c->ticks && (w->learning || !o->samples || n < o->samples)) {
			int series = series_now(w, n);
			struct tick t;

			if (!work_going(w))
				return 0;
			if (!take_tick(c, at, &t)) {
				at = skip_lost(w, c, at);
				last = 0; /* the next one follows a run that nobody has seen */
				continue;
			}
			at++;
			due = t.due_ns;
			if (series >= 0) {
				note_tick(w, series, &anchors, &t, last);
				n++;
			}
			last = series >= 0 ? t.ran_ns : 0;
		}
		if (!w->learning && work_stopped(w))
			break;
		err = await_ticks(w, due > now_ns() ? due : now_ns(), interval);
	}
	return err ? work_failed(w, err, "clock_nanosleep") : 0;
}

const struct workload sleep_kernel_workload = {
	.name = "kernel timer",
	.rest = "timer late, exit from idle, or softirq late",
	.warm = 64,
	.sleeper = SLEEPER_KERNEL,
	.run = run_ticks,
};

const struct workload sleep_workload = {
	.name = "sleep",
	.rest = "timer late, or exit from idle",
	.warm = 64,
	.sleeper = SLEEPER_THREAD,
	.run = run,
};
