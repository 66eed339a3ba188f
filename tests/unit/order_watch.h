/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs of culprit watch that share memory with those on other CPUs and with culprit, as they
 * are built for arm64, for test_order_watch.c. */
#ifndef CULPRIT_ORDER_WATCH_H
#define CULPRIT_ORDER_WATCH_H

#include <stdbool.h>
#include "choice.h"
#include "state.h"

extern struct cpu_state order_state; /* state of the one target CPU */
extern struct cpu_state order_other; /* state of one that nothing runs on here */
extern struct sum order_sums[SUM_ROWS];
extern __u64 order_clock; /* the kernel's clock, ns */

struct wait;
struct wait_set;
extern struct wait_set order_waits; /* the one set of places */

/* A wait begins; NULL: there is no place. */
struct wait *order_wait(__s32 tid, __u64 since_ns);
__s32 order_whose(const struct wait *w);
/* A thread comes to its CPU: since when it waited, 0: it did not. */
__u64 order_comes(__s32 tid);

/* Another CPU finds that a watched thread waits for the target, or does no more. */
void order_waits_here(__u64 now);
void order_goes_elsewhere(__u64 now);
void order_switch(int prev, int next); /* on the target; nobody watches these threads */
void order_sleeps(int prev, int next); /* the same, of one that sleeps from now on */
void order_dies(int prev, int next);   /* the same, of one that ends */
#define ORDER_WATCHED 7777             /* one that somebody watches */
/* The same, of one that is ending, and makes way (state: 0) or sleeps (1) meanwhile. */
void order_ends(int prev, int next, unsigned int state);
extern __s32 order_named; /* a process that is watched by its name; 0: none is */

/* The one that is watched is woken: on this CPU, while the kernel would wake it on another; by the
 * timer of a clock (HRTIMER_BASE_MONOTONIC: 0, ...) that is so much ahead of CLOCK_MONOTONIC; or
 * for the first time. */
void order_wakes(unsigned int cpu, int wake_cpu);
void order_timer_wakes(unsigned int clock, __s64 expires_ns, __s64 offset_ns);
void order_begins_to_live(void);
const __u64 *order_due(void); /* when its timer was due; NULL: not known */

void order_softirq(unsigned int vec, bool begins); /* on the target, where somebody is watched */

/* culprit chooses other cgroups; a program looks whether a thread's is among them, and keeps in
 * order_found what it found: see struct watch_groups. */
void order_choose(const __u64 id[CHOICE_GROUPS]);
void order_look(__u64 id);
extern volatile __u64 watch_group[CHOICE_GROUPS];
extern volatile __u32 watch_groups_epoch, watch_groups_fence;
extern __u32 order_found;

#endif
