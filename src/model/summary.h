/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of a run that is kept: for each CPU its totals, histogram and sources, and of all CPUs
 * the worst hiccups. Nothing here grows with the length of the run. */
#ifndef CULPRIT_SUMMARY_H
#define CULPRIT_SUMMARY_H

#include "model/view.h"

/* Times around the outermost intervals, to calibrate the edges. */
struct edge_times {
	struct hist pre_irq, post_irq, pre_thread, post_thread;
};

/* Adds one hiccup of the CPU with this index. Its time outside the kernel gets its source by
 * summary_outside, once that is decided. */
void summary_add(struct view *v, uint32_t index, const struct account *a);

/* The worst hiccups of a lane that were added apart from the other lanes'. Begins as zeros. */
struct summary_apart {
	struct worst worst[WORST_MAX];
	uint32_t n;
};

/* As summary_add, for a thread that has this lane alone, while others add to other lanes. place:
 * the hiccup's among those of all lanes. */
void summary_add_apart(struct view *v, uint32_t index, const struct account *a, uint64_t place,
		       struct summary_apart *apart);

/* Moves what n lanes have kept apart into the view, while nobody adds; NULL: a lane has nothing. */
void summary_meet(struct view *v, struct summary_apart *const *apart, uint32_t n);

void summary_outside(struct view *v, uint32_t index, uint64_t start_ns, uint64_t outside_ns,
		     enum own_word verdict);

/* Lets the worst hiccups follow rows that moved since the last hiccup. Call it before reading the
 * view. */
void summary_settle(struct view *v);

/* Calibrates edges: learns from hiccups that the sampler made for itself, then returns the bounds.
 * guest: under a hypervisor. */
int edge_times_init(struct edge_times *e); /* 0 or -ENOMEM */
void edge_times_free(struct edge_times *e);
void edge_times_add(struct edge_times *e, const struct account *a);
struct edge_bounds edge_times_bounds(const struct edge_times *e, bool guest);
struct edge_seen edge_times_seen(const struct edge_times *e);

#endif
