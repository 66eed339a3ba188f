/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions: those of timers, work items, IPI calls, irq_work, tasklets. Each start is one mark. No
 * exit hook exists, because the next mark or the end of the interval ends it.
 */
#include "trace.bpf.h"
#include "context.bpf.h"
#include "turns.bpf.h"

/* `level` is known when this is compiled: each has code of its own. Otherwise each field of it
 * would have to be looked up. */
static __always_inline void mark_plain(struct cpu_state *c, int level, int what, __u64 function)
{
	mark(c, level, what, function, mark_time(c, level));
}

/* The timer tells what runs it. The open intervals do not: there are interrupts without a
 * tracepoint (that of Hyper-V's timer), and one may come upon a softirq. */
SEC("?tp_btf/hrtimer_expire_entry")
int BPF_PROG(hrtimer_expire_entry, struct hrtimer *timer)
{
	struct cpu_state *c = target();

	if (!c)
		put_call(timer);
	else if (timer->is_soft)
		mark_plain(c, LEVEL_SOFTIRQ, MARK_HRTIMER, (__u64)timer->function);
	else
		mark_plain(c, LEVEL_IRQ, MARK_HRTIMER, (__u64)timer->function);
	return 0;
}

/* The timer of a delayed work only queues the work: name the work. */
SEC("?tp_btf/timer_expire_entry")
int BPF_PROG(timer_expire_entry, struct timer_list *timer)
{
	struct cpu_state *c = target();
	__u64 function = (__u64)timer->function;

	if (!c)
		return 0;
	if (function && function == at_delayed_work_timer_fn) {
		struct delayed_work *d =
			(void *)timer - bpf_core_field_offset(struct delayed_work, timer);

		function = (__u64)BPF_CORE_READ(d, work.func);
	}
	mark_plain(c, LEVEL_SOFTIRQ, MARK_TIMER, function);
	return 0;
}

SEC("?tp_btf/tasklet_entry")
int BPF_PROG(tasklet_entry, void *tasklet, void *function)
{
	struct cpu_state *c = target();

	if (c)
		mark_plain(c, LEVEL_SOFTIRQ, MARK_TASKLET, (__u64)function);
	return 0;
}

/* No tracepoint names what an irq_work runs. Interrupts run it, maybe upon a softirq; on PREEMPT_RT
 * threads do, or softirqs. */
SEC("?fentry/irq_work_single")
int BPF_PROG(irq_work_single, struct irq_work *work)
{
	struct cpu_state *c = target();
	__u64 function = (__u64)BPF_CORE_READ(work, func);

	if (!c)
		return 0;
	if (c->irq[0].start_ns || context_now() == CONTEXT_IRQ)
		mark_plain(c, LEVEL_IRQ, MARK_IRQ_WORK, function);
	else if (c->softirq.start_ns)
		mark_plain(c, LEVEL_SOFTIRQ, MARK_IRQ_WORK, function);
	else
		mark_plain(c, LEVEL_THREAD, MARK_IRQ_WORK, function);
	return 0;
}

SEC("?tp_btf/workqueue_execute_start")
int BPF_PROG(workqueue_execute_start, struct work_struct *work)
{
	struct cpu_state *c = target();
	int level;

	if (!c)
		return 0;
	/* runs in a softirq: the bottom-half workqueues */
	level = c->softirq.start_ns ? LEVEL_SOFTIRQ : LEVEL_THREAD;
	mark_asked(c, level, MARK_WORK, (__u64)work->func, clock_at(c, level), work_key(work),
		   true);
	return 0;
}

/* Raw, because a program with typed arguments may not read one that points to a function. */
SEC("?raw_tp/csd_function_entry")
int BPF_PROG(csd_function_entry, void *function, void *csd)
{
	struct cpu_state *c = target();

	if (c)
		mark_asked(c, LEVEL_IRQ, MARK_CSD, (__u64)function, mark_time(c, LEVEL_IRQ),
			   csd_key(bpf_get_smp_processor_id(), csd), true);
	return 0;
}

/* Records failures only: the dependency that kept the tick. Interrupts are off here, as for all
 * writers of the IRQ ring. */
SEC("?tp_btf/tick_stop")
int BPF_PROG(tick_stop, int success, int dependency)
{
	struct cpu_state *c = success ? NULL : target();
	struct task_struct *task = (void *)bpf_get_current_task();
	struct record r = {.id = dependency, .kind = RECORD_TICK};

	if (!c)
		return 0;
	r.arg = (__u32)bpf_get_current_pid_tgid();
	if (BPF_CORE_READ(task, flags) & PF_KTHREAD) /* 5.10 has no bpf_get_current_task_btf() */
		r.flags = RECORD_KTHREAD;
	bpf_get_current_comm(r.name, sizeof(r.name));
	r.start_ns = r.end_ns = bpf_ktime_get_ns();
	put_wide(c, LEVEL_IRQ, &r);
	return 0;
}
