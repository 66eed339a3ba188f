/* What is kept of a run: for each CPU its totals, histogram and sources, and of all CPUs the worst
 * hiccups. Nothing here grows with the length of the run. */
#ifndef CULPRIT_SUMMARY_H
#define CULPRIT_SUMMARY_H

#include <stdbool.h>
#include "base/hist.h"
#include "model/join.h"
#include "model/timeline.h"

#define WORST_MAX   20
#define HICCUP_BITS 7 /* of the histogram of hiccups: percentiles to 0.8 % */

struct worst {
	uint32_t cpu; /* index into the summary's CPUs */
	struct spot spot;
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t duration_ns, edge_ns, lost_ns, outside_ns;
	struct piece *pieces; /* owned; by falling net time */
	uint32_t npieces;
	struct span *spans; /* owned; in order of time; none unless the session keeps them */
	uint32_t nspans, spans_left;
};

/* Times around the outermost intervals, to calibrate the edges. */
struct edge_times {
	struct hist pre_irq, post_irq, pre_thread, post_thread;
};

#define EDGE_SAMPLES_MIN 8  /* with fewer the bounds are defaults... */
#define EDGE_SAMPLES_FEW 30 /* ...and with fewer the report says so */

/* The samples from which the bounds beside interrupts were learned. */
struct edge_seen {
	uint64_t samples; /* ways out; 0: none */
	uint64_t in_p50_ns, in_p90_ns, out_p50_ns, out_p90_ns;
};

struct cpu_summary {
	unsigned cpu;
	struct sources sources; /* also rows of kind outside */
	struct ticks ticks;
	struct others others; /* of a workload only */
	struct hist hiccups;
	struct slices slices; /* of the hiccups */
	struct timeline timeline;
	uint64_t attributed_ns, edge_ns, lost_ns, outside_ns;
	/* Before the first and after the last interval, whatever they count as. */
	uint64_t pre_ns, post_ns;
};

struct summary {
	struct cpu_summary *cpu;
	uint32_t ncpus;
	struct worst worst[WORST_MAX]; /* by falling duration */
	uint32_t nworst;
};

/* cpus[ncpus]: CPU numbers in ascending order. 0 or -ENOMEM. */
int summary_init(struct summary *s, const unsigned *cpus, uint32_t ncpus);
void summary_free(struct summary *s);
void summary_cut(struct summary *s,
		 uint32_t n); /* removes CPUs from n on; no worst hiccup may be theirs */

/* Adds one hiccup of the CPU with this index. Its time outside the kernel gets its source by
 * summary_outside, once that is decided. */
void summary_add(struct summary *s, uint32_t index, const struct account *a);
#define NOT_RECORDED "not recorded" /* source of the time that lost records took */
void summary_outside(struct summary *s, uint32_t index, uint64_t start_ns, uint64_t outside_ns,
		     const char *verdict);

/* Lets the worst hiccups follow rows that moved since the last hiccup. Call it before reading the
 * summary. */
void summary_settle(struct summary *s);

/* Calibrates edges: learns from hiccups that the sampler made for itself, then returns the bounds.
 * guest: under a hypervisor. */
int edge_times_init(struct edge_times *e); /* 0 or -ENOMEM */
void edge_times_free(struct edge_times *e);
void edge_times_add(struct edge_times *e, const struct account *a);
struct edge_bounds edge_times_bounds(const struct edge_times *e, bool guest);
struct edge_seen edge_times_seen(const struct edge_times *e);

#endif
