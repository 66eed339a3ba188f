/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside partition.h: partitions are made in partition.c, and taken away in partition_end.c. */
#ifndef CULPRIT_PARTITION_STATE_H
#define CULPRIT_PARTITION_STATE_H

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "collect/partition.h"

#define PARTITION_PREFIX "culprit-deadline." /* owner's pid, its start time, and the CPU follow */
/* In place of the CPU, what has to be put back in the root, for as long as the name is there.
 * Version 1: the cpuset of all other CPUs; cpuset.sched_load_balance was 1. Version 2: an empty
 * group; cgroup.subtree_control had no cpuset. */
#define PARTITION_REST    "rest"
#define PARTITION_CONTROL "control"
#define PARTITION_TEXT    4096

struct partitions {
	char root[PATH_MAX]; /* directory of the hierarchy */
	int dir;             /* open; -1: there is none with the controller cpuset */
	bool first;          /* version 1 */
	struct cpus made;    /* CPUs with a partition */
	/* in their names; the kernel gives a pid again, but not with the same start */
	pid_t owner;
	unsigned long long start;
	pid_t guard; /* the process that takes them away, by a child of its own; 0: none yet */
	int guards;  /* both hear when the owner ends, and the owner when both have */
};

/* A name of ours, taken apart. */
struct partition_name {
	pid_t owner;
	unsigned long long start; /* as partition_start() of the owner */
	char part[16];            /* the CPU, PARTITION_REST or PARTITION_CONTROL */
};

/* When a process started, in clock ticks since boot (proc_pid_stat(5), field 22); 0: it is not
 * there, or has ended. */
unsigned long long partition_start(pid_t pid);

/* The next of our names in an open directory; NULL: there is no more. */
const char *partition_next(DIR *dir, struct partition_name *name);

/* The first line of a file; "" where it cannot be read. */
void partition_read(int dir, const char *name, char text[PARTITION_TEXT]);
int partition_write(int dir, const char *name, const char *text); /* 0 or -errno */

/* Starts the processes that take all away when the owner ends. 0, or -1 with the reason said. */
int partitions_guard(struct partitions *p);

/* Removes those of runs that have ended without removing them, and puts back what these had changed
 * in the root. Those that it may not remove, or with processes in them, stay as they are. */
void partitions_sweep(const struct partitions *p);

#endif
