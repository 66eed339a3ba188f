/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The choice of the threads that watch follows: its options, and what can be said of it before
 * anything is switched on. */
#ifndef CULPRIT_CMD_WATCH_THREADS_H
#define CULPRIT_CMD_WATCH_THREADS_H

#include "base/cpus.h"
#include "base/opt.h"
#include "collect/probes.h"

/* Rows to include with the offset of a struct watched. */
extern const struct opt watch_threads_opts[];

/* One more --tid; 0, or -EINVAL with the reason in `why`. */
int watch_threads_tid(const char *text, struct watched *w, char *why, size_t whylen);

bool watch_threads_given(const struct watched *w);

/* Threads are chosen that may come later, and on any CPU. */
bool watch_threads_may_come(const struct watched *w);

/* Adds the processes that are given by number, each once, to pid: WATCH_PROGRAMS zeros and one. */
void watch_threads_programs(const struct watched *w, int32_t *pid);

/* Refuses what is not there. 0, or -1 with the reason said. */
int watch_threads_check(const struct watched *w);

/* True when these are virtual CPUs, by --vcpus or of a process given by -p: then records are to
 * tell why they leave their guests. Not beside system calls, of which each stay in a guest is a
 * part. */
bool watch_threads_exits(const struct watched *w);

/* Rights (base/confine.h) that it takes to see the threads while they are watched. */
uint64_t watch_threads_rights(const struct watched *w);

/* Adds the CPUs that the threads may run on: only these are traced. */
void watch_threads_cpus(const struct watched *w, struct cpus *cpus);

#endif
