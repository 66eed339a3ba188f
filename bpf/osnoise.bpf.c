/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's own osnoise events (include/trace/events/osnoise.h), written to the same rings, so
 * that they come in order with ours. Loaded only for a comparison, while the osnoise tracer is
 * switched on. */
#include "trace.bpf.h"

static __always_inline struct record noise(int kind, __u32 id, __u64 duration)
{
	__u64 now = bpf_ktime_get_ns();

	return (struct record){.start_ns = now,
			       .end_ns = now,
			       .arg = duration,
			       .id = id,
			       .kind = RECORD_OSNOISE,
			       .mark = kind};
}

SEC("?tp_btf/irq_noise")
int BPF_PROG(irq_noise, int vector, const char *desc, __u64 start, __u64 duration)
{
	struct cpu_state *c = target();
	struct record r;

	if (!c)
		return 0;
	r = noise(RECORD_IRQ, vector, duration);
	bpf_probe_read_kernel_str(r.name, sizeof(r.name), desc);
	put_wide(c, LEVEL_IRQ, &r);
	return 0;
}

SEC("?tp_btf/softirq_noise")
int BPF_PROG(softirq_noise, int vector, __u64 start, __u64 duration)
{
	struct cpu_state *c = target();
	struct record r;

	if (!c)
		return 0;
	r = noise(RECORD_SOFTIRQ, vector, duration);
	put_wide(c, LEVEL_SOFTIRQ, &r);
	return 0;
}

/* The kernel also emits this for the sampler itself, with all that it ran, each time it is switched
 * out: that is no noise. */
SEC("?tp_btf/thread_noise")
int BPF_PROG(thread_noise, struct task_struct *task, __u64 start, __u64 duration)
{
	struct cpu_state *c = target();
	struct record r;

	if (!c || task->pid == c->sampler)
		return 0;
	r = noise(RECORD_THREAD, task->pid, duration);
	read_comm(r.name, task);
	put_wide(c, LEVEL_THREAD, &r);
	return 0;
}

SEC("?tp_btf/nmi_noise")
int BPF_PROG(nmi_noise, __u64 start, __u64 duration)
{
	struct cpu_state *c = target_in_nmi();
	__u64 now;

	if (!c)
		return 0;
	now = bpf_ktime_get_ns();
	put_narrow(c, LEVEL_NMI, RECORD_OSNOISE, RECORD_NMI, 0, 0, duration, now, now);
	return 0;
}
