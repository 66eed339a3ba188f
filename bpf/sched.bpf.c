/* Foreign threads on a target CPU, and what the sampler itself does wrong there: page faults, remote TLB flushes. */
#include "trace.bpf.h"
#include "origin.bpf.h"

/* PREEMPT_RT runs softirqs in threads that can be preempted. A softirq that is open when its thread goes is ended here as a part,
 * and begun again when the thread comes back, so that it is not blamed for what runs in between. */
static __always_inline void softirq_over_switch(struct cpu_state *c, __u64 now, int prev, int next)
{
	if (c->softirq.start_ns) {
		struct record *r = reserve(c, LEVEL_SOFTIRQ);

		if (r) {
			r->kind = RECORD_SOFTIRQ;
			r->id = c->softirq.id;
			r->arg = 0;
			r->flags = RECORD_PART;
			r->start_ns = c->softirq.start_ns;
			r->end_ns = now;
			publish(c, LEVEL_SOFTIRQ);
		}
		c->preempted.start_ns = prev;
		c->preempted.id = c->softirq.id;
		c->softirq.start_ns = 0;
	} else if (c->preempted.start_ns && c->preempted.start_ns == (__u64)next) {
		c->softirq.id = c->preempted.id;
		c->softirq.start_ns = now;
		c->preempted.start_ns = 0;
	}
}

#define TASK_IDLE 0x402 /* how an idle worker sleeps: UNINTERRUPTIBLE | NOLOAD (include/linux/sched.h) */

static __always_inline unsigned int state_of(struct task_struct *task)
{
	if (bpf_core_field_exists(task->__state))
		return task->__state;
	return BPF_CORE_READ((struct task_struct___before_5_14 *)task, state);
}

#define PF_KTHREAD 0x00200000 /* include/linux/sched.h */

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

/* The fourth argument, where the kernel has one, is not read: its place changed between versions (5.18). */
SEC("?tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct cpu_state *c = target();
	__u64 now;
	int in;

	if (!c)
		return 0;
	now = bpf_ktime_get_ns();
	in = next->pid;
	softirq_over_switch(c, now, prev->pid, in);
	c->irq[0].start_ns = 0; /* no interrupt is open here: an exit was missed */
	c->irq[1].start_ns = 0;
	if (c->thread.start_ns && c->thread.id != (__u32)prev->pid)
		c->unpaired++; /* it left unseen */
	if (prev->pid == c->sampler) {
		c->switches++;
		thread_begins(c, next, now);
	} else if (c->thread.start_ns) {
		thread_ends(c, prev, now);
	}
	c->thread.id = in;
	c->thread.start_ns = in == c->sampler ? 0 : now;
	if (c->thread.start_ns)
		note_waker(c, in, now);
	return 0;
}

/* Entry only: there is no exit to hook. The join lets the fault last until the sampler runs again. */
SEC("?tp_btf/page_fault_user")
int BPF_PROG(page_fault_user, unsigned long address, void *regs, unsigned long error_code)
{
	struct cpu_state *c = target();
	__u64 now;

	if (!c || (int)bpf_get_current_pid_tgid() != c->sampler)
		return 0;
	now = bpf_ktime_get_ns();
	emit(c, LEVEL_THREAD, RECORD_FAULT, error_code, address, now, now);
	return 0;
}

#define TLB_REMOTE_SHOOTDOWN 1 /* enum tlb_flush_reason, include/linux/mm_types.h */
#define TLB_REMOTE_WRONG_CPU 5
/* Only flushes that another CPU asked for, which run in its IPI: the others belong to a thread that is recorded already. */
SEC("?tp_btf/tlb_flush")
int BPF_PROG(tlb_flush, int reason, unsigned long pages)
{
	struct cpu_state *c = target();
	struct record *r;

	if (!c || (reason != TLB_REMOTE_SHOOTDOWN && reason != TLB_REMOTE_WRONG_CPU))
		return 0;
	r = reserve(c, LEVEL_IRQ);
	if (!r)
		return 0;
	r->kind = RECORD_TLB;
	r->id = reason;
	r->arg = pages;
	r->name[0] = 0;
	if (reason == TLB_REMOTE_SHOOTDOWN) /* else it is another's memory that is loaded here */
		bpf_get_current_comm(r->name, sizeof(r->name));
	r->start_ns = r->end_ns = bpf_ktime_get_ns();
	publish(c, LEVEL_IRQ);
	return 0;
}
