/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the programs on sched_switch: the sampler's (sched.bpf.c) and the one that follows
 * watched threads (watch.bpf.c). */
#ifndef CULPRIT_SCHED_BPF_H
#define CULPRIT_SCHED_BPF_H

#include "trace.bpf.h"
#include "asker.bpf.h"

/* Time of what ran inside a softirq until the clock was read for its thread. */
static __always_inline __u64 inside_softirq(const struct cpu_state *c)
{
	return c->own.sums.inside[LEVEL_THREAD] - c->own.sums.net_ns[LEVEL_SOFTIRQ];
}

static __always_inline void sum_softirq_part(struct cpu_state *c, __u64 now)
{
	struct record r = sum_opened(c, LEVEL_SOFTIRQ);
	__u64 before = c->own.sums.net_ns[LEVEL_SOFTIRQ];

	r.end_ns = now;
	c->own.sums.inside[LEVEL_SOFTIRQ] = inside_softirq(c);
	sum_end(c, SUM_SOFTIRQ, &r, true);
	c->own.sums.inside[LEVEL_THREAD] += c->own.sums.net_ns[LEVEL_SOFTIRQ] - before;
	c->own.sums.preempted_counted = c->own.sums.open[SUM_SOFTIRQ].counted;
}

static __always_inline void sum_softirq_again(struct cpu_state *c, __u32 counted)
{
	c->own.sums.inside[LEVEL_SOFTIRQ] = inside_softirq(c);
	sum_begin(c, SUM_SOFTIRQ);
	c->own.sums.open[SUM_SOFTIRQ].counted = counted;
}

/* PREEMPT_RT runs softirqs in threads that can be preempted. When its thread leaves, an open
 * softirq ends here as a part; it begins again, in the same function, when the thread returns. So
 * it is not blamed for what runs in between. One is remembered: where threads need no lock for
 * their softirqs (PREEMPT_RT_NEEDS_BH_LOCK) two take turns, and of a third one the rest is its
 * thread's. */
static __always_inline void softirq_over_switch(struct cpu_state *c, __u64 now, int prev, int next)
{
	const struct record_open before = c->own.preempted;
	__u64 function = c->own.preempted_mark;
	__u32 counted = SUMMING ? c->own.sums.preempted_counted : 0;

	if (c->softirq.start_ns) {
		if (SUMMING)
			sum_softirq_part(c, now);
		put_narrow(c, LEVEL_SOFTIRQ, RECORD_SOFTIRQ, 0,
			   RECORD_PART |
				   (WATCHING && RECORDS_WANTED ? watch_flags(c, LEVEL_SOFTIRQ) : 0),
			   c->softirq.id, 0, c->softirq.start_ns, now);
		c->own.preempted.start_ns = prev;
		c->own.preempted.id = c->softirq.id;
		c->own.preempted_mark = c->own.mark[LEVEL_SOFTIRQ];
		c->softirq.start_ns = 0;
	} else if (before.start_ns && before.start_ns == (__u64)next) {
		c->own.preempted.start_ns = 0;
	}
	if (before.start_ns && before.start_ns == (__u64)next) {
		c->softirq.id = before.id;
		c->softirq.start_ns = now;
		c->own.mark[LEVEL_SOFTIRQ] = 0;
		c->own.began[LEVEL_SOFTIRQ] = inner_records(c, LEVEL_SOFTIRQ);
		if (SUMMING)
			sum_softirq_again(c, counted);
		if (function)
			mark(c, LEVEL_SOFTIRQ, MARK_TIMER, function, now);
	}
}

/* Forgets softirqs, where threads are watched, that may have gone on while nobody was here: an open
 * one may have ended unseen, and the thread of one put aside may have come back. After a switch
 * that nobody saw, `active` is raised before the next one. */
static __always_inline void forget_softirqs(struct cpu_state *c)
{
	bool nobody = !c->active;

	if (!c->softirq.start_ns && !c->own.preempted.start_ns)
		return;
	if (nobody || is_older(c, c->softirq.start_ns))
		c->softirq.start_ns = 0;
	if (nobody || c->thread.start_ns <= c->own.active_since)
		c->own.preempted.start_ns = 0;
}

/* include/linux/sched.h. TASK_IDLE: UNINTERRUPTIBLE | NOLOAD, an idle worker's sleep. */
#define TASK_RUNNING         0
#define TASK_UNINTERRUPTIBLE 2
#define TASK_RTLOCK_WAIT     0x1000 /* for a spinlock on PREEMPT_RT, since 5.15 */
#define TASK_IDLE            0x402
#define PF_WQ_WORKER         0x20

static __always_inline unsigned int state_of(struct task_struct *task)
{
	if (bpf_core_field_exists(task->__state))
		return task->__state;
	return BPF_CORE_READ((struct task_struct___before_5_14 *)task, state);
}

/* The CPU whose run queue a thread is in that is ready to run, or was in last. */
static __always_inline unsigned int cpu_of(struct task_struct *task)
{
	if (bpf_core_field_exists(task->thread_info.cpu))
		return task->thread_info.cpu;
	return BPF_CORE_READ((struct task_struct___before_5_16 *)task, cpu);
}

#define TS_COMPAT      2    /* arch/x86/include/asm/thread_info.h */
#define PSR_MODE32_BIT 0x10 /* arch/arm64/include/uapi/asm/ptrace.h */

/* The table of the call that the running thread makes: programs of 32 bits have another, and on x86
 * those of 64 bits may call by that, too. */
static __always_inline __u32 table_of(const void *regs)
{
	const struct task_struct *task = (void *)bpf_get_current_task();
	const struct pt_regs___on_arm64 *arm64 = regs;

	if (bpf_core_field_exists(task->thread_info.status)) /* x86 */
		return BPF_CORE_READ(task, thread_info.status) & TS_COMPAT ? SYSCALL_UNKNOWN
									   : SYSCALL_X86_64;
	if (bpf_core_field_exists(arm64->syscallno))
		return BPF_CORE_READ(arm64, pstate) & PSR_MODE32_BIT ? SYSCALL_UNKNOWN
								     : SYSCALL_ARM64;
	return SYSCALL_UNKNOWN;
}

static __always_inline __u8 kthread_flag(unsigned int flags)
{
	return flags & PF_KTHREAD ? RECORD_KTHREAD : 0;
}

/* True when this kernel's type information tells where workers say what they do. */
#define WORKERS_TELL                                                                               \
	(bpf_core_field_exists(((struct worker *)0)->current_func) &&                              \
	 bpf_core_field_exists(((struct kthread *)0)->data))

static __always_inline bool is_worker(unsigned int flags)
{
	return flags & PF_WQ_WORKER;
}

/* Function of the work item that a worker is in the middle of; 0: none, or not known. */
static __always_inline __u64 work_of(struct task_struct *task)
{
	const struct task_struct___before_5_17 *old = (void *)task;
	const struct kthread *thread;
	const struct worker *worker;

	if (!is_worker(task->flags) || !WORKERS_TELL)
		return 0;
	thread = bpf_core_field_exists(task->worker_private) ? BPF_CORE_READ(task, worker_private)
							     : BPF_CORE_READ(old, set_child_tid);
	worker = BPF_CORE_READ(thread, data);
	return (__u64)BPF_CORE_READ(worker, current_func);
}

/* A worker that tells goes on with nothing unless a mark says so when it returns. Other threads
 * that run functions, PREEMPT_RT's irq_work/N, sleep interruptibly when they have done their work;
 * in the middle of it they are preempted, or wait for a lock. */
static __always_inline bool goes_on(struct task_struct *task, unsigned int flags)
{
	unsigned int state = state_of(task);

	if (is_worker(flags))
		return !WORKERS_TELL && state != TASK_IDLE;
	return state == TASK_RUNNING || state == TASK_UNINTERRUPTIBLE || state == TASK_RTLOCK_WAIT;
}

/* unseen: RECORD_UNSEEN or 0. */
static __always_inline void thread_ends(struct cpu_state *c, struct party p, __u64 now, __u8 unseen)
{
	struct task_struct *task = p.task;
	unsigned int flags = task->flags;
	struct record r = {.start_ns = c->thread.start_ns,
			   .end_ns = now,
			   .arg = OWNER_PROCESS(p.owner),
			   .id = p.tid,
			   .kind = RECORD_THREAD,
			   .flags = kthread_flag(flags) | unseen,
			   .owner = p.owner};

	read_comm(r.name, task);
	if (SUMMING)
		sum_end(c, SUM_THREAD, &r, false);
	if (!RECORDS_WANTED)
		return;
	if (goes_on(task, flags))
		r.flags |= RECORD_ONGOING;
	r.prio = task->prio;
	put_wide(c, LEVEL_THREAD, &r);
}

/* Some kernels have threads that leave without the tracepoint, so the thread that replaces the
 * sampler is reported at once. */
static __always_inline void thread_begins(struct cpu_state *c, struct party p, __u64 now)
{
	struct record r = {.start_ns = now,
			   .end_ns = now,
			   .id = p.tid,
			   .kind = RECORD_MARK,
			   .flags = kthread_flag(p.task->flags),
			   .mark = MARK_THREAD,
			   .owner = p.owner,
			   .prio = p.task->prio};

	c->own.mark[LEVEL_THREAD] = 0;
	if (!RECORDS_WANTED)
		return;
	read_comm(r.name, p.task);
	put_wide(c, LEVEL_THREAD, &r);
}

static __always_inline void note_waker(struct cpu_state *c, struct task_struct *task, __u32 tid,
				       __u64 now)
{
	struct asker_key key = wake_key(tid);
	struct asker_note *n = RECORDS_WANTED ? note_of(&key) : NULL;

	if (!n)
		return;
	key.switches = switches_of(task);
	mark_noted(c, LEVEL_THREAD, MARK_WAKER, 0, now, n, key, false);
}

/* Notes who woke the thread that begins here, and what it goes on with: a worker may have begun
 * that before the window, or on another CPU. */
static __always_inline void note_arrival(struct cpu_state *c, struct task_struct *task, __u32 tid,
					 __u64 now)
{
	__u64 function = work_of(task);

	note_waker(c, task, tid, now);
	if (function)
		mark(c, LEVEL_THREAD, MARK_WORK, function, now);
}

#endif
