/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The variables and the maps that all probe files share, and the licence that the kernel asks for.
 */
#include "context.bpf.h"
#include "turns.bpf.h"
#include "vcpu.bpf.h"

const volatile __u16 slot_of_cpu[TARGET_CPUS] = {};
const volatile int irqs_are_vectors = 0;
const volatile __u8 vector_of_irq[VECTOR_IRQS] = {};
const volatile int watching = 0;
const volatile __s32 watch_tgid[WATCH_IDS] = {}, watch_tid[WATCH_IDS] = {};
const volatile int watch_users = 0, watch_comms = 0, watch_in_groups = 0, watch_vcpus = 0;
volatile __u64 watch_group[CHOICE_GROUPS] = {};
volatile __u32 watch_groups_epoch = 0, watch_groups_fence = 0;
struct watch_processes watch_processes SEC(".maps");
struct watch_threads watch_threads SEC(".maps");
struct watch_groups watch_groups SEC(".maps");
const volatile int current_known = 0, exits_known = 0;
struct vcpu_exits vcpu_exits SEC(".maps");
const volatile int summing = SUMS_NONE;
const volatile __u8 highest_bit[256] = HIGHEST_BITS;
struct cpu_sums cpu_sums SEC(".maps");
const volatile int turns_wanted = 0;
struct cpu_turns cpu_turns SEC(".maps");
const volatile __s64 at_preempt_count = 0;
const volatile int reads_directly = 0;
const volatile bool count_is_wide = false;
const volatile int sampler_sleeps = 0;
volatile int gate = 0;
volatile __u64 at_delayed_work_timer_fn = 0, at_unknown_nmi_error = 0;
const volatile int states_apart = 0;
struct cpu_states cpu_states SEC(".maps");
struct cpu_states_apart cpu_states_apart SEC(".maps");

char LICENSE[] SEC("license") = "GPL";
