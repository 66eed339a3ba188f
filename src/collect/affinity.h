/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPUs on which this process runs. */
#ifndef CULPRIT_AFFINITY_H
#define CULPRIT_AFFINITY_H

#include <sched.h>

#include "base/cpus.h"
#include "model/view.h"

/* Keeps this process on these CPUs, with little delay, and its pages where they are. 0, or -1 with
 * the reason said. */
int stay_on(const struct cpus *set);

/* Keeps NUMA balancing from the pages of this process, as any policy but the default does
 * (mm/mempolicy.c: vma_policy_mof), or not. To see who uses a page the balancing takes it away for
 * a moment, and a page of a file that it moves is taken from all who have mapped it: culprit's own
 * process would make page faults in its samplers. What it forks inherits that. Without NUMA it does
 * nothing. */
void pages_stay(bool stay);

/* Puts this process on one CPU; where that CPU belongs to a cpuset partition, into the partition's
 * cgroup first, because no other process may run there. 0 or -errno. */
int move_to(unsigned cpu);

/* The kernel lets a process run anywhere when the last CPU that it may run on goes offline. Moves
 * this one back to the run's housekeeping CPUs, where it has some, when it is not there, or else to
 * any CPUs but the measured ones; run->cut_short says so. */
void stay_off(struct run *run);

/* True when one process may have threads on both CPUs: a cpuset partition keeps its CPUs for the
 * processes in its cgroup. Also where partitions cannot be read. */
bool same_partition(unsigned a, unsigned b);

/* Priority of this process, which reads the rings, before the window. */
struct reader_priority {
	int policy;
	struct sched_param param;
	bool risen; /* true while it has a better one */
};

/* Other threads on the housekeeping CPUs, those with a real-time priority too, must not keep this
 * process from the rings for longer than the rings hold. Where a better priority is not allowed, it
 * stays as it is. */
void reader_rise(struct reader_priority *p);
void reader_sink(struct reader_priority *p); /* takes that priority back */

#endif
