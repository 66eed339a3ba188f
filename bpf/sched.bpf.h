/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the programs on sched_switch: the sampler's (sched.bpf.c) and the one that follows
 * watched threads (watch.bpf.c). */
#ifndef CULPRIT_SCHED_BPF_H
#define CULPRIT_SCHED_BPF_H

#include "trace.bpf.h"
#include "asker.bpf.h"

/* PREEMPT_RT runs softirqs in threads that can be preempted. When its thread leaves, an open
 * softirq ends here as a part; it begins again, in the same function, when the thread returns. So
 * it is not blamed for what runs in between. */
static __always_inline void softirq_over_switch(struct cpu_state *c, __u64 now, int prev, int next)
{
	if (c->softirq.start_ns) {
		put_narrow(c, LEVEL_SOFTIRQ, RECORD_SOFTIRQ, 0,
			   RECORD_PART | (watching ? watch_flags(c, LEVEL_SOFTIRQ) : 0),
			   c->softirq.id, 0, c->softirq.start_ns, now);
		c->own.preempted.start_ns = prev;
		c->own.preempted.id = c->softirq.id;
		c->own.preempted_mark = c->own.mark[LEVEL_SOFTIRQ];
		c->softirq.start_ns = 0;
	} else if (c->own.preempted.start_ns && c->own.preempted.start_ns == (__u64)next) {
		c->softirq.id = c->own.preempted.id;
		c->softirq.start_ns = now;
		c->own.preempted.start_ns = 0;
		c->own.mark[LEVEL_SOFTIRQ] = 0;
		c->own.began[LEVEL_SOFTIRQ] = inner_records(c);
		if (c->own.preempted_mark)
			mark(c, LEVEL_SOFTIRQ, MARK_TIMER, c->own.preempted_mark, now);
	}
}

/* State of an idle worker's sleep: UNINTERRUPTIBLE | NOLOAD (include/linux/sched.h). */
#define TASK_IDLE 0x402

static __always_inline unsigned int state_of(struct task_struct *task)
{
	if (bpf_core_field_exists(task->__state))
		return task->__state;
	return BPF_CORE_READ((struct task_struct___before_5_14 *)task, state);
}

static __always_inline __u8 kthread_flag(struct task_struct *task)
{
	return task->flags & PF_KTHREAD ? RECORD_KTHREAD : 0;
}

/* unseen: RECORD_UNSEEN or 0. */
static __always_inline void thread_ends(struct cpu_state *c, struct task_struct *task, __u64 now,
					__u8 unseen)
{
	struct record r = {.start_ns = c->thread.start_ns,
			   .end_ns = now,
			   .arg = task->tgid,
			   .id = task->pid,
			   .kind = RECORD_THREAD,
			   .flags = kthread_flag(task) | unseen |
				    (state_of(task) != TASK_IDLE ? RECORD_ONGOING : 0),
			   .owner = owner_of(task),
			   .prio = task->prio};

	read_comm(r.name, task);
	put_wide(c, LEVEL_THREAD, &r);
}

/* Some kernels have threads that leave without the tracepoint, so the thread that replaces the
 * sampler is reported at once. */
static __always_inline void thread_begins(struct cpu_state *c, struct task_struct *task, __u64 now)
{
	struct record r = {.start_ns = now,
			   .end_ns = now,
			   .id = task->pid,
			   .kind = RECORD_MARK,
			   .flags = kthread_flag(task),
			   .mark = MARK_THREAD,
			   .owner = owner_of(task),
			   .prio = task->prio};

	c->own.mark[LEVEL_THREAD] = 0;
	read_comm(r.name, task);
	put_wide(c, LEVEL_THREAD, &r);
}

static __always_inline void note_waker(struct cpu_state *c, int tid, __u64 now)
{
	mark_asked(c, LEVEL_THREAD, MARK_WAKER, 0, now, wake_key(tid), false);
}

#endif
