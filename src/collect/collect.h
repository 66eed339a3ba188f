/* A live run: samplers and probes on the target CPUs, read by this process from a housekeeping CPU
 * and joined as they come.
 *
 *   collect_open     pin this process, load and attach the probes, start the samplers, learn each
 *                    CPU's loop and edges
 *   collect_begin    the window opens on all CPUs at once
 *   collect_poll     take what has come; call it every few milliseconds
 *   collect_snapshot the view as of now, while the run goes on
 *   collect_stop     the window closes on all CPUs
 *   collect_end      the view is complete
 *   collect_close    everything that was switched on is off again (collect_close alone is enough at
 *                    any point)
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
	bool spans;                      /* accounts and the worst hiccups have their spans */
	bool clock;                      /* sample CLOCK_MONOTONIC instead of the counter */
	int policy, priority;            /* of the samplers: SCHED_OTHER, SCHED_FIFO, SCHED_RR */
	const struct workload *workload; /* what the samplers do instead of spinning; NULL: spin */
	const void *workload_options;    /* its own */
	const struct tap *tap;           /* hears what the session is given; NULL: nobody does */
	/* Hears each hiccup when it is in the view's summary, each CPU's in order of time; the
	 * account is valid until it returns. NULL: nobody does. Called by collect_poll,
	 * collect_stop and collect_end. */
	void (*hear)(void *ctx, uint32_t index, const struct account *a);
	void *hear_ctx;
	uint64_t threshold_ns; /* 0: from each CPU's own loop */
};

struct collect;

/* view->host has been read; its run, cpu and summary are filled here and stay the caller's
 * (view_free). Returns NULL with the reason said. `stop` is looked at while it waits: a nonzero
 * value makes it give up quietly. */
struct collect *collect_open(const struct collect_options *options, struct view *view,
			     const volatile int *stop);

int collect_begin(struct collect *c); /* 0, or -1 with the reason said */

/* Returns the number of target CPUs that are still being sampled. */
uint32_t collect_poll(struct collect *c);

/* The intervals of all hiccups that have been accounted for, and osnoise's of the same, in the
 * order in which they ended; NULL: no more. */
const struct interval *collect_interval(struct collect *c, uint32_t *index);

uint64_t collect_intervals_lost(const struct collect *c,
				uint32_t index); /* the caller came too late for them */

/* Enters in the view what is known before the end: observed time, counts and losses of each CPU,
 * the run's duration, all as of now. Sources and histograms are always as of the last collect_poll;
 * gaps outside the kernel of the last seconds may have no verdict yet, and are in no source then.
 * Closure, loop lengths and SMIs are known only at the end. Costs the targets nothing: it reads
 * memory, and with probes makes one system call for each of them (~30). To be called behind
 * collect_poll, so that hiccups and time belong together. */
void collect_snapshot(struct collect *c);

void collect_stop(struct collect *c); /* the window closes; the last hiccups can be taken */
void collect_end(struct collect *c);
void collect_close(struct collect *c);

#endif
