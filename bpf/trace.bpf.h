/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by all probe files: the test whether this CPU is a target, and begin, end and instant.
 *
 * A probe runs on the CPU under test, so each does as little as it can: off-target two loads; on
 * target one timestamp and one store at the entry, one timestamp and one 64-byte record at the
 * exit. Nothing here wakes anybody: a ring-buffer wakeup is an irq_work, which is a self-IPI on the
 * very CPU being measured (kernel/bpf/ringbuf.c).
 */
#ifndef CULPRIT_TRACE_BPF_H
#define CULPRIT_TRACE_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include <stdbool.h>
#include "vmlinux.h"

/* enum summing. Sums are added up by an object of their own, compiled from the same files, and for
 * watched threads alone: so what is the same in all uses of either object is known then. */
extern const volatile int summing;
/* 1: record only while a watched thread runs or waits on the CPU */
extern const volatile int watching;
#ifdef SUMS
#define SUMMING        1
#define WATCHING       1
#define RECORDS_WANTED (summing == SUMS_BESIDE)
#else
#define SUMMING        0
#define WATCHING       watching
#define RECORDS_WANTED 1
#endif
#include "ring.bpf.h"
#include "cpu_sums.bpf.h"
#include "choice.bpf.h"
#include "owner.bpf.h"

#define TARGET_CPUS 8192 /* CPUS_MAX */

extern const volatile __u16
	slot_of_cpu[TARGET_CPUS]; /* 1 + index into cpu_states; 0: not a target */
/* 1: this architecture has interrupts that are vectors elsewhere: vector_of_irq */
extern const volatile int irqs_are_vectors;
extern const volatile __u8 vector_of_irq[VECTOR_IRQS]; /* enum vector_id; 0: a device's */
extern const volatile int sampler_sleeps; /* 1: wants to know when it was woken, and came */
extern volatile int gate;                 /* 1 while records are wanted */
/* addresses of the kernel's functions, before the window; 0: not known */
extern volatile __u64 at_delayed_work_timer_fn, at_unknown_nmi_error;

struct cpu_states {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* resized to the number of target CPUs before loading */
	__type(key, __u32);
	__type(value, struct cpu_state);
};
extern struct cpu_states cpu_states SEC(".maps");

/* 1: target CPUs lie on several NUMA nodes, and each one's memory is a map of its own on its node,
 * because all memory of one map is on one node. It is known when the programs are loaded, and the
 * kernel then drops the other way from them. */
extern const volatile int states_apart;

struct cpu_states_apart {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1); /* as in cpu_states */
	__type(key, __u32);
	__array(values, struct cpu_states);
};
extern struct cpu_states_apart cpu_states_apart SEC(".maps");

/* 1: programs may ask for the current thread (since 5.11) */
extern const volatile int current_known;

extern const volatile int exits_known; /* 1: kvm tells when a guest is left, and entered */

/* Two loads: a helper call takes as long as all else in a record. */
static __always_inline void read_comm(char *to, const struct task_struct *task)
{
	const __u64 *from = (const __u64 *)task->comm;

	((__u64 *)to)[0] = from[0];
	((__u64 *)to)[1] = from[1];
}

static __always_inline struct cpu_state *state_at(__u32 slot)
{
	void *map;

	if (!states_apart)
		return bpf_map_lookup_elem(&cpu_states, &slot);
	map = bpf_map_lookup_elem(&cpu_states_apart, &slot);
	slot = 0;
	return map ? bpf_map_lookup_elem(map, &slot) : NULL;
}

static __always_inline struct cpu_state *state_of_cpu(__u32 cpu)
{
	__u64 i = cpu;
	__u32 slot;

	/* Keeps the compiler from checking one register and indexing with another, which the
	 * verifier cannot follow. */
	barrier_var(i);
	slot = i < TARGET_CPUS ? slot_of_cpu[i] : 0;
	return slot ? state_at(slot - 1) : NULL;
}

/* State of this CPU when it is a target and the gate is open, else NULL. */
static __always_inline struct cpu_state *target_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u32 slot;

	if (cpu >= TARGET_CPUS)
		return NULL;
	slot = slot_of_cpu[cpu];
	if (!slot || !gate)
		return NULL;
	return state_at(slot - 1);
}

#define WATCH_ALWAYS 1 /* start in ns: before any window */

/* True when an interval that began then was open already when `active` was last raised from 0,
 * maybe by another CPU: its end was not seen. The caller has loaded `active`. */
static __always_inline bool is_older(struct cpu_state *c, __u64 start_ns)
{
	order_loads(c);
	return start_ns < c->own.active_since;
}

#define WATCH_STOPPED (RECORD_PART << 8) /* with WATCH_OUT: see record.h */

/* Without the thread's name. */
static __always_inline struct record watch_record(int what, struct party p, __u64 arg, __u64 start,
						  __u64 end)
{
	return (struct record){.start_ns = start,
			       .end_ns = end,
			       .arg = arg,
			       .id = p.tid,
			       .kind = RECORD_WATCH,
			       .flags = (p.task->flags & PF_KTHREAD ? RECORD_KTHREAD : 0) |
					what >> 8,
			       .mark = what,
			       .owner = p.owner,
			       .prio = p.task->prio};
}

/* Reports that a watched thread came or went. start 0: the same as end. */
static __always_inline void watch_say(struct cpu_state *c, int what, struct party p, __u64 arg,
				      __u64 start, __u64 end)
{
	struct record r = watch_record(what, p, arg, start ? start : end, end);

	if (!RECORDS_WANTED)
		return;
	read_comm(r.name, p.task);
	c->own.told = put_wide(c, LEVEL_THREAD, &r);
}

/* Counts one more watched thread that runs or waits here. */
static __always_inline void activate(struct cpu_state *c, __u64 now)
{
	if (!c->active)
		c->own.active_since = now;
	order_stores(c);
	__sync_fetch_and_add(&c->active, 1);
}

/* At the first event since the gate opened: finds the thread that runs here since before. Not in an
 * NMI: is_watched() writes to maps. */
static __always_inline bool watch_find(struct cpu_state *c)
{
	struct task_struct *task;
	__u64 now;

	if (!current_known)
		return false; /* the thread is found when it leaves */
	task = bpf_get_current_task_btf();
	__sync_fetch_and_add(&c->own.seen, 1);
	if (c->own.seen != 1)
		return c->active; /* an interrupt came in between, and has looked */
	if (!is_watched(task))
		return false;
	now = bpf_ktime_get_ns();
	activate(c, now);
	c->own.here = task->pid;
	c->thread.id = task->pid;
	c->thread.start_ns = now;
	watch_say(c, WATCH_IN, party_of(task), bpf_get_smp_processor_id(), WATCH_ALWAYS, now);
	return true;
}

/* target() for what may be an NMI. */
static __always_inline struct cpu_state *target_in_nmi(void)
{
	struct cpu_state *c = target_cpu();

	return !WATCHING || !c || c->active ? c : NULL;
}

/* As target_cpu(); when threads are watched, only while one of them runs or waits here. */
static __always_inline struct cpu_state *target(void)
{
	struct cpu_state *c = target_cpu();

	if (!WATCHING || !c || c->active)
		return c;
	return !c->own.seen && watch_find(c) ? c : NULL;
}

/* True when it runs inside an interval of a lower level, or of its own level; or while a guest is
 * left, whose interval holds it. */
static __always_inline bool is_inner(const struct cpu_state *c, int level)
{
	if (exits_known && level != LEVEL_THREAD && c->own.exit.start_ns)
		return true;
	if (level == LEVEL_NMI)
		return c->irq[0].start_ns || c->softirq.start_ns;
	return level == LEVEL_IRQ && (c->irq[1].start_ns || c->softirq.start_ns);
}

/* Asks for the current thread, because some kernels have threads that leave without the
 * tracepoint. */
static __always_inline __u8 watch_flags(const struct cpu_state *c, int level)
{
	__u8 upon = c->own.told && c->own.here && c->own.here == (__u32)bpf_get_current_pid_tgid()
			    ? RECORD_UPON
			    : 0;

	return upon | (is_inner(c, level) ? RECORD_INNER : 0);
}

static __always_inline void emit(struct cpu_state *c, int level, int kind, __u32 id, __u64 arg,
				 __u64 start, __u64 end)
{
	int watched = WATCHING;

	if (watched && is_older(c, start))
		return; /* the begin of this interval was not seen: the open one is older */
	if (SUMMING)
		sum_interval(c, level, kind, id, arg, start, end);
	if (!RECORDS_WANTED)
		return;
	put_narrow(c, level, kind, 0, watched ? watch_flags(c, level) : 0, id, arg, start, end);
}

/* All records so far, dropped or not, of this level and of those that interrupt it. */
static __always_inline __u32 inner_records(const struct cpu_state *c, int level)
{
	__u32 softirqs = level == LEVEL_SOFTIRQ ? c->cursor[LEVEL_SOFTIRQ] : 0;

	return softirqs + c->cursor[LEVEL_IRQ] + c->cursor[LEVEL_NMI];
}

/* The time since when the interval of this level runs the function that begins now: for the first
 * function the begin, because the way there is its own, and no clock is read for it. Intervals that
 * have ended since then stand before the mark, which must then have the time of now. */
static __always_inline __u64 mark_time(struct cpu_state *c, int level)
{
	const struct record_open *o = level == LEVEL_IRQ ? &c->irq[0] : &c->softirq;

	if (!WATCHING && level != LEVEL_THREAD && o->start_ns &&
	    !(level == LEVEL_IRQ && c->irq[1].start_ns) &&
	    c->own.began[level] == inner_records(c, level))
		return o->start_ns;
	if (!RECORDS_WANTED && !c->own.sums.open[sum_place(c, level) % SUM_PLACES].marked)
		return 0; /* the way to the first function is its own: nobody asks when it begins */
	return clock_at(c, level);
}

/* The name of the thread whose function ends here. */
static __always_inline bool sum_thread(struct record *r)
{
	struct task_struct *task;

	if (!current_known)
		return false;
	task = bpf_get_current_task_btf();
	r->arg = task->tgid;
	r->flags = task->flags & PF_KTHREAD ? RECORD_KTHREAD : 0;
	r->owner = owner_of(task);
	read_comm(r->name, task);
	return true;
}

/* Begins another function of the open interval. A thread's first one has all its time where the
 * kernel does not tell the current thread. */
static __always_inline void sum_function(struct cpu_state *c, int level, __u64 function, __u64 now)
{
	int place = sum_place(c, level) % SUM_PLACES;
	struct record r = sum_opened(c, level);

	if (!r.kind || is_older(c, r.start_ns))
		return;
	if (level == LEVEL_THREAD && c->own.sums.open[place].marked && !sum_thread(&r))
		return;
	sum_mark(c, place, &r, function, now);
}

/* Notes that the interval of this level runs `function` from now on. */
static __always_inline void mark(struct cpu_state *c, int level, int what, __u64 function,
				 __u64 now)
{
	c->own.mark[level] = function;
	if (SUMMING)
		sum_function(c, level, function, now);
	put_narrow(c, level, RECORD_MARK, what, 0, 0, function, now, now);
}

/* The system vector that this interrupt is to the rest of culprit; 0: it is a device's. */
static __always_inline __u32 vector_of(int irq)
{
	__u64 i = (__u32)irq;

	if (!irqs_are_vectors)
		return 0;
	barrier_var(i);
	return i < VECTOR_IRQS ? vector_of_irq[i] : 0;
}

static __always_inline void begin_irq(struct cpu_state *c, __u32 kind, __u32 id, __u64 function)
{
	/* An open outer handler of another kind or number means that this one runs inside it. An
	 * open one of the same kind and number means that its exit was missed: start afresh. */
	bool inside = c->irq[0].start_ns && (c->irq[0].id != id || c->irq[0].kind != kind);
	struct record_open *o = inside ? &c->irq[1] : &c->irq[0];

	c->own.mark[LEVEL_IRQ] = function;
	if (!SUMMING)
		c->own.began[LEVEL_IRQ] = inner_records(c, LEVEL_IRQ);
	o->id = id;
	o->kind = kind;
	o->start_ns = clock_at(c, LEVEL_IRQ);
	if (SUMMING)
		sum_begin(c, inside ? SUM_IRQ_INSIDE : SUM_IRQ);
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
