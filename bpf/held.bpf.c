/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that run in threads, or on PREEMPT_RT in softirqs, which threads run there. Another
 * program of the CPU may not come in between while one writes to a ring. Tracepoints kept it out up
 * to Linux 6.19; from 7.0 on a program is preempted like what it runs in (include/linux/
 * tracepoint.h: tracepoint_srcu), and one on a function always was. These keep it out themselves,
 * in place of those without _held in their names, where the kernel lets programs do that (6.10 and
 * later; collect/programs.c chooses, and leaves out what is safe by neither). They are in one file,
 * as bpftool 7.1 does not link two that call the same function of the kernel's. */
#include "softirq.bpf.h"
#include "vcpu.bpf.h"
#include "watch.bpf.h"
#include "work.bpf.h"

extern void bpf_preempt_disable(void) __ksym __weak;
extern void bpf_preempt_enable(void) __ksym __weak;

#define HELD(section, name, body, ...)                                                             \
	SEC("?" section)                                                                           \
	int BPF_PROG(name##_held, ##__VA_ARGS__)                                                   \
	{                                                                                          \
		bpf_preempt_disable();                                                             \
		body;                                                                              \
		bpf_preempt_enable();                                                              \
		return 0;                                                                          \
	}

HELD("tp_btf/softirq_entry", softirq_entry, begin_softirq(vec), unsigned int vec)
HELD("tp_btf/softirq_exit", softirq_exit, end_softirq(vec), unsigned int vec)
HELD("tp_btf/hrtimer_expire_entry", hrtimer_expire_entry, note_hrtimer(timer),
     struct hrtimer *timer)
HELD("tp_btf/timer_expire_entry", timer_expire_entry, note_timer(timer), struct timer_list *timer)
HELD("tp_btf/tasklet_entry", tasklet_entry, note_tasklet(function), void *tasklet, void *function)
HELD("fentry/irq_work_single", irq_work_single, note_irq_work(work), struct irq_work *work)
HELD("tp_btf/workqueue_execute_start", workqueue_execute_start, note_work(work),
     struct work_struct *work)
HELD("fexit/handle_mm_fault", watch_fault_end, end_fault(flags), void *vma, unsigned long address,
     unsigned int flags)
HELD("tp_btf/sys_exit", watch_sys_exit, end_syscall())
HELD("raw_tp/kvm_vcpu_wakeup", watch_vcpu_wakeup, end_halt())
