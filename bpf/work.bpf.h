/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The marks of functions, for the programs on them (work.bpf.c, held.bpf.c). */
#ifndef CULPRIT_WORK_BPF_H
#define CULPRIT_WORK_BPF_H

#include "trace.bpf.h"
#include "context.bpf.h"
#include "asker.bpf.h"
#include "turns.bpf.h"

/* `level` is known when this is compiled: each has code of its own. Otherwise each field of it
 * would have to be looked up. */
static __always_inline void mark_plain(struct cpu_state *c, int level, int what, __u64 function)
{
	mark(c, level, what, function, mark_time(c, level));
}

/* The timer tells what runs it. The open intervals do not: there are interrupts without a
 * tracepoint (that of Hyper-V's timer), and one may come upon a softirq. */
static __always_inline void note_hrtimer(struct hrtimer *timer)
{
	struct cpu_state *c = target();

	if (!c)
		put_call(timer);
	else if (timer->is_soft)
		mark_plain(c, LEVEL_SOFTIRQ, MARK_HRTIMER, (__u64)timer->function);
	else
		mark_plain(c, LEVEL_IRQ, MARK_HRTIMER, (__u64)timer->function);
}

/* The timer of a delayed work only queues the work: name the work. */
static __always_inline void note_timer(struct timer_list *timer)
{
	struct cpu_state *c = target();
	__u64 function = (__u64)timer->function;

	if (!c)
		return;
	if (function && function == at_delayed_work_timer_fn) {
		struct delayed_work *d =
			(void *)timer - bpf_core_field_offset(struct delayed_work, timer);

		function = (__u64)BPF_CORE_READ(d, work.func);
	}
	mark_plain(c, LEVEL_SOFTIRQ, MARK_TIMER, function);
}

static __always_inline void note_tasklet(void *function)
{
	struct cpu_state *c = target();

	if (c)
		mark_plain(c, LEVEL_SOFTIRQ, MARK_TASKLET, (__u64)function);
}

/* No tracepoint names what an irq_work runs. Interrupts run it, maybe upon a softirq; on PREEMPT_RT
 * threads do, or softirqs. */
static __always_inline void note_irq_work(struct irq_work *work)
{
	struct cpu_state *c = target();
	__u64 function = (__u64)BPF_CORE_READ(work, func);

	if (!c)
		return;
	if (c->irq[0].start_ns || context_now() == CONTEXT_IRQ)
		mark_asked(c, LEVEL_IRQ, MARK_IRQ_WORK, function, mark_time(c, LEVEL_IRQ),
			   irq_work_key(bpf_get_smp_processor_id(), function), true);
	else if (c->softirq.start_ns)
		mark_plain(c, LEVEL_SOFTIRQ, MARK_IRQ_WORK, function);
	else
		mark_plain(c, LEVEL_THREAD, MARK_IRQ_WORK, function);
}

static __always_inline void note_work(struct work_struct *work)
{
	struct cpu_state *c = target();
	int level;

	if (!c)
		return;
	/* runs in a softirq: the bottom-half workqueues */
	level = c->softirq.start_ns ? LEVEL_SOFTIRQ : LEVEL_THREAD;
	mark_asked(c, level, MARK_WORK, (__u64)work->func, clock_at(c, level), work_key(work),
		   true);
}

#endif
