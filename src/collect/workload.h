/* Workloads: samplers that do something and time it, instead of spinning: sleep and wake, send a
 * message, make a system call. Each runs in the sampler's process on its CPU, and each thing that
 * it does is a window on that CPU: due to woken, sent to received, call to return. What was
 * measured of a window goes into a series; a window that took longer than the threshold is a
 * hiccup, and is explained like any other.
 *
 * A workload is one file and one `struct workload`; the command that offers it hands it to
 * collect_open.
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

/* What prepare makes for the samplers to inherit. */
struct workload_props {
	void *shared;        /* shared_bytes of zeros, shared by all samplers and the tracer */
	uint32_t n;          /* samplers */
	const unsigned *cpu; /* theirs, ascending */
	int fd[WORKLOAD_FDS];
	uint32_t nfds; /* open in the samplers; the tracer closes them at the end */
};

struct workload {
	const char *name;          /* of the sampler, in reports: "sleep" */
	const char *const *series; /* names, NULL-terminated, at most SERIES_MAX */
	bool fine;                 /* their values are ps, not ns */
	const char *rest; /* what a window's time is that nothing explains: "the call itself" */
	size_t shared_bytes;
	uint32_t warm; /* windows to learn the threshold from */
	bool partners; /* the samplers wait for each other: when one is gone, all end */
	/* In the tracer, before the samplers are forked; NULL: nothing to do. 0, or -1 with the
	 * reason said. */
	int (*prepare)(struct workload_props *props, const void *options);
	/* In a sampler's process, on its CPU, twice: to learn (work_learning) and to measure. Makes
	 * windows until work_going says no. 0, or -errno after work_failed. */
	int (*run)(struct work *w);
};

/* ---- for the samplers' side; see also tick.h ---- */

struct work {
	struct spin *spin;
	const struct workload *workload;
	struct workload_props *props;
	const void *options;
	struct series *series; /* shared with the tracer */
	uint32_t index;        /* of this sampler among n */
	unsigned cpu;
	bool learning;
	uint64_t left; /* windows to go while learning */
	double ns_per_tick;
	uint64_t limit[SERIES_MAX]; /* ticks: longer windows are hiccups */
};

uint64_t work_tick(const struct work *w);     /* now */
cursors_t work_cursors(const struct work *w); /* to be read ahead of a window's begin */

/* True while there are windows to make: to be asked before each. */
bool work_going(struct work *w);

/* The window is over: for a look while a window waits for another sampler. */
bool work_stopped(const struct work *w);

/* A window has ended: its value into a series, and a hiccup if it was longer than the threshold.
 * `cursors` was read ahead of `before`. */
void work_window(struct work *w, unsigned series, uint64_t value, uint64_t before, uint64_t after,
		 cursors_t cursors);

/* The halves of that: a value that is of no window, and a window that has no value, or got it
 * already. */
void work_value(struct work *w, unsigned series, uint64_t value);
void work_outlier(struct work *w, unsigned series, uint64_t before, uint64_t after,
		  cursors_t cursors);

/* The tick of a time of CLOCK_MONOTONIC, from a reading of both clocks close by. */
uint64_t work_tick_of(const struct work *w, uint64_t ns, uint64_t now_tick, uint64_t now_ns);

/* Says what failed; returns -err. */
int work_failed(struct work *w, int err, const char *what);

/* ---- for collect ---- */

struct samples; /* the series' memory, shared */

struct samples *samples_new(const struct workload *workload); /* NULL: out of memory */
void samples_free(struct samples *s, const struct workload *workload);
struct series *samples_series(struct samples *s);

/* The warm-up: makes windows, and sets the threshold of each series. Unless one is given (ticks; 0:
 * none) it is ten times the series' median, and `least` ticks at least. */
void work_learn(struct work *w, uint64_t given, uint64_t least);

/* The threshold of the first series that has one, ticks. */
uint64_t work_first_limit(const struct work *w);

#endif
