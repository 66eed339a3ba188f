/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ends of what a watched thread did in the kernel, for the programs on them (watch.bpf.c,
 * held.bpf.c). */
#ifndef CULPRIT_WATCH_BPF_H
#define CULPRIT_WATCH_BPF_H

#include "trace.bpf.h"

#define FAULT_FLAG_USER 0x40 /* include/linux/mm_types.h */

/* Faults in kernel mode come here, too, and nobody saw them begin. One from user mode that a signal
 * answers never does: the next in kernel mode would be taken for its end. */
static __always_inline void end_fault(unsigned int flags)
{
	struct cpu_state *c = flags & FAULT_FLAG_USER ? target() : NULL;

	if (!c || !c->own.fault.start_ns)
		return;
	emit(c, LEVEL_THREAD, RECORD_FAULT, c->own.fault.id, 0, c->own.fault.start_ns,
	     bpf_ktime_get_ns());
	c->own.fault.start_ns = 0;
}

static __always_inline void syscall_ends(struct cpu_state *c, __u64 now)
{
	emit(c, LEVEL_THREAD, RECORD_SYSCALL, c->own.syscall.id, c->own.syscall.kind,
	     c->own.syscall.start_ns, now);
	c->own.syscall.start_ns = 0;
}

static __always_inline void end_syscall(void)
{
	struct cpu_state *c = target();

	if (c && c->own.syscall.start_ns)
		syscall_ends(c, bpf_ktime_get_ns());
}

#endif
