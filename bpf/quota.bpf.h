/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Quotas of CPU time (cpu.max): for how long one kept a watched thread that was ready from running.
 * Since 6.6 the kernel adds that up for each group and CPU (kernel/sched/fair.c: tg_unthrottle_up);
 * on older ones the programs here see when a quota is used up and when it is refilled. */
#ifndef CULPRIT_QUOTA_BPF_H
#define CULPRIT_QUOTA_BPF_H

#include "trace.bpf.h"
#include "wait.bpf.h"

/* When the quota of a group was used up last on a CPU, by the group's queue there. */
struct throttle {
	__u64 from_ns, until_ns; /* until < from: it still is */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, struct throttle);
} watch_throttles SEC(".maps");

__u64 throttled_ns; /* when any was last used up, or refilled */

#define GROUPS_DEEP 12 /* quotas of outer groups are not seen */

/* Notes what quotas have taken so far, at the begin of a wait. */
static __always_inline void note_quota(struct task_struct *task, struct wait *w)
{
	struct cfs_rq *queue;

	w->queue = 0;
	if (!RECORDS_WANTED || !bpf_core_field_exists(task->se.cfs_rq) ||
	    !bpf_core_field_exists(task->se.cfs_rq->throttled_clock_self_time))
		return;
	queue = task->se.cfs_rq;
	w->queue = (__u64)queue;
	w->throttled_ns = queue->throttled_clock_self_time;
}

/* Cuts [*from, *until] out of a wait: what quotas of its groups took from the thread. */
static __always_inline void quota_of_groups(struct task_struct *task, __u64 since, __u64 now,
					    __u64 *from, __u64 *until)
{
	struct cfs_rq *queue = task->se.cfs_rq;
	struct sched_entity *up = task->se.parent;

	if (throttled_ns < since)
		return;
	for (int i = 0; i < GROUPS_DEEP && up; i++) {
		__u64 key = (__u64)queue;
		struct throttle *t = bpf_map_lookup_elem(&watch_throttles, &key);
		__u64 end = !t ? 0 : t->until_ns < t->from_ns ? now : t->until_ns;

		if (t && end > since) {
			*from = t->from_ns < *from ? t->from_ns : *from;
			*until = end > *until ? end : *until;
		}
		queue = up->cfs_rq;
		up = up->parent;
	}
	*from = *from > since ? *from : since;
}

/* Says for how long of the wait that is over a quota kept the thread from running. Where the kernel
 * adds that up, it is taken for the wait's first part, as it is for a thread that used up its quota
 * itself. */
static __always_inline void say_throttled(struct cpu_state *c, struct party p, const struct wait *w,
					  __u64 now)
{
	struct task_struct *task = p.task;
	__u64 from = now, until = 0, took;
	struct cfs_rq *queue;

	if (!RECORDS_WANTED || !bpf_core_field_exists(task->se.cfs_rq) ||
	    !bpf_core_field_exists(task->se.parent))
		return;
	if (bpf_core_field_exists(task->se.cfs_rq->throttled_clock_self_time)) {
		queue = task->se.cfs_rq;
		took = queue->throttled_clock_self_time - w->throttled_ns;
		if (w->queue != (__u64)queue || (__s64)took <= 0)
			return;
		from = w->here_ns;
		until = took < now - from ? from + took : now;
	} else {
		quota_of_groups(task, w->since_ns, now, &from, &until);
	}
	if (from < until)
		watch_say(c, WATCH_THROTTLED, p, until, from, now);
}

/* ---- where the kernel does not add up what they took ---- */

SEC("?fentry/throttle_cfs_rq")
int BPF_PROG(watch_throttle, struct cfs_rq *queue)
{
	struct throttle t = {.from_ns = bpf_ktime_get_ns()};
	__u64 key = (__u64)queue;

	if (!gate)
		return 0;
	bpf_map_update_elem(&watch_throttles, &key, &t, BPF_ANY);
	throttled_ns = t.from_ns;
	return 0;
}

SEC("?fentry/unthrottle_cfs_rq")
int BPF_PROG(watch_unthrottle, struct cfs_rq *queue)
{
	__u64 key = (__u64)queue;
	struct throttle *t = gate ? bpf_map_lookup_elem(&watch_throttles, &key) : NULL;

	if (t && t->until_ns < t->from_ns)
		throttled_ns = t->until_ns = bpf_ktime_get_ns();
	return 0;
}

#endif
