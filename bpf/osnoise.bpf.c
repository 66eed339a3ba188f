/* The kernel's own osnoise events (include/trace/events/osnoise.h), into the same rings, so that they come in order with ours. Only where the
 * osnoise tracer is switched on; loaded only when they are to be compared. */
#include "trace.bpf.h"

static __always_inline struct record *noise(struct cpu_state *c, int level, int kind, __u32 id, __u64 duration)
{
	struct record *r = reserve(c, level);

	if (!r)
		return NULL;
	r->kind = RECORD_OSNOISE;
	r->mark = kind;
	r->id = id;
	r->arg = duration;
	r->start_ns = bpf_ktime_get_ns();
	r->end_ns = r->start_ns;
	r->name[0] = 0;
	return r;
}

SEC("?tp_btf/irq_noise")
int BPF_PROG(irq_noise, int vector, const char *desc, __u64 start, __u64 duration)
{
	struct cpu_state *c = target();
	struct record *r = c ? noise(c, LEVEL_IRQ, RECORD_IRQ, vector, duration) : NULL;

	if (!r)
		return 0;
	bpf_probe_read_kernel_str(r->name, sizeof(r->name), desc);
	publish(c, LEVEL_IRQ);
	return 0;
}

SEC("?tp_btf/softirq_noise")
int BPF_PROG(softirq_noise, int vector, __u64 start, __u64 duration)
{
	struct cpu_state *c = target();

	if (c && noise(c, LEVEL_SOFTIRQ, RECORD_SOFTIRQ, vector, duration))
		publish(c, LEVEL_SOFTIRQ);
	return 0;
}

/* Also emitted for the sampler itself, each time it is switched out, with all that it ran: not noise. */
SEC("?tp_btf/thread_noise")
int BPF_PROG(thread_noise, struct task_struct *task, __u64 start, __u64 duration)
{
	struct cpu_state *c = target();
	struct record *r;

	if (!c || task->pid == c->sampler)
		return 0;
	r = noise(c, LEVEL_THREAD, RECORD_THREAD, task->pid, duration);
	if (!r)
		return 0;
	bpf_probe_read_kernel(r->name, sizeof(r->name), task->comm);
	publish(c, LEVEL_THREAD);
	return 0;
}

SEC("?tp_btf/nmi_noise")
int BPF_PROG(nmi_noise, __u64 start, __u64 duration)
{
	struct cpu_state *c = target();

	if (c && noise(c, LEVEL_NMI, RECORD_NMI, 0, duration))
		publish(c, LEVEL_NMI);
	return 0;
}
