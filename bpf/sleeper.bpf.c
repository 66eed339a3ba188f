/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For a sampler that sleeps (culprit sleep): when the timer that wakes it began to run. It may run
 * on another CPU than the sampler's, as those of nohz_full CPUs do. */
#include "trace.bpf.h"

/* When the timer whose function this CPU runs began; 0: it runs none. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} timer_since SEC(".maps");

static __always_inline __u64 *since_here(void)
{
	__u32 zero = 0;

	return gate ? bpf_map_lookup_elem(&timer_since, &zero) : NULL;
}

SEC("?tp_btf/hrtimer_expire_entry")
int BPF_PROG(sleeper_timer)
{
	__u64 *since = since_here();

	if (since)
		*since = bpf_ktime_get_ns();
	return 0;
}

SEC("?tp_btf/hrtimer_expire_exit")
int BPF_PROG(sleeper_timer_ends)
{
	__u64 *since = since_here();

	if (since)
		*since = 0;
	return 0;
}

/* wake_cpu: where it slept, which is where samplers stay. */
SEC("?tp_btf/sched_waking")
int BPF_PROG(sleeper_wakes, struct task_struct *task)
{
	__u64 *since = since_here();
	struct cpu_state *c;

	if (!since || !*since)
		return 0;
	c = state_of_cpu(task->wake_cpu);
	if (c && c->sampler == task->pid)
		c->timer_ns = *since;
	return 0;
}
