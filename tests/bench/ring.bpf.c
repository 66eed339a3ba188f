/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cost of a record, ring by ring: four programs on a tracepoint that a cheap system call fires
 * (prctl(PR_SET_NAME)). Each does one thing more than the one before. */
#include "trace.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} ringbuf SEC(".maps");

SEC("?tp_btf/task_rename")
int bench_empty(void *ctx)
{
	return 0;
}

SEC("?tp_btf/task_rename")
int bench_clock(void *ctx)
{
	struct cpu_state *c = target();

	if (c)
		c->softirq.start_ns = bpf_ktime_get_ns();
	return 0;
}

/* Uses the probes' ring. */
SEC("?tp_btf/task_rename")
int bench_array(void *ctx)
{
	struct cpu_state *c = target();
	__u64 now;

	if (!c)
		return 0;
	now = bpf_ktime_get_ns();
	c->tail[LEVEL_IRQ] = c->head[LEVEL_IRQ]; /* never full: does the reader's part */
	emit(c, LEVEL_IRQ, RECORD_IRQ, 0, 0, now, now);
	return 0;
}

/* Uses the kernel's ring buffer, without wakeups. */
SEC("?tp_btf/task_rename")
int bench_ringbuf(void *ctx)
{
	struct cpu_state *c = target();
	struct record *r;
	__u64 now;

	if (!c)
		return 0;
	now = bpf_ktime_get_ns();
	r = bpf_ringbuf_reserve(&ringbuf, sizeof(*r), 0);
	if (!r) {
		c->unpaired++;
		return 0;
	}
	r->kind = RECORD_IRQ;
	r->id = 0;
	r->arg = 0;
	r->level = LEVEL_IRQ;
	r->flags = 0;
	r->callsite = 0;
	r->start_ns = now;
	r->end_ns = now;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}
