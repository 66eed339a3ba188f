/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measures clocks: the CPU's counter against the kernel's clocks, the counters of CPUs against each
 * other, the cost of reading them, and hardware clocks of network cards (phc.h). Traces and changes
 * nothing; needs no privileges except for devices.
 */
#ifndef CULPRIT_COLLECT_CLOCK_H
#define CULPRIT_COLLECT_CLOCK_H

#include "model/clock.h"

struct clock_options {
	struct cpus cpus;
	unsigned reference;                 /* one of the CPUs: everything is measured there */
	uint64_t duration_ns;               /* time for measuring the rate */
	const volatile int *stop;           /* nonzero: stop, and use what was measured by then */
	void (*progress)(const char *what); /* may be NULL */
};

/* Fills v except for its devices; the caller has read v->host. Leaves this process on the reference
 * CPU. 0, or -1 with the reason said. */
int clock_measure(struct clock_view *v, const struct clock_options *o);

/* ---- its parts ---- */

#define CLOCK_READINGS_MAX 1000

/* Measures both rates, over the duration, by at least three readings. */
void clock_measure_rates(struct clock_view *v, const struct clock_options *o);

/* Measures one CPU's counter against that of this thread, which is on the reference CPU. */
void clock_measure_offset(struct clock_offset *offset, double ns_per_tick,
			  const volatile int *stop);

void clock_measure_costs(struct clock_view *v, const volatile int *stop);

#endif
