/* In what context a probe runs: a thread's own doing, a softirq, or a hard interrupt. The kernel
 * counts its contexts in the preempt count (include/linux/preempt.h), which lies in another place
 * on each architecture and, on x86, in three series of kernels. Where none is found, the context is
 * not known. */
#ifndef CULPRIT_CONTEXT_BPF_H
#define CULPRIT_CONTEXT_BPF_H

#include <bpf/bpf_core_read.h>
#include "trace.bpf.h"

enum context {
	CONTEXT_UNKNOWN,
	CONTEXT_NMI,
	CONTEXT_IRQ,
	CONTEXT_SOFTIRQ, /* it runs softirqs; one that only keeps them off is a thread */
	CONTEXT_THREAD,
};

/* Where variables of each CPU lie, from the first of them, by the kernel's type information; 0: it
 * has none of that name. */
extern const volatile __u32 at_preempt_count; /* x86 but for the next */
extern const volatile __u32 at_pcpu_hot;      /* x86, 6.2 to 6.14 */
extern const volatile __u32 at_runqueues;
/* Newer kernels (7.3 is one, 6.18 is not): 8 bits for interrupts that are off lie below those of
 * the interrupts that run. */
extern const volatile bool count_is_wide;

#define COUNT_SOFTIRQ 0x00000100 /* SOFTIRQ_OFFSET; SOFTIRQ_DISABLE_OFFSET is twice that */
#define COUNT_IRQ_OLD 0x000f0000
#define COUNT_NMI_OLD 0x00f00000
#define COUNT_IRQ     0x0f000000
#define COUNT_NMI     0x70000000

/* Asks no symbol of the kernel, as few kernels show those of data: the current thread knows its
 * CPU's run queue, and from there it is a fixed distance. */
static __always_inline bool read_count(struct task_struct *task, __u32 *count)
{
	__u64 from = 0, at = at_preempt_count;

	if (at_pcpu_hot)
		at = at_pcpu_hot + bpf_core_field_offset(struct pcpu_hot, preempt_count);
	if (at && at_runqueues) {
		if (bpf_core_field_exists(task->se.cfs_rq->rq))
			from = (__u64)BPF_CORE_READ(task, se.cfs_rq, rq);
		return from && !bpf_probe_read_kernel(count, sizeof(*count),
						      (void *)(from - at_runqueues + at));
	}
	if (!bpf_core_field_exists(task->thread_info.preempt_count))
		return false;
	*count = BPF_CORE_READ(task, thread_info.preempt_count);
	return true;
}

/* The end of an interrupt lowers the count before it runs softirqs, and these raise it again: what
 * the kernel does in between, with the interrupted thread as current, looks like the thread's own.
 */
static __always_inline enum context context_now(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__u32 count, softirq;

	if (!read_count(task, &count))
		return CONTEXT_UNKNOWN;
	if (count & (count_is_wide ? COUNT_NMI : COUNT_NMI_OLD))
		return CONTEXT_NMI;
	if (count & (count_is_wide ? COUNT_IRQ : COUNT_IRQ_OLD))
		return CONTEXT_IRQ;
	softirq = count;
	if (bpf_core_field_exists(task->softirq_disable_cnt))
		softirq = BPF_CORE_READ(task, softirq_disable_cnt);
	return softirq & COUNT_SOFTIRQ ? CONTEXT_SOFTIRQ : CONTEXT_THREAD;
}

/* This thread came into the kernel by a system call, or never leaves it: else an interrupt or a
 * fault brought it here. */
static __always_inline bool came_by_itself(void)
{
	struct pt_regs___x86 *x86;
	struct pt_regs___arm64 *arm64;
	void *regs;

	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return false;
	if (bpf_get_current_task_btf()->flags & PF_KTHREAD)
		return true;
	regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	x86 = regs;
	arm64 = regs;
	if (bpf_core_field_exists(x86->orig_ax))
		return (long)x86->orig_ax >= 0;
	return bpf_core_field_exists(arm64->syscallno) && arm64->syscallno >= 0;
}

#endif
