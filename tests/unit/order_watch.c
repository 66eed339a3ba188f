/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The programs of culprit watch as they are built for arm64, for test_order_watch.c. Their part of
 * the kernel is here: its helpers, and what they read of its structures. Notes of askers, which
 * test_order_notes.c has, are left out. */
#undef __TARGET_ARCH_x86
#define __TARGET_ARCH_arm64
#define CULPRIT_CONTEXT_BPF_H
#define CULPRIT_ASKER_BPF_H
#define SUMS
#include <linux/types.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <bpf/bpf_helpers.h>
#include "order_watch.h"

struct cpu_state order_state, order_other;
struct sum order_sums[SUM_ROWS];
__u64 order_clock;
__u32 order_found;
__s32 order_named;
volatile __u32 watch_groups_epoch, watch_groups_fence;
volatile __u64 watch_group[CHOICE_GROUPS];

static inline void *look_up(const void *map, __u32 key);
static inline long update(const void *map, const void *key, const void *value);
static inline long forget(const void *map);

#define bpf_ktime_get_ns()                     order_clock
#define bpf_get_smp_processor_id()             0U
#define bpf_get_current_pid_tgid()             1ULL
#define bpf_get_current_task_btf()             NULL
#define bpf_map_lookup_elem(map, key)          look_up(map, *(const __u32 *)(key))
#define bpf_map_update_elem(map, key, to, how) update(map, key, to)
#define bpf_map_delete_elem(map, key)          ((void)(key), forget(map))
#define __builtin_preserve_access_index(x)     (x)
#define __builtin_preserve_field_info(...)     1
#define __builtin_preserve_enum_value(...)     0
#define __builtin_preserve_type_info(...)      0
#include "trace.bpf.h"
#include "note.bpf.h"

static inline struct note_set *set_at(__u32 index)
{
	(void)index;
	return NULL;
}

static inline struct asker_key wake_key(int tid)
{
	return (struct asker_key){.what = (__u64)tid};
}

static inline __u32 switches_of(const struct task_struct *task)
{
	(void)task;
	return 0;
}

static inline void mark_noted(struct cpu_state *c, int level, int what, __u64 function, __u64 now,
			      struct asker_note *n, struct asker_key key, bool plain)
{
	(void)c, (void)level, (void)what, (void)function, (void)now, (void)n, (void)key,
		(void)plain;
}
#include "softirq.bpf.h"
#include "watch.bpf.c"

struct wait_set order_waits;

#include "order_variables.h"

const volatile __s32 watch_tid[WATCH_IDS] = {ORDER_WATCHED};

/* The map of due times holds that of one thread. */
static __u64 due_ns;
static bool due_known;
static struct timer_state timer_state;

static inline void *look_up(const void *map, __u32 key)
{
	if (map == &watch_timer_due)
		return &timer_state;
	if (map == &watch_dues)
		return due_known ? &due_ns : NULL;
	if (map == &watch_processes)
		return key && key == (__u32)order_named ? &order_named : NULL;
	if (map == &cpu_sums)
		return &order_sums[key];
	if (map == &watch_waits)
		return &order_waits;
	return map != &cpu_states ? NULL : key ? &order_other : &order_state;
}

static inline long update(const void *map, const void *key, const void *value)
{
	(void)key;
	if (map == &watch_dues) {
		due_ns = *(const __u64 *)value;
		due_known = true;
	} else {
		order_found = *(const __u32 *)value;
	}
	return 0;
}

static inline long forget(const void *map)
{
	if (map == &watch_dues)
		due_known = false;
	return 0;
}

struct wait *order_wait(__s32 tid, __u64 since_ns)
{
	struct wait *w = wait_new(tid, &order_state.own.waits_lost);

	if (w)
		w->since_ns = since_ns;
	return w;
}

__s32 order_whose(const struct wait *w)
{
	return w->tid;
}

__u64 order_comes(__s32 tid)
{
	struct wait *w = wait_of(tid);
	__u64 since_ns;

	if (!w)
		return 0;
	since_ns = w->since_ns;
	wait_end(w);
	return since_ns;
}

void order_waits_here(__u64 now)
{
	waits_on(&order_state, now);
}

void order_goes_elsewhere(__u64 now)
{
	deactivate(&order_state, now);
}

static struct cfs_rq queue;

static void switch_threads(int prev, int next, bool preempt, unsigned int state, unsigned int flags)
{
	struct task_struct from = {.pid = prev, .tgid = prev, .__state = state, .flags = flags},
			   to = {.pid = next, .tgid = next};
	unsigned long long ctx[3] = {preempt, (unsigned long long)&from, (unsigned long long)&to};

	from.se.cfs_rq = to.se.cfs_rq = &queue;
	watch_switch(ctx);
}

void order_switch(int prev, int next)
{
	switch_threads(prev, next, true, 0, 0);
}

void order_sleeps(int prev, int next)
{
	switch_threads(prev, next, false, 1, 0);
}

void order_ends(int prev, int next, unsigned int state)
{
	switch_threads(prev, next, !state, state, 0x4);
}

void order_dies(int prev, int next)
{
	order_ends(prev, next, 0x80);
}

void order_wakes(unsigned int cpu, int wake_cpu)
{
	struct task_struct task = {.pid = ORDER_WATCHED,
				   .tgid = ORDER_WATCHED,
				   .se.cfs_rq = &queue,
				   .thread_info.cpu = cpu,
				   .wake_cpu = wake_cpu};
	unsigned long long ctx[1] = {(unsigned long long)&task};

	watch_waking(ctx);
	watch_wakeup(ctx);
}

void order_timer_wakes(unsigned int clock, __s64 expires_ns, __s64 offset_ns)
{
	struct hrtimer_clock_base base = {.index = clock, .offset = offset_ns};
	struct hrtimer timer = {.node.expires = expires_ns, .base = &base};
	unsigned long long ctx[1] = {(unsigned long long)&timer};

	watch_timer(ctx);
	order_wakes(0, 0);
	watch_timer_end(ctx);
}

void order_begins_to_live(void)
{
	struct task_struct task = {
		.pid = ORDER_WATCHED, .tgid = ORDER_WATCHED, .se.cfs_rq = &queue};
	unsigned long long ctx[1] = {(unsigned long long)&task};

	watch_wakeup_new(ctx);
}

const __u64 *order_due(void)
{
	return due_known ? &due_ns : NULL;
}

void order_softirq(unsigned int vec, bool begins)
{
	if (begins)
		begin_softirq(vec);
	else
		end_softirq(vec);
}

void order_choose(const __u64 id[CHOICE_GROUPS])
{
	groups_publish(watch_group, &watch_groups_epoch, id);
}

void order_look(__u64 id)
{
	struct kernfs_node node = {id};
	struct cgroup group = {.kn = &node};
	struct css_set set = {.dfl_cgrp = &group};
	struct task_struct task = {.cgroups = &set};

	group.self.cgroup = &group;
	is_in_group(&task);
}
