/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that share memory with other CPUs or with the reader, as they are built for arm64, for
 * test_order_shared.c. Their part of the kernel is here: its helpers, and what they read of its
 * structures. */
#undef __TARGET_ARCH_x86
#define __TARGET_ARCH_arm64
#define CULPRIT_CONTEXT_BPF_H
#define CULPRIT_ASKER_BPF_H
#define SUMS
#include <linux/types.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <bpf/bpf_helpers.h>
#include "order_shared.h"

struct cpu_state order_state;
struct sum order_sums[SUM_ROWS];
__u64 order_clock;

static inline void *look_up(const void *map, __u32 key);

#define bpf_ktime_get_ns()                 order_clock
#define bpf_get_smp_processor_id()         0U
#define bpf_get_current_pid_tgid()         1ULL
#define bpf_map_lookup_elem(map, key)      look_up(map, *(const __u32 *)(key))
#define __builtin_preserve_field_info(...) 0
#define __builtin_preserve_enum_value(...) 0
#define __builtin_preserve_type_info(...)  0
#include "trace.bpf.h"

enum context { CONTEXT_UNKNOWN, CONTEXT_NMI };

static inline int context_now(void)
{
	return CONTEXT_UNKNOWN;
}

static inline void end_vector(struct cpu_state *c, __u32 id, __u32 number)
{
	(void)c, (void)id, (void)number; /* no interrupt here is a vector */
}
#include "frequency.bpf.c"
#include "irq.bpf.c"

#include "order_variables.h"

const volatile int summing = SUMS_BESIDE;
const volatile __s32 watch_tid[WATCH_IDS];
const volatile int watch_comms;
volatile __u32 watch_groups_epoch, watch_groups_fence;
volatile __u64 watch_group[CHOICE_GROUPS];

static inline void *look_up(const void *map, __u32 key)
{
	if (map == &cpu_sums)
		return &order_sums[key];
	return map == &cpu_states ? &order_state : NULL;
}

void order_frequency(unsigned int khz)
{
	unsigned long long ctx[2] = {khz, 0};

	cpu_frequency(ctx);
}

void order_activate(void)
{
	activate(&order_state, order_clock);
}

void order_interrupt_ends(int irq)
{
	struct irqaction action = {NULL};
	unsigned long long ctx[3] = {(unsigned long long)irq, (unsigned long long)&action, 1};

	irq_handler_exit(ctx);
}

void order_add(const struct record *r, __u64 function, __u64 net_ns)
{
	sum_add(&order_state, LEVEL_IRQ, r, function, net_ns, SUM_WHOLE);
}
