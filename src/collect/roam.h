/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine for a workload whose samplers are not pinned: the scheduler moves them as it likes.
 * They measure as ever (collect.h), and the probes follow their threads (watch.h): a lane of the
 * view is a sampler's thread, its hiccups are what took its time, whoever ran in its place, and its
 * series are the workload's.
 */
#ifndef CULPRIT_ROAM_H
#define CULPRIT_ROAM_H

#include "collect/collect.h"

#define ROAM_MAX 16 /* samplers, as many threads as the probes follow by number */

struct roam_options {
	/* The workload and its samplers; `targets` only number them: the samplers run where
	 * `roams` says. Not traced. */
	struct collect_options collect;
	uint64_t threshold_ns; /* shorter losses of a thread are left out */
	int32_t *pid;          /* gets the samplers' numbers, in the order of the targets */
};

extern const struct engine roam_engine;

#endif
