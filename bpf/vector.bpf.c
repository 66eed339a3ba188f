/* SPDX-License-Identifier: GPL-2.0-or-later */
/* x86 system vectors and NMI handlers (arch/x86/include/asm/trace/irq_vectors.h,
 * include/trace/events/nmi.h). Other architectures have none of these: their timer and IPIs are
 * interrupts with a number, and irq.bpf.c records them. */
#include "trace.bpf.h"
#include "asker.bpf.h"

#define PROBES(number, name, kernel_name, counter)                                                 \
	SEC("?tp_btf/" #kernel_name "_entry") int kernel_name##_entry(__u64 *ctx)                  \
	{                                                                                          \
		struct cpu_state *c = target();                                                    \
                                                                                                   \
		if (c)                                                                             \
			begin_irq(c, RECORD_VECTOR, VECTOR_##name, 0);                             \
		return 0;                                                                          \
	}                                                                                          \
	SEC("?tp_btf/" #kernel_name "_exit") int kernel_name##_exit(__u64 *ctx)                    \
	{                                                                                          \
		struct cpu_state *c = target();                                                    \
                                                                                                   \
		if (c)                                                                             \
			end_vector(c, VECTOR_##name, ctx[0]);                                      \
		return 0;                                                                          \
	}

VECTORS(PROBES)

/* An NMI asks every handler of its type; handlers that had nothing to do and were quick are left
 * out. */
#define NMI_LOOK_NS 1000
/* Handlers that follow each other within this time are taken to be asked by the same NMI. */
#define NMI_APART_NS 20000

const volatile bool unknown_nmi_seen = false; /* true when the program below is loaded */

/* Fires after each handler, with its duration. Runs in NMI context: it reads a clock and stores to
 * this CPU's own NMI ring only. An NMI belongs to the first handler that knew it, with the time
 * spent on asking the handlers before. */
SEC("?tp_btf/nmi_handler")
int BPF_PROG(nmi_handler, void *handler, __s64 delta_ns, int handled)
{
	struct cpu_state *c = target_in_nmi();
	__u64 now, start;

	if (!c)
		return 0;
	now = bpf_ktime_get_ns();
	start = now - delta_ns;
	if (start > c->own.nmi_seen + NMI_APART_NS)
		c->own.nmi_start = start;
	c->own.nmi_seen = now;
	if (handled) {
		emit(c, LEVEL_NMI, RECORD_NMI, 0, (__u64)handler, c->own.nmi_start ?: start, now);
		c->own.nmi_start = 0;
	} else if (delta_ns >= NMI_LOOK_NS && (!c->own.nmi_start || !unknown_nmi_seen)) {
		emit(c, LEVEL_NMI, RECORD_NMI, 0, (__u64)handler, start, now);
		if (c->own.nmi_start)
			c->own.nmi_start = now; /* no time counts twice */
	}
	return 0;
}

/* An NMI that no handler knew: asking them and the message about it are one interval. */
SEC("?fexit/unknown_nmi_error")
int unknown_nmi(void *ctx)
{
	struct cpu_state *c = target_in_nmi();
	__u64 now;

	if (!c)
		return 0;
	now = bpf_ktime_get_ns();
	emit(c, LEVEL_NMI, RECORD_NMI, 0, at_unknown_nmi_error, c->own.nmi_start ?: now, now);
	c->own.nmi_seen = 0;
	return 0;
}
