/* A live run: samplers and probes on the target CPUs. This process reads them from a housekeeping
 * CPU and joins the two streams as they come.
 *
 *   collect_open     pins this process, loads and attaches the probes, starts the samplers, learns
 *                    each CPU's loop and edges
 *   collect_begin    opens the window on all CPUs at once
 *   collect_poll     takes what has come; call it every few milliseconds
 *   collect_snapshot fills the view as of now, while the run goes on
 *   collect_stop     closes the window on all CPUs
 *   collect_end      completes the view
 *   collect_close    switches everything off again; enough by itself at any point
 */
#ifndef CULPRIT_COLLECT_H
#define CULPRIT_COLLECT_H

#include <stdbool.h>
#include <stdint.h>
#include "collect/workload.h"
#include "model/session.h"

struct collect_options {
	struct cpus targets;
	struct cpus housekeeping; /* empty: all other online CPUs */
	bool trace;               /* load and attach the probes */
	/* Also read the events of the kernel's osnoise tracer, which is on; needs intervals. */
	bool osnoise;
	bool intervals;                  /* keep each interval for collect_interval */
	bool spans;                      /* record spans in accounts and the worst hiccups */
	bool clock;                      /* sample CLOCK_MONOTONIC instead of the counter */
	int policy, priority;            /* of the samplers: SCHED_OTHER, SCHED_FIFO, SCHED_RR */
	const struct workload *workload; /* runs in the samplers instead of spinning; NULL: spin */
	const void *workload_options;    /* passed to the workload */
	const struct tap *tap;           /* hears what the session is given; NULL: none */
	/* Called with each hiccup when it is in the view's summary, in order of time for each CPU;
	 * the account is valid until it returns. NULL: none. Called by collect_poll, collect_stop
	 * and collect_end. */
	void (*hear)(void *ctx, uint32_t index, const struct account *a);
	void *hear_ctx;
	uint64_t threshold_ns; /* 0: from each CPU's own loop */
};

struct collect;

/* The caller has read view->host. Fills the view's run, cpu and summary, which stay the caller's
 * (view_free). Returns NULL with the reason said. Checks `stop` while it waits: when nonzero it
 * gives up quietly. */
struct collect *collect_open(const struct collect_options *options, struct view *view,
			     const volatile int *stop);

int collect_begin(struct collect *c); /* 0, or -1 with the reason said */

/* Returns the number of target CPUs that are still being sampled. */
uint32_t collect_poll(struct collect *c);

/* The next interval of the hiccups that have been accounted for, and osnoise's of the same time, in
 * the order of their ends; NULL: no more. */
const struct interval *collect_interval(struct collect *c, uint32_t *index);

uint64_t collect_intervals_lost(const struct collect *c,
				/* intervals lost because the caller came too late */
				uint32_t index);

/* Writes to the view what is known before the end: observed time, counts and losses of each CPU,
 * the run's duration, all as of now. Sources and histograms are always as of the last collect_poll;
 * gaps outside the kernel in the last seconds may have no verdict yet, and then are in no source.
 * Closure, loop lengths and SMIs are known only at the end. Costs the targets nothing: it reads
 * memory, and with probes makes one system call for each of them (~30). Call it after collect_poll,
 * so that hiccups and time belong together. */
void collect_snapshot(struct collect *c);

void collect_stop(struct collect *c); /* closes the window; the last hiccups can be taken */
void collect_end(struct collect *c);
void collect_close(struct collect *c);

#endif
