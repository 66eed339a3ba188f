/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watched threads that a timer wakes: when it was due, which is when they should have run. */
#ifndef CULPRIT_DUE_BPF_H
#define CULPRIT_DUE_BPF_H

#include "trace.bpf.h"

/* Watched threads woken by a timer: when the timer was due. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, __s32);
	__type(value, __u64);
} watch_dues SEC(".maps");

/* Due time of the timer whose function this CPU runs; 0: it runs none. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} watch_timer_due SEC(".maps");

/* Notes when the timer was due: at the end of its slack. In a softirq, an interrupt may run on top
 * of the timer's function, and wake somebody for other reasons. */
SEC("?tp_btf/hrtimer_expire_entry")
int BPF_PROG(watch_timer, struct hrtimer *timer)
{
	__u64 *due;
	__u32 zero = 0;

	due = gate ? bpf_map_lookup_elem(&watch_timer_due, &zero) : NULL;
	if (!due || !bpf_core_field_exists(timer->node.expires) ||
	    !bpf_core_field_exists(timer->base->offset))
		return 0;
	*due = timer->is_soft ? 0 : timer->node.expires - timer->base->offset;
	return 0;
}

SEC("?tp_btf/hrtimer_expire_exit")
int BPF_PROG(watch_timer_end)
{
	__u64 *due;
	__u32 zero = 0;

	due = gate ? bpf_map_lookup_elem(&watch_timer_due, &zero) : NULL;
	if (due)
		*due = 0;
	return 0;
}

/* Runs on the waker's CPU. The newest wake-up holds: one that came before the thread had gone to
 * sleep leaves nothing. */
SEC("?tp_btf/sched_waking")
int BPF_PROG(watch_waking, struct task_struct *task)
{
	__s32 tid = task->pid;
	__u64 *due;
	__u32 zero = 0;

	if (!gate || !is_watched(task))
		return 0;
	due = bpf_map_lookup_elem(&watch_timer_due, &zero);
	if (!due || !*due || bpf_map_update_elem(&watch_dues, &tid, due, BPF_ANY))
		bpf_map_delete_elem(&watch_dues, &tid);
	return 0;
}

#endif
