/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions: those of timers, work items, IPI calls, irq_work, tasklets. Each start is one mark. No
 * exit hook exists, because the next mark or the end of the interval ends it.
 */
#include "work.bpf.h"

SEC("?tp_btf/hrtimer_expire_entry")
int BPF_PROG(hrtimer_expire_entry, struct hrtimer *timer)
{
	note_hrtimer(timer);
	return 0;
}

SEC("?tp_btf/timer_expire_entry")
int BPF_PROG(timer_expire_entry, struct timer_list *timer)
{
	note_timer(timer);
	return 0;
}

SEC("?tp_btf/tasklet_entry")
int BPF_PROG(tasklet_entry, void *tasklet, void *function)
{
	note_tasklet(function);
	return 0;
}

SEC("?fentry/irq_work_single")
int BPF_PROG(irq_work_single, struct irq_work *work)
{
	note_irq_work(work);
	return 0;
}

SEC("?tp_btf/workqueue_execute_start")
int BPF_PROG(workqueue_execute_start, struct work_struct *work)
{
	note_work(work);
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
