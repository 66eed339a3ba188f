/* x86 system vectors and NMI handlers (arch/x86/include/asm/trace/irq_vectors.h,
 * include/trace/events/nmi.h). Other architectures have none of these: their timer and IPIs are
 * device interrupts to the kernel, and irq.bpf.c records them. */
#include "trace.bpf.h"
#include "origin.bpf.h"

#define VECTOR(name, number)                                                                       \
	SEC("?tp_btf/" #name "_entry") int name##_entry(__u64 *ctx)                                \
	{                                                                                          \
		struct cpu_state *c = target();                                                    \
                                                                                                   \
		if (c)                                                                             \
			begin_irq(c, RECORD_VECTOR, number, 0);                                    \
		return 0;                                                                          \
	}                                                                                          \
	SEC("?tp_btf/" #name "_exit") int name##_exit(__u64 *ctx)                                  \
	{                                                                                          \
		struct cpu_state *c = target();                                                    \
                                                                                                   \
		if (c)                                                                             \
			end_irq(c, RECORD_VECTOR, number, (__u32)ctx[0], bpf_ktime_get_ns());      \
		return 0;                                                                          \
	}

VECTOR(local_timer, VECTOR_LOCAL_TIMER)
VECTOR(call_function, VECTOR_CALL_FUNCTION)
VECTOR(call_function_single, VECTOR_CALL_FUNCTION_SINGLE)
VECTOR(irq_work, VECTOR_IRQ_WORK)
VECTOR(thermal_apic, VECTOR_THERMAL)
VECTOR(threshold_apic, VECTOR_THRESHOLD)
VECTOR(deferred_error_apic, VECTOR_DEFERRED_ERROR)
VECTOR(error_apic, VECTOR_ERROR)
VECTOR(spurious_apic, VECTOR_SPURIOUS)
VECTOR(x86_platform_ipi, VECTOR_PLATFORM_IPI)

SEC("?tp_btf/reschedule_entry")
int reschedule_entry(__u64 *ctx)
{
	struct cpu_state *c = target();

	if (c)
		begin_irq(c, RECORD_VECTOR, VECTOR_RESCHEDULE, 0);
	return 0;
}

/* No tracepoint shows work of the handler itself, so its mark says only who sent the IPI. */
SEC("?tp_btf/reschedule_exit")
int reschedule_exit(__u64 *ctx)
{
	struct origin_key key = csd_key(bpf_get_smp_processor_id(), NULL);
	struct cpu_state *c = target();
	__u64 now;

	if (!c)
		return 0;
	now = bpf_ktime_get_ns();
	mark_asked(c, LEVEL_IRQ, MARK_RESCHEDULE, 0, now, &origin_resched, key, false);
	end_irq(c, RECORD_VECTOR, VECTOR_RESCHEDULE, (__u32)ctx[0], now);
	return 0;
}

/* An NMI asks every handler of its type; handlers that had nothing to do and were quick are left
 * out. */
#define NMI_LOOK_NS 1000
/* Handlers that follow each other within this time are taken to be asked by the same NMI. */
#define NMI_APART_NS 20000

const volatile bool unknown_nmi_seen = false; /* whether the program below is loaded */

/* Fires after each handler, with its duration. Runs in NMI context: it reads a clock and stores to
 * this CPU's own NMI ring only. An NMI belongs to the first handler that knew it, with the time
 * spent on asking the handlers before. */
SEC("?tp_btf/nmi_handler")
int BPF_PROG(nmi_handler, void *handler, __s64 delta_ns, int handled)
{
	struct cpu_state *c = target();
	__u64 now, start;

	if (!c)
		return 0;
	now = bpf_ktime_get_ns();
	start = now - delta_ns;
	if (start > c->nmi_seen + NMI_APART_NS)
		c->nmi_start = start;
	c->nmi_seen = now;
	if (handled) {
		emit(c, LEVEL_NMI, RECORD_NMI, 0, (__u64)handler, c->nmi_start ?: start, now);
		c->nmi_start = 0;
	} else if (delta_ns >= NMI_LOOK_NS && (!c->nmi_start || !unknown_nmi_seen)) {
		emit(c, LEVEL_NMI, RECORD_NMI, 0, (__u64)handler, start, now);
	}
	return 0;
}

extern const void unknown_nmi_error __ksym __weak;

/* An NMI that no handler knew: asking them and the message about it are one interval. */
SEC("?fexit/unknown_nmi_error")
int unknown_nmi(void *ctx)
{
	struct cpu_state *c = target();
	__u64 now;

	if (!c)
		return 0;
	now = bpf_ktime_get_ns();
	emit(c, LEVEL_NMI, RECORD_NMI, 0, (__u64)&unknown_nmi_error, c->nmi_start ?: now, now);
	c->nmi_seen = 0;
	return 0;
}
