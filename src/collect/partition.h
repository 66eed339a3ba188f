/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPUs for pinned threads with the policy SCHED_DEADLINE. The kernel gives that policy only to
 * threads that may run on all CPUs of their root domain (kernel/sched/syscalls.c:
 * __sched_setscheduler), so each needs a root domain of its CPU alone: an exclusive partition of
 * the cpusets (Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/cpusets.rst). A CPU without one
 * gets it for as long as these partitions last. Two processes of their own, which wait for this one
 * to end, take them away again, also when this one was killed, or one of them; were all, the next
 * run does.
 *
 * In version 2 only kernels that list isolated CPUs in the root cgroup (cpuset.cpus.isolated, Linux
 * 6.8) will do: older ones forget the CPUs that taskset gave to other threads, and give all to
 * them. Version 1 changes no thread's CPUs, but stops the load balancer between these CPUs and all
 * others.
 */
#ifndef CULPRIT_PARTITION_H
#define CULPRIT_PARTITION_H

#include "base/cpus.h"
#include "base/policy.h"

struct partitions;

/* Makes a partition of each CPU that needs one, and tests that the kernel gives a thread there this
 * policy. online: all CPUs of the machine. NULL with the reason said, or quietly when *stop is set
 * meanwhile: then all is as it was. */
struct partitions *partitions_make(const struct cpus *cpus, const struct cpus *online,
				   const struct deadline *d, const volatile int *stop);

/* Puts this process into the partition of a CPU, if that got one; p: NULL for none. 0 or -errno. */
int partitions_enter(const struct partitions *p, unsigned cpu);

/* Takes them away, and frees p; NULL: nothing. Nobody may be in them but processes that are
 * ending. 0, or -1 with the reason said: some are still there. */
int partitions_end(struct partitions *p);

/* Gives this thread the policy. 0 or -errno. */
int deadline_set(const struct deadline *d);

#endif
