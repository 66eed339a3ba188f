/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Workloads: samplers that do something and time it, instead of spinning: sleep and wake, send a
 * message, make a system call. Each runs in the sampler's process on its CPU, and each of its
 * operations is a window on that CPU: due to woken, sent to received, call to return. The measured
 * value of a window goes into a series; a window longer than the threshold is a hiccup, and is
 * explained like any other.
 *
 * A workload is one file and one `struct workload`; its command passes it to the engine.
 */
#ifndef CULPRIT_WORKLOAD_H
#define CULPRIT_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/sampler.h"
#include "model/series.h"

#define WORKLOAD_FDS 64

struct work;

/* Made by prepare for the samplers to inherit. */
struct workload_props {
	/* shared_bytes of zeros, shared by all samplers and culprit's process */
	void *shared;
	uint32_t n;          /* number of samplers */
	const unsigned *cpu; /* their CPUs, ascending */
	int fd[WORKLOAD_FDS];
	uint32_t nfds; /* open in the samplers; culprit's process closes them at the end */
};

/* Sleepers on the targets: the samplers' threads, which ask work_woken(); or, in their place, a
 * timer of the kernel's own, which fills cpu_state.tick. */
enum sleeper { SLEEPER_NONE, SLEEPER_THREAD, SLEEPER_KERNEL };

struct workload {
	const char *name;          /* name of the sampler in reports: "sleep" */
	const char *const *series; /* names, NULL-terminated, at most SERIES_MAX */
	bool fine;                 /* their values are ps, not ns */
	const char *rest; /* name of a window's time that nothing explains: "the call itself" */
	size_t shared_bytes;
	uint32_t warm; /* windows to learn the threshold from */
	enum sleeper sleeper;
	bool partners; /* the samplers wait for each other: when one is gone, all end */
	bool threads;  /* the samplers are threads of one process; else each is one */
	/* Runs in culprit's process, before the samplers are forked; NULL: nothing to do. 0, or -1
	 * with the reason said. */
	int (*prepare)(struct workload_props *props, const void *options);
	/* Runs in a sampler's process, on its CPU, twice: to learn (work_learning) and to measure.
	 * Makes windows until work_going says no. 0, or -errno after work_failed. */
	int (*run)(struct work *w);
};

/* ---- for the samplers' side; see also counter.h ---- */

struct work {
	struct spin *spin;
	const struct workload *workload;
	struct workload_props *props;
	const void *options;
	struct series *series; /* shared with culprit's process */
	uint32_t index;        /* place of this sampler among n */
	unsigned cpu;
	bool roams;  /* may run on other CPUs, too */
	bool sleeps; /* has SCHED_DEADLINE: to spin would use its time up */
	bool learning;
	uint64_t left; /* windows still to make while learning */
	double ns_per_tick;
	uint64_t limit[SERIES_MAX]; /* ticks: longer windows are hiccups */
};

uint64_t work_tick(const struct work *w);     /* now */
cursors_t work_cursors(const struct work *w); /* read them before a window's begin */

/* True while there are windows to make: ask before each. */
bool work_going(struct work *w);

/* True when the window is over: check it while a window waits for another sampler. */
bool work_stopped(const struct work *w);

/* Ends a window: adds its value to a series, and publishes a hiccup if it was longer than the
 * threshold. `cursors` was read before `before`. */
void work_window(struct work *w, unsigned series, uint64_t value, uint64_t before, uint64_t after,
		 cursors_t cursors);

/* The two halves of work_window: a value without a window, known at that tick, and a window without
 * a value, or whose value is in already. */
void work_value(struct work *w, unsigned series, uint64_t at, uint64_t value);
void work_outlier(struct work *w, unsigned series, uint64_t before, uint64_t after,
		  cursors_t cursors);

/* The tick at a time of CLOCK_MONOTONIC, from a reading of both clocks close by. */
uint64_t work_tick_of(const struct work *w, uint64_t ns, uint64_t now_tick, uint64_t now_ns);

/* The end of a sleep that began at since_ns, ns of CLOCK_MONOTONIC: when the timer that woke the
 * sampler ran, and when the sampler got the CPU. False: nobody saw it. */
bool work_woken(const struct work *w, uint64_t since_ns, uint64_t *timer_ns, uint64_t *came_ns);

/* The CPU's memory before its `own`; NULL without probes. */
volatile struct cpu_state *work_state(const struct work *w);

/* As work_window, of a window that ended some time ago, with the sequences of then. */
void work_past(struct work *w, unsigned series, uint64_t value, uint64_t before, uint64_t after,
	       cursors_t cursors_before, cursors_t cursors_after);

/* Reports what failed; returns -err. */
int work_failed(struct work *w, int err, const char *what);

/* ---- for collect ---- */

struct samples; /* memory of the series, shared */

struct samples *samples_new(const struct workload *workload); /* NULL: out of memory */
void samples_free(struct samples *s, const struct workload *workload);
/* Keeps them from processes that begin later. */
void samples_hide(struct samples *s, const struct workload *workload);
struct series *samples_series(struct samples *s);

/* Warms up: makes windows, and sets the threshold of each series. Without a given one (ticks; 0:
 * none) it is ten times the series' median, at most `most_ns` (0: any), and at least `least` ticks.
 */
void work_learn(struct work *w, uint64_t given, uint64_t least, uint64_t most_ns);

/* Threshold of the first series that has one, ticks. */
uint64_t work_first_limit(const struct work *w);

#endif
