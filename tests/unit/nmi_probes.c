/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The programs for interrupts as they are built for arm64, for test_nmi.c. Their part of the kernel
 * is here: its helpers, the context that it counts, and what they read of its structures. */
#undef __TARGET_ARCH_x86
#define __TARGET_ARCH_arm64
#define CULPRIT_CONTEXT_BPF_H
#define CULPRIT_ASKER_BPF_H
#define CULPRIT_TURNS_BPF_H
#include <linux/types.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <bpf/bpf_helpers.h>
#include "nmi_probes.h"

enum context { CONTEXT_UNKNOWN, CONTEXT_NMI, CONTEXT_IRQ, CONTEXT_SOFTIRQ, CONTEXT_THREAD };

struct cpu_state nmi_state;
int nmi_context;
unsigned long long nmi_clock;
static inline int context_now(void)
{
	return nmi_context;
}

#define bpf_ktime_get_ns()                 (++nmi_clock)
#define bpf_get_smp_processor_id()         0U
#define bpf_get_current_pid_tgid()         1ULL
#define bpf_map_lookup_elem(map, key)      ((void)(key), (void *)&nmi_state)
#define bpf_probe_read_kernel(to, n, from) __builtin_memcpy(to, from, n)
#define bpf_get_current_task()             0ULL
#define bpf_get_current_comm(to, n)        ((void)(to), (void)(n))
#define __builtin_preserve_field_info(...) 0
#define __builtin_preserve_enum_value(...) 0
#define __builtin_preserve_type_info(...)  0
#define __builtin_preserve_access_index(x) (x)
#include "trace.bpf.h"

static inline void end_vector(struct cpu_state *c, __u32 id, __u32 number)
{
	(void)c, (void)id, (void)number; /* no interrupt here is a vector */
}
#include "irq.bpf.c"

/* No mark here has an asker, and this CPU is a target. */
static inline void put_call(const struct hrtimer *timer)
{
	(void)timer;
}

static inline __u64 csd_key(__u32 cpu, const void *csd)
{
	return (void)cpu, (__u64)csd;
}

static inline __u64 work_key(const void *work)
{
	return (__u64)work;
}

static inline __u64 irq_work_key(__u32 cpu, __u64 function)
{
	return (void)cpu, function;
}

static inline void mark_asked(struct cpu_state *c, int level, int what, __u64 function, __u64 at,
			      __u64 key, bool plain)
{
	(void)key, (void)plain;
	mark(c, level, what, function, at);
}
#include "work.bpf.c"

const volatile __u16 slot_of_cpu[TARGET_CPUS] = {1};
const volatile int irqs_are_vectors = 1, current_known = 1, exits_known, owners_in,
		   owners_hierarchy, watching, watch_users, watch_comms, watch_in_groups,
		   watch_vcpus, states_apart;
volatile __u32 watch_groups_epoch, watch_groups_fence;
const volatile __u8 vector_of_irq[VECTOR_IRQS];
const volatile __s32 watch_tgid[WATCH_IDS], watch_tid[WATCH_IDS];
volatile int gate = 1;
volatile __u64 at_delayed_work_timer_fn, at_unknown_nmi_error;

static void handle(int irq, void *handler, int context)
{
	struct irqaction action = {handler};
	unsigned long long ctx[3] = {(unsigned long long)irq, (unsigned long long)&action, 1};
	int before = nmi_context;

	nmi_context = context;
	irq_handler_entry(ctx);
	irq_handler_exit(ctx);
	nmi_context = before;
}

void nmi_interrupt(int irq, void *handler)
{
	handle(irq, handler, CONTEXT_IRQ);
}

void nmi_pseudo(int irq, void *handler)
{
	handle(irq, handler, CONTEXT_NMI);
}

void nmi_hrtimer(void *function, bool soft)
{
	struct hrtimer timer = {.function = function, .is_soft = soft};
	unsigned long long ctx[1] = {(unsigned long long)&timer};

	hrtimer_expire_entry(ctx);
}

void nmi_irq_work(void *function)
{
	struct irq_work work = {.func = function};
	unsigned long long ctx[1] = {(unsigned long long)&work};
	int before = nmi_context;

	nmi_context = CONTEXT_IRQ;
	irq_work_single(ctx);
	nmi_context = before;
}

void nmi_softirq(unsigned int vec, void *function)
{
	struct timer_list timer = {.function = function};
	unsigned long long ctx[1] = {vec}, ctx_timer[1] = {(unsigned long long)&timer};

	softirq_entry(ctx);
	nmi_hrtimer(function, true);
	timer_expire_entry(ctx_timer);
	softirq_exit(ctx);
}
