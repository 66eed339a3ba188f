/* What the programs on sched_switch share: the sampler's (sched.bpf.c) and the one that follows watched threads (watch.bpf.c). */
#ifndef CULPRIT_SCHED_BPF_H
#define CULPRIT_SCHED_BPF_H

#include "trace.bpf.h"
#include "origin.bpf.h"

/* PREEMPT_RT runs softirqs in threads that can be preempted. A softirq that is open when its thread goes is ended here as a part,
 * and begun again when the thread comes back, in the same function, so that it is not blamed for what runs in between. */
static __always_inline void softirq_over_switch(struct cpu_state *c, __u64 now, int prev, int next)
{
	struct record *r;

	if (c->softirq.start_ns) {
		r = reserve(c, LEVEL_SOFTIRQ);
		if (r) {
			r->kind = RECORD_SOFTIRQ;
			r->id = c->softirq.id;
			r->arg = 0;
			r->flags = RECORD_PART | (watching ? watch_flags(c, LEVEL_SOFTIRQ) : 0);
			r->start_ns = c->softirq.start_ns;
			r->end_ns = now;
			publish(c, LEVEL_SOFTIRQ);
		}
		c->preempted.start_ns = prev;
		c->preempted.id = c->softirq.id;
		c->preempted_mark = c->mark[LEVEL_SOFTIRQ];
		c->softirq.start_ns = 0;
	} else if (c->preempted.start_ns && c->preempted.start_ns == (__u64)next) {
		c->softirq.id = c->preempted.id;
		c->softirq.start_ns = now;
		c->preempted.start_ns = 0;
		c->mark[LEVEL_SOFTIRQ] = 0;
		r = c->preempted_mark ? mark(c, LEVEL_SOFTIRQ, MARK_TIMER, c->preempted_mark, now) : NULL;
		if (r)
			publish(c, LEVEL_SOFTIRQ);
	}
}

#define TASK_IDLE 0x402 /* how an idle worker sleeps: UNINTERRUPTIBLE | NOLOAD (include/linux/sched.h) */

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

static __always_inline void thread_ends(struct cpu_state *c, struct task_struct *task, __u64 now)
{
	struct record *r = reserve(c, LEVEL_THREAD);

	if (!r)
		return;
	r->kind = RECORD_THREAD;
	r->id = task->pid;
	r->arg = task->tgid;
	r->prio = task->prio;
	bpf_probe_read_kernel(r->name, sizeof(r->name), task->comm);
	r->flags = kthread_flag(task);
	if (state_of(task) != TASK_IDLE)
		r->flags |= RECORD_ONGOING;
	r->start_ns = c->thread.start_ns;
	r->end_ns = now;
	publish(c, LEVEL_THREAD);
}

/* Some kernels have threads that leave without the tracepoint: so who came instead of the sampler is said at once. */
static __always_inline void thread_begins(struct cpu_state *c, struct task_struct *task, __u64 now)
{
	struct record *r = mark(c, LEVEL_THREAD, MARK_THREAD, 0, now);

	if (!r)
		return;
	r->id = task->pid;
	r->prio = task->prio;
	r->flags = kthread_flag(task);
	bpf_probe_read_kernel(r->name, sizeof(r->name), task->comm);
	publish(c, LEVEL_THREAD);
}

static __always_inline void note_waker(struct cpu_state *c, int tid, __u64 now)
{
	struct origin_key key = wake_key(tid);
	struct record *r;

	if (!bpf_map_lookup_elem(&origin_wakes, &key))
		return;
	r = mark(c, LEVEL_THREAD, MARK_WAKER, 0, now);
	if (!r)
		return;
	take_origin(&origin_wakes, key, r);
	publish(c, LEVEL_THREAD);
}

#endif
