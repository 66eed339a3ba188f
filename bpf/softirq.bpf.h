/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The begin and the end of a softirq, for the programs on them (irq.bpf.c, held.bpf.c). */
#ifndef CULPRIT_SOFTIRQ_BPF_H
#define CULPRIT_SOFTIRQ_BPF_H

#include "trace.bpf.h"

static __always_inline void begin_softirq(unsigned int vec)
{
	struct cpu_state *c = target();

	if (!c)
		return;
	c->own.mark[LEVEL_SOFTIRQ] = 0;
	if (!SUMMING)
		c->own.began[LEVEL_SOFTIRQ] = inner_records(c, LEVEL_SOFTIRQ);
	c->softirq.id = vec;
	c->softirq.start_ns = clock_at(c, LEVEL_SOFTIRQ);
	if (SUMMING)
		sum_begin(c, SUM_SOFTIRQ);
}

static __always_inline void end_softirq(unsigned int vec)
{
	struct cpu_state *c = target();
	__u64 now;

	if (!c)
		return;
	now = clock_at(c, LEVEL_SOFTIRQ);
	if (!c->softirq.start_ns || c->softirq.id != vec) {
		c->unpaired++;
		return;
	}
	emit(c, LEVEL_SOFTIRQ, RECORD_SOFTIRQ, vec, 0, c->softirq.start_ns, now);
	c->softirq.start_ns = 0;
}

#endif
