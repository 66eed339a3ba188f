/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watched threads (culprit watch): when each runs, and since when it was ready to run but did not.
 * Replaces sched.bpf.c, which follows the sampler: here the threads are the user's, on any CPU.
 * Nothing is recorded on a CPU where none of them runs or waits. */
#include "sched.bpf.h"
#include "wait.bpf.h"
#include "quota.bpf.h"
#include "due.bpf.h"
#include "vcpu.bpf.h"
#include "watch.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, WAIT_SETS);
	__type(key, __u32);
	__type(value, struct wait_set);
} watch_waits SEC(".maps");

static __always_inline struct wait_set *waits_at(__u32 index)
{
	return bpf_map_lookup_elem(&watch_waits, &index);
}

static __always_inline void deactivate(struct cpu_state *c, __u64 now)
{
	if (!c || !c->active)
		return;
	if (SUMMING && c->active == 1) {
		sum_left(c, now);
		order_stores(c); /* with nobody here comes since when */
	}
	__sync_fetch_and_add(&c->active, -1);
}

static __always_inline void waits_on(struct cpu_state *c, __u64 now)
{
	if (!c->thread.start_ns) { /* from now on the thread that runs there is in its way */
		c->thread.start_ns = now;
	} else if (SUMMING && !c->active) {
		order_loads(c); /* see deactivate() */
		sum_gap(c, now);
	}
	activate(c, now);
}

/* False: it has no place among those that wait, or is there already. */
static __always_inline bool put_wait(struct cpu_state *c, struct task_struct *task, __s32 tid,
				     __u32 cpu, __u32 kind, __u64 now)
{
	struct wait *w = wait_new(tid, &c->own.waits_lost);

	if (!w)
		return false;
	w->since_ns = w->here_ns = now;
	w->cpu = cpu;
	w->kind = kind;
	note_quota(task, w);
	return true;
}

static __always_inline void begin_wait(struct task_struct *task, __u32 cpu, __u32 kind, __u64 now)
{
	struct cpu_state *c = state_of_cpu(cpu);

	if (c && put_wait(c, task, task->pid, cpu, kind, now))
		waits_on(c, now);
}

/* Forgets since when the thread waits, because the next event cannot know it. */
static __always_inline void forget_wait(__s32 tid)
{
	struct wait *w = wait_of(tid);

	if (!w)
		return;
	deactivate(state_of_cpu(w->cpu), bpf_ktime_get_ns());
	wait_end(w);
}

/* Says since when the thread, which comes here now, waited. */
static __always_inline void say_wait(struct cpu_state *c, struct party p, const struct wait *w,
				     __u64 now)
{
	__s32 tid = p.tid;
	__u64 *due;

	if (!RECORDS_WANTED)
		return;
	say_throttled(c, p, w, now);
	note_waker(c, p.task, p.tid, now);
	due = w->kind == WATCH_IN_WOKEN ? bpf_map_lookup_elem(&watch_dues, &tid) : NULL;
	if (due && *due <= w->since_ns)
		watch_say(c, WATCH_IN_DUE, p, w->cpu, *due, now);
	else
		watch_say(c, w->kind, p, w->cpu, w->since_ns, now);
}

static __always_inline void comes(struct cpu_state *c, struct party p, __u64 now)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct wait *w = wait_of(p.tid);

	c->own.here = p.tid;
	/* A thread that waited here counts on. */
	if (!w || w->cpu != cpu)
		activate(c, now);
	if (!w) {
		watch_say(c, WATCH_IN, p, cpu, now, now);
		return;
	}
	if (w->cpu != cpu)
		deactivate(state_of_cpu(w->cpu), now);
	say_wait(c, p, w, now);
	wait_end(w);
}

/* The thread that leaves now came before the window, or behind one that the kernel hides from the
 * tracepoint. What it waited for until then is over. */
static __always_inline void came_unseen(struct cpu_state *c, __s32 tid, __u64 now)
{
	struct wait *w = wait_of(tid);

	activate(c, now);
	if (!w)
		return;
	deactivate(state_of_cpu(w->cpu), now);
	wait_end(w);
}

/* When the thread came; 0: nobody saw it come. */
static __always_inline __u64 here_since(const struct cpu_state *c, const struct task_struct *task,
					bool first)
{
	if (first)
		return WATCH_ALWAYS;
	return c->thread.id == (__u32)task->pid ? c->thread.start_ns : 0;
}

/* A thread that records tell of: sums need no owner, but that of whose time is added. */
static __always_inline struct party party_to_say(struct task_struct *task)
{
	return RECORDS_WANTED ? party_of(task) : (struct party){task, 0, task->pid};
}

static __always_inline struct party party_to_add(struct party p)
{
	return RECORDS_WANTED ? p : party_of(p.task);
}

/* include/linux/sched.h: __TASK_STOPPED, __TASK_TRACED */
#define TASK_STOPS 0xc

/* since: see watch_say(). */
static __always_inline void goes(struct cpu_state *c, struct party p, bool preempt, __u64 since,
				 __u64 now)
{
	__u32 sleeps = preempt ? 0 : state_of(p.task);

	if (c->own.syscall.start_ns)
		syscall_ends(c, now);
	c->own.fault.start_ns = 0; /* sleeps inside the fault */
	exit_leaves(c, p.tid, sleeps, now);
	watch_say(c, WATCH_OUT | (sleeps & TASK_STOPS ? WATCH_STOPPED : 0), p,
		  OWNER_PROCESS(p.owner), since, now);
	c->own.here = 0;
	if (sleeps & TASK_DEAD)
		forget_due(p.tid);
	/* A thread that waits here from now on counts on. */
	if (sleeps ||
	    !put_wait(c, p.task, p.tid, bpf_get_smp_processor_id(), WATCH_IN_PREEMPTED, now))
		deactivate(c, now);
}

/* The thread left without the tracepoint, or is no longer watched. */
static __always_inline void is_gone(struct cpu_state *c, __u64 now)
{
	put_narrow(c, LEVEL_THREAD, RECORD_WATCH, WATCH_GONE, 0, c->own.here, 0, now, now);
	c->own.syscall.start_ns = c->own.fault.start_ns = c->own.exit.start_ns = 0;
	c->own.here = 0;
	deactivate(c, now);
}

/* Until when the thread here was in the way of those that waited for it and went elsewhere; 0: it
 * was in nobody's. The caller has found nobody by `active`. */
static __always_inline __u64 was_in_the_way(struct cpu_state *c, const struct task_struct *task)
{
	if (!SUMMING || !c->thread.start_ns || c->thread.id != (__u32)task->pid)
		return 0;
	order_loads(c); /* see deactivate() */
	return sum_was_in_the_way(c) ? c->own.sums.left_ns : 0;
}

/* A thread that ends: a process watched by its name is forgotten before it is gone. */
static __always_inline bool ends_here(const struct cpu_state *c, struct task_struct *prev)
{
	return watch_comms && c->own.here == (__u32)prev->pid && prev->flags & PF_EXITING;
}

/* A switch where nobody is watched. */
static __always_inline void switch_unseen(struct cpu_state *c, struct task_struct *prev,
					  const struct task_struct *next)
{
	__u64 until = was_in_the_way(c, prev);

	if (until) {
		c->own.sums.inside[LEVEL_THREAD] = sum_inside(c, LEVEL_THREAD);
		thread_ends(c, party_of(prev), until, 0);
	}
	c->thread.id = next->pid;
	c->thread.start_ns = 0; /* has been in nobody's way so far */
	if (SUMMING)
		sum_idle(c);
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(watch_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct cpu_state *c = target_cpu();
	struct party out, come;
	bool mine, first, had;
	__u64 now, until;

	if (!c) {
		if (gate) { /* runs where nobody looks */
			forget_wait(next->pid);
			exit_forget(next->pid);
		}
		return 0;
	}
	mine = is_watched(prev) || ends_here(c, prev);
	first = !c->own.seen; /* a thread that leaves now was here before the window */
	c->own.seen = 1;
	if (!c->active && !mine && !is_watched(next)) {
		switch_unseen(c, prev, next);
		return 0;
	}
	order_loads(c); /* another CPU may have raised `active`, and written before */
	now = clock_at(c, LEVEL_THREAD);
	out = party_to_say(prev);
	come = party_to_say(next);
	had = c->own.here;
	if (had && (c->own.here != (__u32)prev->pid || !mine))
		is_gone(c, now);
	if (mine && !c->own.here)
		came_unseen(c, out.tid, now);
	forget_softirqs(c);
	softirq_over_switch(c, now, prev->pid, next->pid);
	c->irq[0].start_ns = 0;
	c->irq[1].start_ns = 0;
	/* Another CPU may have taken the last one that waited just now. */
	until = c->active > mine ? now : c->active || had ? 0 : was_in_the_way(c, prev);
	if (until && c->thread.start_ns && c->thread.id == (__u32)prev->pid)
		thread_ends(c, party_to_add(out), until, 0);
	if (mine)
		goes(c, out, preempt, here_since(c, prev, first), now);
	c->thread.id = next->pid;
	c->thread.start_ns = now;
	if (SUMMING)
		sum_begin(c, SUM_THREAD);
	if (is_watched(next)) {
		comes(c, come, now);
		exit_returns(c, come.tid, now);
		return 0;
	}
	if (watch_comms || watch_vcpus || watch_in_groups)
		forget_wait(next->pid); /* was watched when it began to wait */
	exit_forget(next->pid);
	if (c->active) {
		thread_begins(c, come, now);
		note_arrival(c, next, come.tid, now);
	}
	return 0;
}

/* Fires on the CPU that the thread will run on, or on the waker's. Means nothing for a thread that
 * has not left yet: it goes on running. */
SEC("?tp_btf/sched_wakeup")
int BPF_PROG(watch_wakeup, struct task_struct *task)
{
	struct cpu_state *c;
	__u32 cpu;

	if (!gate || !is_watched(task))
		return 0;
	cpu = cpu_of(task);
	c = state_of_cpu(cpu);
	if (c && !(c->thread.id == (__u32)task->pid && c->thread.start_ns))
		begin_wait(task, cpu, WATCH_IN_WOKEN, bpf_ktime_get_ns());
	return 0;
}

SEC("?tp_btf/sched_wakeup_new")
int BPF_PROG(watch_wakeup_new, struct task_struct *task)
{
	if (!gate || !is_watched(task))
		return 0;
	forget_due(task->pid);
	begin_wait(task, cpu_of(task), WATCH_IN_WOKEN, bpf_ktime_get_ns());
	return 0;
}

/* Interrupts are off where threads are moved, and a softirq may do that (the balancing of the load)
 * upon a program that writes to the ring of threads. */
static __always_inline void say_moved(struct cpu_state *here, struct party p, const struct wait *w,
				      __u64 now)
{
	struct record r = watch_record(WATCH_MOVED, p, w->cpu, w->here_ns, now);

	if (!RECORDS_WANTED)
		return;
	read_comm(r.name, p.task);
	put_wide(here, LEVEL_IRQ, &r);
}

/* The thread waits elsewhere from now on. No program runs on a CPU that is no target, so a wait
 * there is forgotten.
 */
SEC("?tp_btf/sched_migrate_task")
int BPF_PROG(watch_migrate, struct task_struct *task, int dest_cpu)
{
	struct cpu_state *here = target_cpu(), *to = state_of_cpu(dest_cpu);
	__s32 tid = task->pid;
	struct wait *w;
	__u64 now;

	w = gate ? wait_of(tid) : NULL;
	if (!w || w->cpu == (__u32)dest_cpu)
		return 0;
	if (!here || !to) {
		forget_wait(tid);
		return 0;
	}
	now = bpf_ktime_get_ns();
	say_moved(here, party_of(task), w, now);
	deactivate(state_of_cpu(w->cpu), now);
	w->cpu = dest_cpu;
	w->here_ns = now;
	waits_on(to, now);
	return 0;
}

/* Run by hand, on each target: a thread may run on and on with nothing that interrupts it, and no
 * event would ever find it. */
SEC("?raw_tp")
int BPF_PROG(watch_look)
{
	struct cpu_state *c = target_cpu();

	if (c && !c->own.seen)
		watch_find(c);
	return 0;
}

/* ---- on request ---- */

static __always_inline bool is_watched_now(const struct cpu_state *c)
{
	return current_known ? is_watched(bpf_get_current_task_btf())
			     : c->own.here && c->own.here == (__u32)bpf_get_current_pid_tgid();
}

SEC("?tp_btf/page_fault_user")
int BPF_PROG(watch_fault, unsigned long address, void *regs, unsigned long error_code)
{
	struct cpu_state *c = target();

	if (!c || !is_watched_now(c))
		return 0;
	c->own.fault.id = error_code;
	c->own.fault.start_ns = bpf_ktime_get_ns();
	return 0;
}

/* The page-fault tracepoint has no counterpart at the end; most of a fault's time is over here. */
SEC("?fexit/handle_mm_fault")
int BPF_PROG(watch_fault_end, void *vma, unsigned long address, unsigned int flags)
{
	end_fault(flags);
	return 0;
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(watch_sys_enter, void *regs, long id)
{
	struct cpu_state *c = target();

	if (!c || !is_watched_now(c))
		return 0;
	c->own.syscall.id = id;
	c->own.syscall.kind = table_of(regs);
	c->own.syscall.start_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(watch_sys_exit)
{
	end_syscall();
	return 0;
}
