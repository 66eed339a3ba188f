/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The writer of turn.h: on CPUs that are no targets, in programs that run there anyway. */
#ifndef CULPRIT_TURNS_BPF_H
#define CULPRIT_TURNS_BPF_H

#include "sched.bpf.h"
#include "turn.h"

/* Threads of the kernel's that have the registers of a system call for ever: PF_IO_WORKER and
 * PF_USER_WORKER (include/linux/sched.h). */
#define PF_USER_WORKERS (0x10 | 0x4000)

extern const volatile int turns_wanted; /* known when a program is loaded */

struct cpu_turns {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* resized to the number of CPUs before loading */
	__type(key, __u32);
	__type(value, struct turns);
};
extern struct cpu_turns cpu_turns SEC(".maps");

/* The turns of this CPU, which is no target; NULL: nobody wants them now. */
static __always_inline struct turns *turns_here(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return turns_wanted && gate ? bpf_map_lookup_elem(&cpu_turns, &cpu) : NULL;
}

static __always_inline void put_turn(struct turns *t, struct task_struct *task, __u8 kind,
				     __u16 call)
{
	__u64 head = t->head;
	struct turn *to = &t->turn[head & (TURNS - 1)];

	barrier_var(to); /* the address is added up once */
	to->at_ns = bpf_ktime_get_ns();
	to->tid = task->pid;
	to->call = call;
	to->kind = kind;
	to->kernel_thread = task->flags & PF_KTHREAD ? 1 : 0;
	read_comm(to->comm, task);
	store_release(&t->head, head + 1);
}

/* Says which system call the interrupt of a timer met here. After a stop that is the call that was
 * stopped, because a timer that became due meanwhile comes first. Timers of softirqs come later,
 * and when more may interrupt. */
static __always_inline void put_call(const struct hrtimer *timer)
{
	bool told = bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs);
	struct turns *t = told && !timer->is_soft ? turns_here() : NULL;
	const struct pt_regs___x86 *x86;
	const struct pt_regs___on_arm64 *arm64;
	struct task_struct *task;
	long call = -1;

	if (!t)
		return;
	task = bpf_get_current_task_btf();
	if (!task->pid || task->flags & (PF_KTHREAD | PF_USER_WORKERS))
		return;
	x86 = (const void *)bpf_task_pt_regs(task);
	arm64 = (const void *)x86;
	if (!table_of(x86))
		return;
	if (bpf_core_field_exists(x86->orig_ax))
		call = x86->orig_ax;
	else if (bpf_core_field_exists(arm64->syscallno))
		call = arm64->syscallno;
	put_turn(t, task, TURN_CALL, call < 0 || call >= 0xffff ? 0 : call + 1);
}

#endif
