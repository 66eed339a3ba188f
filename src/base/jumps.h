/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jumps of the system's clocks: it was set, or the machine was suspended. CLOCK_MONOTONIC, by which
 * all is measured, knows neither: it is compared with the two that do (clock_gettime(2)). */
#ifndef CULPRIT_JUMPS_H
#define CULPRIT_JUMPS_H

#include <stdbool.h>
#include <stdint.h>

struct clocks {
	uint64_t wall_ns, monotonic_ns, boot_ns; /* at one time */
};

struct jump {
	uint64_t suspended_ns; /* 0: it was not */
	int64_t set_ns;        /* forward; 0: it was not set, or by no more than slewing can be */
};

/* False: something came in between, so they are not of one time; ask again later. */
bool clocks_read(struct clocks *c);

struct jump clocks_compare(const struct clocks *before, const struct clocks *now);

#endif
