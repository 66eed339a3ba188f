/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sums of a CPU: their memory, and which of them its open intervals add to. For trace.bpf.h,
 * which says whether there are any. */
#ifndef CULPRIT_CPU_SUMS_BPF_H
#define CULPRIT_CPU_SUMS_BPF_H

#include "sums.bpf.h"

struct cpu_sums {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* resized to SUM_ROWS for each target CPU before loading */
	__type(key, __u32);
	__type(value, struct sum);
};
extern struct cpu_sums cpu_sums SEC(".maps");

static __always_inline struct sum *sum_at(struct cpu_state *c, __u32 row)
{
	row += c->own.sums.base;
	return bpf_map_lookup_elem(&cpu_sums, &row);
}

#define CLOCK_TRIES 4

/* Reads the clock for an interval of this level. An interrupt between that and a look at what ran
 * inside would count on the wrong side of it. */
static __always_inline __u64 clock_at(struct cpu_state *c, int level)
{
	__u64 now = 0, inside;

	if (!SUMMING)
		return bpf_ktime_get_ns();
	for (int i = 0; i < CLOCK_TRIES; i++) {
		inside = sum_inside(c, level);
		c->own.sums.inside[level] = inside;
		now = bpf_ktime_get_ns();
		if (sum_inside(c, level) == inside)
			break;
	}
	return now;
}

/* The interval of this level that is open; kind 0: none is. */
static __always_inline struct record sum_opened(const struct cpu_state *c, int level)
{
	const struct record_open *o = level == LEVEL_SOFTIRQ  ? &c->softirq
				      : level == LEVEL_THREAD ? &c->thread
				      : c->irq[1].start_ns    ? &c->irq[1]
							      : &c->irq[0];
	struct record r = {.start_ns = o->start_ns, .id = o->id};

	if (o->start_ns)
		r.kind = level == LEVEL_SOFTIRQ  ? RECORD_SOFTIRQ
			 : level == LEVEL_THREAD ? RECORD_THREAD
						 : o->kind;
	return r;
}

static __always_inline int sum_place(const struct cpu_state *c, int level)
{
	return level == LEVEL_SOFTIRQ  ? SUM_SOFTIRQ
	       : level == LEVEL_THREAD ? SUM_THREAD
	       : c->irq[1].start_ns    ? SUM_IRQ_INSIDE
				       : SUM_IRQ;
}

static __always_inline void sum_interval(struct cpu_state *c, int level, int kind, __u32 id,
					 __u64 arg, __u64 start, __u64 end)
{
	struct record r = {.start_ns = start, .end_ns = end, .arg = arg, .id = id, .kind = kind};

	if (level == LEVEL_NMI)
		sum_nmi(c, &r);
	else if (level == LEVEL_SOFTIRQ)
		sum_end(c, SUM_SOFTIRQ, &r, false);
	else if (level == LEVEL_IRQ)
		sum_end(c, c->irq[1].start_ns == start ? SUM_IRQ_INSIDE : SUM_IRQ, &r, false);
}

#endif
