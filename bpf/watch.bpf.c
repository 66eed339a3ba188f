/* Watched threads (culprit watch): when each runs, and since when it would have run but did not. Instead of sched.bpf.c, whose thread is the
 * sampler: here the threads are the user's, on whatever CPU they are. Nothing is recorded on a CPU where none of them runs or waits. */
#include "sched.bpf.h"

/* A watched thread that would run. */
struct wait {
	__u64 since_ns;
	__u32 cpu;  /* where it waits; it may run on another */
	__u32 kind; /* WATCH_IN_PREEMPTED, WATCH_IN_WOKEN */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, __s32);
	__type(value, struct wait);
} watch_waits SEC(".maps");

static __always_inline void begin_wait(struct task_struct *task, __u32 cpu, __u32 kind, __u64 now)
{
	struct wait w = {now, cpu, kind};
	struct cpu_state *c = state_of_cpu(cpu);
	__s32 tid = task->pid;

	if (!c || bpf_map_update_elem(&watch_waits, &tid, &w, BPF_NOEXIST))
		return;
	if (!c->thread.start_ns) /* whoever runs there is in its way from now on */
		c->thread.start_ns = now;
	__sync_fetch_and_add(&c->active, 1);
}

static __always_inline void comes(struct cpu_state *c, struct task_struct *task, __u64 now)
{
	__s32 tid = task->pid;
	struct wait *w = bpf_map_lookup_elem(&watch_waits, &tid);
	struct cpu_state *waited;

	__sync_fetch_and_add(&c->active, 1);
	if (!w) {
		watch_say(c, WATCH_IN, task, bpf_get_smp_processor_id(), now, now);
		return;
	}
	waited = state_of_cpu(w->cpu);
	if (waited)
		__sync_fetch_and_add(&waited->active, -1);
	note_waker(c, tid, now);
	watch_say(c, w->kind, task, w->cpu, w->since_ns, now);
	bpf_map_delete_elem(&watch_waits, &tid);
}

static __always_inline void goes(struct cpu_state *c, struct task_struct *task, bool preempt, __u64 now)
{
	if (c->syscall.start_ns) {
		emit(c, LEVEL_THREAD, RECORD_SYSCALL, c->syscall.id, 0, c->syscall.start_ns, now);
		c->syscall.start_ns = 0;
	}
	c->fault.start_ns = 0; /* it sleeps in it */
	watch_say(c, WATCH_OUT, task, task->tgid, c->thread.id == (__u32)task->pid ? c->thread.start_ns : 0, now);
	if (c->active)
		__sync_fetch_and_add(&c->active, -1);
	if (preempt || !state_of(task))
		begin_wait(task, bpf_get_smp_processor_id(), WATCH_IN_PREEMPTED, now);
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(watch_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct cpu_state *c = target_cpu();
	bool mine;
	__u64 now;

	if (!c)
		return 0;
	mine = is_watched(prev);
	if (mine && !c->seen)
		__sync_fetch_and_add(&c->active, 1);
	c->seen = 1;
	if (!c->active && !mine && !is_watched(next)) {
		c->thread.id = next->pid;
		c->thread.start_ns = 0; /* it is in nobody's way so far */
		return 0;
	}
	now = bpf_ktime_get_ns();
	softirq_over_switch(c, now, prev->pid, next->pid);
	c->irq[0].start_ns = 0;
	c->irq[1].start_ns = 0;
	if (c->active > mine && c->thread.start_ns && c->thread.id == (__u32)prev->pid)
		thread_ends(c, prev, now); /* it was in the way of others */
	if (mine)
		goes(c, prev, preempt, now);
	c->thread.id = next->pid;
	c->thread.start_ns = now;
	if (is_watched(next)) {
		comes(c, next, now);
	} else if (c->active) {
		thread_begins(c, next, now);
		note_waker(c, next->pid, now);
	}
	return 0;
}

/* On the CPU that it will run on, or on the waker's. Of a thread that has not left yet it says nothing: it goes on running. */
SEC("?tp_btf/sched_wakeup")
int BPF_PROG(watch_wakeup, struct task_struct *task)
{
	struct cpu_state *c;
	__u32 cpu;

	if (!gate || !is_watched(task))
		return 0;
	cpu = task->wake_cpu;
	c = state_of_cpu(cpu);
	if (c && !(c->thread.id == (__u32)task->pid && c->thread.start_ns))
		begin_wait(task, cpu, WATCH_IN_WOKEN, bpf_ktime_get_ns());
	return 0;
}

SEC("?tp_btf/sched_wakeup_new")
int BPF_PROG(watch_wakeup_new, struct task_struct *task)
{
	if (gate && is_watched(task))
		begin_wait(task, task->wake_cpu, WATCH_IN_WOKEN, bpf_ktime_get_ns());
	return 0;
}

SEC("?tp_btf/page_fault_user")
int BPF_PROG(watch_fault, unsigned long address, void *regs, unsigned long error_code)
{
	struct cpu_state *c = target();

	if (!c || !is_watched(bpf_get_current_task_btf()))
		return 0;
	c->fault.id = error_code;
	c->fault.start_ns = bpf_ktime_get_ns();
	return 0;
}

/* The tracepoint has no counterpart at the end; this is where most of a fault's time has gone. */
SEC("?fexit/handle_mm_fault")
int BPF_PROG(watch_fault_end)
{
	struct cpu_state *c = target();

	if (!c || !c->fault.start_ns)
		return 0;
	emit(c, LEVEL_THREAD, RECORD_FAULT, c->fault.id, 0, c->fault.start_ns, bpf_ktime_get_ns());
	c->fault.start_ns = 0;
	return 0;
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(watch_sys_enter, void *regs, long id)
{
	struct cpu_state *c = target();

	if (!c || !is_watched(bpf_get_current_task_btf()))
		return 0;
	c->syscall.id = id;
	c->syscall.start_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(watch_sys_exit, void *regs, long ret)
{
	struct cpu_state *c = target();

	if (!c || !c->syscall.start_ns)
		return 0;
	emit(c, LEVEL_THREAD, RECORD_SYSCALL, c->syscall.id, 0, c->syscall.start_ns, bpf_ktime_get_ns());
	c->syscall.start_ns = 0;
	return 0;
}
