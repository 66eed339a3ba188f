/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is kept of a run: for each CPU its totals, histogram and sources, and of all CPUs the worst
 * hiccups. Nothing here grows with the length of the run. */
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
