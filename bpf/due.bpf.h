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

#define TIMER_CLOCKS 4 /* those of interrupts */

/* Timers of a CPU. */
struct timer_state {
	__u64 due_ns; /* due time of the one whose function it runs; 0: none, or not known */
	/* Lead of each clock over CLOCK_MONOTONIC, and since when it was seen. */
	struct {
		__s64 ahead_ns;
		__u64 since_ns;
	} clock[TIMER_CLOCKS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct timer_state);
} watch_timer_due SEC(".maps");

/* When the timer was due: at the end of its slack. A clock that is set, or went on while the
 * machine slept, makes timers late that were not due before; nobody tells when that was. So nothing
 * is known of what was due before a timer was seen by the clock as it is now. */
static __always_inline __u64 timer_due(struct timer_state *t, const struct hrtimer *timer)
{
	__s64 ahead = timer->base->offset;
	__u64 due = timer->node.expires - ahead;
	__u32 i;

	if (!ahead) /* CLOCK_MONOTONIC, or another as it was at the boot */
		return due;
	if (!bpf_core_field_exists(timer->base->index))
		return 0;
	i = timer->base->index % TIMER_CLOCKS;
	if (t->clock[i].ahead_ns != ahead) {
		t->clock[i].ahead_ns = ahead;
		t->clock[i].since_ns = bpf_ktime_get_ns();
	}
	return due < t->clock[i].since_ns ? 0 : due;
}

/* In a softirq, an interrupt may run on top of the timer's function, and wake somebody for other
 * reasons. */
SEC("?tp_btf/hrtimer_expire_entry")
int BPF_PROG(watch_timer, struct hrtimer *timer)
{
	struct timer_state *t;
	__u32 zero = 0;

	t = gate ? bpf_map_lookup_elem(&watch_timer_due, &zero) : NULL;
	if (!t || !bpf_core_field_exists(timer->node.expires) ||
	    !bpf_core_field_exists(timer->base->offset))
		return 0;
	t->due_ns = timer->is_soft ? 0 : timer_due(t, timer);
	return 0;
}

SEC("?tp_btf/hrtimer_expire_exit")
int BPF_PROG(watch_timer_end)
{
	struct timer_state *t;
	__u32 zero = 0;

	t = gate ? bpf_map_lookup_elem(&watch_timer_due, &zero) : NULL;
	if (t)
		t->due_ns = 0;
	return 0;
}

/* The thread is a new one, or ends: another one may have had this number, or get it. */
static __always_inline void forget_due(__s32 tid)
{
	bpf_map_delete_elem(&watch_dues, &tid);
}

/* Runs on the waker's CPU. The newest wake-up holds: one that came before the thread had gone to
 * sleep leaves nothing. */
SEC("?tp_btf/sched_waking")
int BPF_PROG(watch_waking, struct task_struct *task)
{
	__s32 tid = task->pid;
	struct timer_state *t;
	__u32 zero = 0;

	if (!gate || !is_watched(task))
		return 0;
	t = bpf_map_lookup_elem(&watch_timer_due, &zero);
	if (!t || !t->due_ns || bpf_map_update_elem(&watch_dues, &tid, &t->due_ns, BPF_ANY))
		bpf_map_delete_elem(&watch_dues, &tid);
	return 0;
}

#endif
