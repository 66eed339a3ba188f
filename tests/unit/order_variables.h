/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The variables and maps that all probe files share (bpf/trace.bpf.c), as a case of order.h has
 * them: two targets, all switched on. For behind the probes; summing, watch_tid and
 * watch_comms are the case's own. */
const volatile __u16 slot_of_cpu[TARGET_CPUS] = {1, 2};
const volatile int irqs_are_vectors = 1, current_known = 1, exits_known, owners_in,
		   owners_hierarchy, watching = 1, watch_users, watch_in_groups, watch_vcpus,
		   states_apart;
const volatile __u8 highest_bit[256] = HIGHEST_BITS;
const volatile __u8 vector_of_irq[VECTOR_IRQS];
const volatile __s32 watch_tgid[WATCH_IDS];
struct cpu_states cpu_states;
struct cpu_states_apart cpu_states_apart;
struct cpu_sums cpu_sums;
struct watch_processes watch_processes;
struct watch_threads watch_threads;
struct watch_groups watch_groups;
volatile int gate = 1;
volatile __u64 at_delayed_work_timer_fn, at_unknown_nmi_error;
