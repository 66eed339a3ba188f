/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The context a probe runs in: a thread's own doing, a softirq, or a hard interrupt. The kernel
 * counts its contexts in the preempt count (include/linux/preempt.h). The place of that count
 * differs between architectures and, on x86, between three series of kernels. Where none is found,
 * the context is not known. */
#ifndef CULPRIT_CONTEXT_BPF_H
#define CULPRIT_CONTEXT_BPF_H

#include <bpf/bpf_core_read.h>
#include "direct_mark.h"
#include "trace.bpf.h"

/* RECORD_CONTEXT of these is what a request's record says. */
enum context {
	CONTEXT_UNKNOWN,
	CONTEXT_IRQ = RECORD_BY_INTERRUPT,
	CONTEXT_NMI, /* another interrupt to the record */
	/* Runs softirqs; a thread that only disables them counts as a thread. */
	CONTEXT_SOFTIRQ = RECORD_BY_SOFTIRQ,
	CONTEXT_THREAD = RECORD_BY_THREAD,
};

/* Bytes from a CPU's run queue to its preempt count, on x86, by the kernel's type information; 0:
 * not known. */
extern const volatile __s64 at_preempt_count;
/* 1: a program may read at any address, and has been told how (collect/direct.h); 0: a helper does
 * it, which takes longer. */
extern const volatile int reads_directly;
/* Newer kernels (7.3 does, 6.18 does not) keep 8 bits for disabled interrupts below the bits of
 * running interrupts. */
extern const volatile bool count_is_wide;

/* Marks an arm that kernels without something take. The kernel drops a branch when it is known to
 * go one way, but only where the other arm is not a part of this one. */
#define DEAD_END asm volatile("goto +0")

/* Reads at any address of the kernel. The two numbers that stand here are put in place before the
 * program is loaded (collect/direct.c): a number of a type, and of a function of the kernel's that
 * makes a pointer to that type. The kernel makes one instruction of it. */
#define DIRECT(to, address)                                                                        \
	asm volatile("r1 = %1\n\tr2 = " DIRECT_NUMBER "\n\tcall " DIRECT_NUMBER "\n\t%0 = r0"      \
		     : "=r"(to)                                                                    \
		     : "r"(address)                                                                \
		     : "r0", "r1", "r2", "r3", "r4", "r5")

#define COUNT_SOFTIRQ 0x00000100 /* SOFTIRQ_OFFSET; SOFTIRQ_DISABLE_OFFSET is twice that */
#define COUNT_IRQ_OLD 0x000f0000
#define COUNT_NMI_OLD 0x00f00000
#define COUNT_IRQ     0x0f000000
#define COUNT_NMI     0x70000000

/* Reads the count `at` bytes from the run queue; false: not known. */
static __always_inline bool read_at(__u64 queue, __s64 at, __u32 *count)
{
	const __u32 *direct;
	__u32 copy; /* in memory, for the helper alone */

	if (!queue)
		return false;
	if (reads_directly) {
		DIRECT(direct, queue + at);
		*count = *direct;
		return true;
	}
	if (bpf_probe_read_kernel(&copy, sizeof(copy), (void *)(queue + at)))
		return false;
	*count = copy;
	return true;
}

/* Uses no kernel symbol, because few kernels export symbols of data: the current thread knows its
 * CPU's run queue, and the count lies at a fixed distance from there. */
static __always_inline bool read_count(const struct task_struct *task, __u32 *count)
{
	__s64 at = at_preempt_count; /* once: the kernel drops no load of a constant */

	if (at)
		return read_at((__u64)task->se.cfs_rq->rq, at, count);
	if (!bpf_core_field_exists(task->thread_info.preempt_count))
		return false;
	*count = task->thread_info.preempt_count;
	return true;
}

/* False on kernels before 5.11. To be asked in place of whether the thread is NULL: kernels before
 * 6.2 would then check programs for a thread that is NULL, too, and refuse them. */
#define CURRENT_IS_TOLD bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf)

/* The current thread, to read from without a helper call; not to be read from where CURRENT_IS_TOLD
 * is false, and never NULL. */
static __always_inline const struct task_struct *current_thread(void)
{
	if (CURRENT_IS_TOLD)
		return bpf_get_current_task_btf();
	DEAD_END;
	return (const struct task_struct *)1;
}

static __always_inline enum context context_of(__u32 count, __u32 softirq)
{
	__u32 nmi = COUNT_NMI_OLD, irq = COUNT_IRQ_OLD;

	if (count_is_wide) {
		nmi = COUNT_NMI;
		irq = COUNT_IRQ;
	}
	if (count & (nmi | irq))
		return count & nmi ? CONTEXT_NMI : CONTEXT_IRQ;
	return softirq & COUNT_SOFTIRQ ? CONTEXT_SOFTIRQ : CONTEXT_THREAD;
}

/* For kernels that do not let the thread be read directly. None of them has a count of its own for
 * softirqs. */
static __always_inline enum context context_by_helpers(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__s64 at = at_preempt_count;
	__u32 count;

	if (at) {
		if (!read_at((__u64)BPF_CORE_READ(task, se.cfs_rq, rq), at, &count))
			return CONTEXT_UNKNOWN;
	} else if (bpf_core_field_exists(task->thread_info.preempt_count)) {
		count = BPF_CORE_READ(task, thread_info.preempt_count);
	} else {
		return CONTEXT_UNKNOWN;
	}
	return context_of(count, count);
}

/* At its end an interrupt lowers the count before it runs softirqs, and these raise it again. The
 * kernel's work in between, with the interrupted thread as current, looks like the thread's own
 * work. task: current_thread().
 */
static __always_inline enum context context_upon(const struct task_struct *task)
{
	__u32 count, softirq;

	if (!CURRENT_IS_TOLD)
		return context_by_helpers();
	if (!read_count(task, &count))
		return CONTEXT_UNKNOWN;
	softirq = count;
	if (bpf_core_field_exists(task->softirq_disable_cnt))
		softirq = task->softirq_disable_cnt;
	return context_of(count, softirq);
}

static __always_inline enum context context_now(void)
{
	return context_upon(current_thread());
}

/* True when this thread, current_thread(), entered the kernel by a system call, or never leaves the
 * kernel; false when an interrupt or a fault brought it here. */
static __always_inline bool came_by_itself(const struct task_struct *task)
{
	struct pt_regs___x86 *x86;
	struct pt_regs___on_arm64 *arm64;
	void *regs;

	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return false;
	if (task->flags & PF_KTHREAD)
		return true;
	regs = (void *)bpf_task_pt_regs((struct task_struct *)task);
	x86 = regs;
	arm64 = regs;
	if (bpf_core_field_exists(x86->orig_ax))
		return (long)x86->orig_ax >= 0;
	return bpf_core_field_exists(arm64->syscallno) && arm64->syscallno >= 0;
}

#endif
