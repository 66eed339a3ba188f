/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A watched thread that is a virtual CPU: from kvm_exit to kvm_entry it is out of its guest. The
 * guest wanted to run then, unless it had halted: up to the halt's end, which kvm_vcpu_wakeup tells
 * where the kernel waits, and else the first sleep's end, the thread's time is not the guest's
 * loss. What is open goes with the thread when it is switched out. */
#ifndef CULPRIT_VCPU_BPF_H
#define CULPRIT_VCPU_BPF_H

#include "trace.bpf.h"

struct vcpu_exits { /* the open exit of a thread that has no CPU: its id, and its state above */
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CHOICE_THREADS);
	__type(key, __s32);
	__type(value, __u64);
};
extern struct vcpu_exits vcpu_exits SEC(".maps");

/* Ends the open piece, if one is open. part: RECORD_PART when the guest is not entered. */
static __always_inline void exit_ends(struct cpu_state *c, __u8 part, __u64 now)
{
	struct record_open *o = &c->own.exit;
	__u64 start = o->start_ns;

	o->start_ns = 0;
	if (!start || is_older(c, start))
		return;
	if (o->kind == EXIT_WORKS)
		put_narrow(c, LEVEL_THREAD, RECORD_EXIT, 0, watch_flags(c, LEVEL_THREAD) | part,
			   o->id, c->own.here, start, now);
	else
		put_narrow(c, LEVEL_THREAD, RECORD_WATCH, WATCH_HALTED, part, c->own.here,
			   o->kind == EXIT_HALTED, start, now);
}

/* The guest is left, though nobody told that it had been entered since it was left before: KVM
 * answers some exits on a fast path, without kvm_entry on Intel up to 5.10. */
static __always_inline void exit_unended(struct cpu_state *c, __u64 now)
{
	__u64 start = c->own.exit.start_ns;

	if (start && !is_older(c, start))
		put_narrow(c, LEVEL_THREAD, RECORD_WATCH, WATCH_UNENDED, 0, c->own.here,
			   c->own.exit.id, start, now);
}

static __always_inline void exit_begins(struct cpu_state *c, __u32 id, __u32 state, __u64 now)
{
	c->own.exit.id = id;
	c->own.exit.kind = state;
	c->own.exit.start_ns = now;
}

/* The thread runs where nobody looks, or is no longer watched. */
static __always_inline void exit_forget(__s32 tid)
{
	if (exits_known)
		bpf_map_delete_elem(&vcpu_exits, &tid);
}

#define TASK_DEAD 0x80 /* include/linux/sched.h: a thread that is switched out for ever */

/* The thread is switched out. task: its state, as the kernel has it; 0: it is ready. */
static __always_inline void exit_leaves(struct cpu_state *c, __s32 tid, __u32 task, __u64 now)
{
	__u32 state = c->own.exit.kind;
	__u64 open;

	if (!exits_known || !c->own.exit.start_ns)
		return;
	exit_ends(c, RECORD_PART, now);
	if (state != EXIT_WORKS)
		state = task ? EXIT_WORKS : EXIT_HALTED_ON;
	if (task & TASK_DEAD)
		return;
	open = (__u64)state << 32 | c->own.exit.id;
	bpf_map_update_elem(&vcpu_exits, &tid, &open, BPF_ANY);
}

static __always_inline void exit_returns(struct cpu_state *c, __s32 tid, __u64 now)
{
	__u64 *open = exits_known ? bpf_map_lookup_elem(&vcpu_exits, &tid) : NULL;

	c->own.exit.start_ns = 0;
	if (!open)
		return;
	exit_begins(c, *open, *open >> 32, now);
	bpf_map_delete_elem(&vcpu_exits, &tid);
}

static __always_inline bool is_here(const struct cpu_state *c)
{
	return exits_known && c && c->own.here && c->own.here == (__u32)bpf_get_current_pid_tgid();
}

static __always_inline void end_halt(void)
{
	struct cpu_state *c = target();
	__u64 now;

	if (!is_here(c) || !c->own.exit.start_ns || c->own.exit.kind == EXIT_WORKS)
		return;
	now = bpf_ktime_get_ns();
	exit_ends(c, RECORD_PART, now);
	exit_begins(c, c->own.exit.id, EXIT_WORKS, now);
}

#endif
