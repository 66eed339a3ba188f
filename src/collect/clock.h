/* Measuring clocks: the CPU's counter against the kernel's clocks, the counters of CPUs against
 * each other, what it costs to read them, and hardware clocks of network cards (phc.h). Nothing is
 * traced and nothing is changed; needs no privileges but for devices.
 */
#ifndef CULPRIT_COLLECT_CLOCK_H
#define CULPRIT_COLLECT_CLOCK_H

#include "model/clock.h"

struct clock_options {
	struct cpus cpus;
	unsigned reference;                 /* of them: all is measured there */
	uint64_t duration_ns;               /* of the rate */
	const volatile int *stop;           /* nonzero: enough, with what there is by then */
	void (*progress)(const char *what); /* may be NULL */
};

/* Fills v but for its devices; v->host has been read. This process ends up on the reference CPU. 0,
 * or -1 with the reason said. */
int clock_measure(struct clock_view *v, const struct clock_options *o);

/* ---- its parts ---- */

#define CLOCK_READINGS_MAX 1000

/* Both rates, over the duration. At least three readings. */
void clock_measure_rates(struct clock_view *v, const struct clock_options *o);

/* One CPU's counter against this thread's, which is on the reference CPU. */
void clock_measure_offset(struct clock_offset *offset, double ns_per_tick,
			  const volatile int *stop);

void clock_measure_costs(struct clock_view *v, const volatile int *stop);

#endif
