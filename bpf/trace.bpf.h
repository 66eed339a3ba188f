/* What every probe file shares: the test whether this CPU is a target, and begin, end and instant.
 *
 * A probe runs on the CPU under test, so each does as little as it can: off-target it is two loads and out; on target, an entry
 * is one timestamp and one store, an exit one timestamp and one 64-byte record. Nothing here wakes anybody: a ring-buffer
 * wakeup is an irq_work, which is a self-IPI on the very CPU being measured (kernel/bpf/ringbuf.c).
 */
#ifndef CULPRIT_TRACE_BPF_H
#define CULPRIT_TRACE_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <stdbool.h>
#include "vmlinux.h"
#include "record.h"

#define TARGET_CPUS 8192 /* CPUS_MAX */

extern const volatile __u16 slot_of_cpu[TARGET_CPUS]; /* 1 + index into cpu_states; 0: not a target */
extern const volatile int watching;                   /* 1: only while a watched thread runs or waits on the CPU */
extern volatile int gate;                             /* 1 while records are wanted */

struct cpu_states {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set to the number of target CPUs before loading */
	__type(key, __u32);
	__type(value, struct cpu_state);
};
extern struct cpu_states cpu_states SEC(".maps");

#define WATCH_IDS 16

extern const volatile __s32 watch_tgid[WATCH_IDS], watch_tid[WATCH_IDS]; /* watched processes and threads; 0: none */
extern const volatile int watch_users;                                   /* all threads of user space */

#define PF_KTHREAD 0x00200000 /* include/linux/sched.h */

static __always_inline bool is_watched(struct task_struct *task)
{
	__s32 tgid = task->tgid, tid = task->pid;

	if (watch_users)
		return tid && !(task->flags & PF_KTHREAD);
	for (int i = 0; i < WATCH_IDS; i++)
		if ((watch_tgid[i] && watch_tgid[i] == tgid) || (watch_tid[i] && watch_tid[i] == tid))
			return true;
	return false;
}

static __always_inline struct cpu_state *state_of_cpu(__u32 cpu)
{
	__u64 i = cpu;
	__u32 slot;

	/* The compiler would check one register and index with another, which the verifier cannot follow. */
	barrier_var(i);
	if (i >= TARGET_CPUS || !slot_of_cpu[i])
		return NULL;
	slot = slot_of_cpu[i] - 1;
	return bpf_map_lookup_elem(&cpu_states, &slot);
}

/* This CPU's state when it is a target and the gate is open, else NULL. */
static __always_inline struct cpu_state *target_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u32 slot;

	if (cpu >= TARGET_CPUS)
		return NULL;
	slot = slot_of_cpu[cpu];
	if (!slot || !gate)
		return NULL;
	slot--;
	return bpf_map_lookup_elem(&cpu_states, &slot);
}

/* Takes the next place in a level's sequence; NULL when the ring is full, the place is then counted as lost. The caller fills the
 * record and calls publish(). No barrier: the sampler on this CPU publishes later, with a release store, for the reader. */
static __always_inline struct record *reserve(struct cpu_state *c, int level)
{
	__u64 head = c->head[level];
	struct record *r;

	c->cursor[level]++;
	if (head - *(volatile __u64 *)&c->tail[level] >= RING_SLOTS) {
		c->lost[level]++;
		return NULL;
	}
	r = &c->ring[level][head & (RING_SLOTS - 1)];
	r->seq = c->cursor[level];
	r->level = level;
	r->flags = 0;
	return r;
}

static __always_inline void publish(struct cpu_state *c, int level)
{
	barrier(); /* the record first */
	*(volatile __u64 *)&c->head[level] = c->head[level] + 1;
}

#define WATCH_ALWAYS 1 /* ns: before any window */

/* A watched thread came or went. start 0: the same as end. */
static __always_inline void watch_say(struct cpu_state *c, int what, struct task_struct *task, __u64 arg, __u64 start,
				      __u64 end)
{
	struct record *r = reserve(c, LEVEL_THREAD);

	c->told = r != NULL;
	if (!r)
		return;
	r->kind = RECORD_WATCH;
	r->mark = what;
	r->id = task->pid;
	r->arg = arg;
	r->prio = task->prio;
	r->flags = task->flags & PF_KTHREAD ? RECORD_KTHREAD : 0;
	bpf_probe_read_kernel(r->name, sizeof(r->name), task->comm);
	r->start_ns = start ? start : end;
	r->end_ns = end;
	publish(c, LEVEL_THREAD);
}

/* One more watched thread runs or waits here. */
static __always_inline void activate(struct cpu_state *c, __u64 now)
{
	if (!c->active)
		c->active_since = now;
	__sync_fetch_and_add(&c->active, 1);
}

/* The first event since the gate opened: whoever runs here has done so without a switch. */
static __always_inline bool watch_find(struct cpu_state *c)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 now;

	c->seen = 1;
	if (!is_watched(task))
		return false;
	now = bpf_ktime_get_ns();
	activate(c, now);
	c->here = task->pid;
	watch_say(c, WATCH_IN, task, bpf_get_smp_processor_id(), WATCH_ALWAYS, now);
	return true;
}

/* The same, and there is somebody here whose time it is about: the sampler, or a watched thread. */
static __always_inline struct cpu_state *target(void)
{
	struct cpu_state *c = target_cpu();

	if (!watching || !c || c->active)
		return c;
	return !c->seen && watch_find(c) ? c : NULL;
}

/* It runs inside an interval of a lower level, or of its own. */
static __always_inline bool is_inner(const struct cpu_state *c, int level)
{
	if (level == LEVEL_NMI)
		return c->irq[0].start_ns || c->softirq.start_ns;
	return level == LEVEL_IRQ && (c->irq[1].start_ns || c->softirq.start_ns);
}

/* Some kernels have threads that leave without the tracepoint: so whoever is here is asked. */
static __always_inline __u8 watch_flags(const struct cpu_state *c, int level)
{
	__u8 upon = c->told && c->here && c->here == (__u32)bpf_get_current_pid_tgid() ? RECORD_UPON : 0;

	return upon | (is_inner(c, level) ? RECORD_INNER : 0);
}

static __always_inline void emit(struct cpu_state *c, int level, int kind, __u32 id, __u64 arg, __u64 start, __u64 end)
{
	struct record *r;

	if (watching && start < c->active_since)
		return; /* its own begin was not looked at: this one is an older one's */
	r = reserve(c, level);
	if (!r)
		return;
	r->kind = kind;
	r->id = id;
	r->arg = arg;
	r->start_ns = start;
	r->end_ns = end;
	if (watching)
		r->flags |= watch_flags(c, level);
	publish(c, level);
}

/* The level that is running: marks go to the ring of the interval they explain. */
static __always_inline int level_now(const struct cpu_state *c, int otherwise)
{
	if (c->irq[0].start_ns)
		return LEVEL_IRQ;
	return c->softirq.start_ns ? LEVEL_SOFTIRQ : otherwise;
}

/* The interval of this level runs `function` from now on. */
static __always_inline struct record *mark(struct cpu_state *c, int level, int what, __u64 function, __u64 now)
{
	struct record *r = reserve(c, level);

	c->mark[level] = function;
	if (!r)
		return NULL;
	r->kind = RECORD_MARK;
	r->mark = what;
	r->arg = function;
	r->start_ns = now;
	r->end_ns = now;
	return r;
}

static __always_inline void begin_irq(struct cpu_state *c, __u32 kind, __u32 id, __u64 function)
{
	/* An outer handler of another kind or number is still open: this one runs inside it. The same one open means that its
	 * exit was missed: start afresh. */
	bool inside = c->irq[0].start_ns && (c->irq[0].id != id || c->irq[0].kind != kind);
	struct record_open *o = inside ? &c->irq[1] : &c->irq[0];

	c->mark[LEVEL_IRQ] = function;
	o->id = id;
	o->kind = kind;
	o->start_ns = bpf_ktime_get_ns();
}

static __always_inline void end_irq(struct cpu_state *c, __u32 kind, __u32 id, __u64 arg, __u64 now)
{
	struct record_open *o = &c->irq[1];

	if (!o->start_ns || o->id != id || o->kind != kind)
		o = &c->irq[0];
	if (!o->start_ns || o->id != id || o->kind != kind) {
		c->unpaired++;
		return;
	}
	emit(c, LEVEL_IRQ, kind, id, arg, o->start_ns, now);
	o->start_ns = 0;
}

#endif
