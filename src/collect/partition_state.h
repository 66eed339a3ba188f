/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside partition.h: partitions are made in partition.c, and taken away in partition_end.c. */
#ifndef CULPRIT_PARTITION_STATE_H
#define CULPRIT_PARTITION_STATE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "collect/partition.h"

#define PARTITION_PREFIX "culprit-deadline." /* the owner's pid and the CPU follow */
#define PARTITION_REST   "rest"              /* version 1, in place of the CPU: all others */
#define PARTITION_TEXT   4096

struct partitions {
	char root[PATH_MAX]; /* directory of the hierarchy */
	int dir;             /* open; -1: no partition was needed */
	bool first;          /* version 1 */
	/* To be put back in the root: version 2's cgroup.subtree_control had no cpuset; version 1's
	 * cpuset.sched_load_balance was 1. */
	bool controller, balance;
	struct cpus made; /* CPUs with a partition */
	pid_t owner;      /* in their names */
	pid_t guard;      /* the process that takes them away; 0: none yet */
	int pipe;         /* open as long as the owner lives */
};

/* The first line of a file; "" where it cannot be read. */
void partition_read(int dir, const char *name, char text[PARTITION_TEXT]);
int partition_write(int dir, const char *name, const char *text); /* 0 or -errno */

/* Starts the process that takes all away when the owner's end of the pipe closes. 0, or -1 with the
 * reason said. */
int partitions_guard(struct partitions *p);

/* Removes those of runs that have ended without removing them. True: one was the cpuset of the
 * other CPUs, for which the load balancer had been stopped. */
bool partitions_sweep(const struct partitions *p);

#endif
