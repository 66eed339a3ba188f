/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine with samplers: samplers and probes on the target CPUs. This process reads them from a
 * housekeeping CPU and joins the two streams as they come.
 */
#ifndef CULPRIT_COLLECT_H
#define CULPRIT_COLLECT_H

#include "collect/engine.h"
#include "collect/workload.h"

struct collect_options {
	struct cpus targets;
	struct cpus housekeeping; /* empty: all other online CPUs */
	bool trace;               /* load and attach the probes */
	/* Reads the events of the kernel's osnoise tracer, too, which is on; needs intervals. */
	bool osnoise;
	bool intervals;                  /* keep each interval to be taken */
	bool clock;                      /* sample CLOCK_MONOTONIC instead of the counter */
	int policy, priority;            /* policy of the samplers: SCHED_OTHER, SCHED_FIFO, ... */
	struct deadline deadline;        /* with SCHED_DEADLINE, for workloads that sleep */
	const struct workload *workload; /* runs in the samplers instead of spinning; NULL: spin */
	const void *workload_options;    /* passed to the workload */
	/* The samplers may run on all of these, and `targets` only number them; NULL: each is
	 * pinned to its target. */
	const struct cpus *roams;
	uint64_t threshold_ns; /* 0: from each CPU's own loop */
	/* No threshold that a workload's values give is longer; 0: any */
	uint64_t threshold_most_ns;
	enum owner_by by;       /* meaning of rows of threads */
	bool commands;          /* keep command lines of threads and askers */
	bool user_stacks;       /* note user stacks of askers; needs `trace` */
	const char *debug_path; /* has their debug information, too; NULL: no such place */
};

/* open: pins this process, loads and attaches the probes, starts the samplers, learns each CPU's
 * loop and edges.
 *
 * snapshot: observed time, counts and losses of each CPU and the run's duration are as of now,
 * sources and histograms as of the last poll; gaps outside the kernel in the last seconds may have
 * no verdict yet, and then are in no source. Closure, loop lengths and SMIs are known only at the
 * end. Costs the targets nothing: it reads memory, and with probes makes one system call for each
 * of them (~30). */
extern const struct engine collect_engine;

#endif
