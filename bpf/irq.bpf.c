/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Device interrupts and softirqs (include/trace/events/irq.h). Each handler is one interval: a
 * shared line runs several. */
#include "trace.bpf.h"
#include "context.bpf.h"
#include "asker.bpf.h"
#include "softirq.bpf.h"

/* Interrupts that nothing masks: architectures without NMIs of their own may have them (arm64:
 * irqchip.gicv3_pseudo_nmi). Their records must not go to the ring of interrupts, because such an
 * interrupt may break into a write to it. */
static __always_inline bool is_pseudo_nmi(void)
{
	return irqs_are_vectors && context_now() == CONTEXT_NMI;
}

static __always_inline void end_pseudo_nmi(struct cpu_state *c, __u64 handler)
{
	if (c->own.nmi_start)
		emit(c, LEVEL_NMI, RECORD_NMI, 0, handler, c->own.nmi_start, bpf_ktime_get_ns());
	c->own.nmi_start = 0;
}

SEC("?tp_btf/irq_handler_entry")
int BPF_PROG(irq_handler_entry, int irq, struct irqaction *action)
{
	struct cpu_state *c = is_pseudo_nmi() ? target_in_nmi() : target();
	__u32 vector = vector_of(irq);

	if (!c)
		return 0;
	if (is_pseudo_nmi())
		c->own.nmi_start = bpf_ktime_get_ns();
	else if (vector)
		begin_irq(c, RECORD_VECTOR, vector, 0);
	else
		begin_irq(c, RECORD_IRQ, irq, (__u64)action->handler);
	return 0;
}

SEC("?tp_btf/irq_handler_exit")
int BPF_PROG(irq_handler_exit, int irq, struct irqaction *action)
{
	struct cpu_state *c = is_pseudo_nmi() ? target_in_nmi() : target();
	__u32 vector = vector_of(irq);

	if (!c)
		return 0;
	if (is_pseudo_nmi())
		end_pseudo_nmi(c, (__u64)action->handler);
	else if (vector)
		end_vector(c, vector, irq);
	else
		end_irq(c, RECORD_IRQ, irq, (__u64)action->handler, clock_at(c, LEVEL_IRQ));
	return 0;
}

SEC("?tp_btf/softirq_entry")
int BPF_PROG(softirq_entry, unsigned int vec)
{
	begin_softirq(vec);
	return 0;
}

SEC("?tp_btf/softirq_exit")
int BPF_PROG(softirq_exit, unsigned int vec)
{
	end_softirq(vec);
	return 0;
}
