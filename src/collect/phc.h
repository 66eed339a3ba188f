/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PTP hardware clocks: the clock of a network card or of the host
 * (Documentation/driver-api/ptp.rst), compared with CLOCK_REALTIME in each way that the kernel
 * offers. Reads only: nothing is set.
 */
#ifndef CULPRIT_PHC_H
#define CULPRIT_PHC_H

#include <time.h>

#include "model/clock.h"

/* System calls in use, so that a test can replace them. */
struct phc_calls {
	int (*ioctl)(int fd, unsigned long request, void *arg);
	int (*gettime)(clockid_t clock, struct timespec *t);
};

extern const struct phc_calls phc_kernel;

/* operand: "/dev/ptp0", or the name of a network interface. Fills operand, path and name of *phc
 * and opens the device. Returns its file descriptor, or -1 with the reason said: no such interface,
 * no PTP hardware clock, no permission. */
int phc_open(const char *operand, struct phc *phc);

/* A reading of both clocks, some time before phc_measure, from which the rate follows. */
struct phc_start {
	bool known;
	int64_t raw_ns, system_ns; /* hardware clock minus CLOCK_REALTIME, and CLOCK_REALTIME */
	uint64_t delay_ns;
	int64_t boot_ns; /* CLOCK_BOOTTIME, which nobody sets, +- boot_bound_ns */
	uint64_t boot_bound_ns;
};

struct phc_start phc_begin(int fd, const struct phc_calls *calls);

/* Tries all ways; the result of a failed one says so. `tai_s`: TAI - UTC. `ns_per_tick` of the
 * counter, for the time that calls take. */
void phc_measure(int fd, const struct phc_calls *calls, const struct phc_start *start, int tai_s,
		 double ns_per_tick, struct phc *phc);

#endif
