/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The floor of a tracer that takes the time at each of the hooks that culprit has: programs that
 * read the clock, on target CPUs alone where culprit's do that, and write nothing down. */
#include "trace.bpf.h"

#define ON_TARGET(name)                                                                            \
	SEC("?tp_btf/" #name) int floor_##name(void *ctx)                                          \
	{                                                                                          \
		struct cpu_state *c = target();                                                    \
                                                                                                   \
		if (c)                                                                             \
			c->softirq.start_ns = bpf_ktime_get_ns();                                  \
		return 0;                                                                          \
	}

/* No clock: culprit reads none there. */
#define WHERE_ASKED(name)                                                                          \
	SEC("?tp_btf/" #name) int floor_##name(__u64 *ctx)                                         \
	{                                                                                          \
		return 0;                                                                          \
	}

ON_TARGET(sched_switch)
ON_TARGET(softirq_entry)
ON_TARGET(softirq_exit)
ON_TARGET(local_timer_entry)
ON_TARGET(local_timer_exit)
ON_TARGET(hrtimer_expire_entry)
ON_TARGET(reschedule_entry)
ON_TARGET(reschedule_exit)
ON_TARGET(call_function_entry)
ON_TARGET(call_function_exit)
ON_TARGET(call_function_single_entry)
ON_TARGET(call_function_single_exit)
ON_TARGET(csd_function_entry)
WHERE_ASKED(sched_waking)
WHERE_ASKED(csd_queue_cpu)
WHERE_ASKED(ipi_send_cpu)
