/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/jumps.h"

#include <time.h>

#include "base/now.h"

#define TORN_NS      1000000 /* 1 ms */
#define SUSPENDED_NS (int64_t)(10 * NSEC_PER_MSEC)
/* A tenth of the time between is the most by which a clock may be slewed (adjtimex(2): ADJ_TICK).
 */
#define SLEWED 10
#define SET_NS (int64_t)(100 * NSEC_PER_MSEC)

bool clocks_read(struct clocks *c)
{
	c->monotonic_ns = now_ns();
	c->wall_ns = clock_ns(CLOCK_REALTIME);
	c->boot_ns = clock_ns(CLOCK_BOOTTIME);
	return now_ns() - c->monotonic_ns < TORN_NS;
}

struct jump clocks_compare(const struct clocks *before, const struct clocks *now)
{
	int64_t passed = now->monotonic_ns - before->monotonic_ns;
	int64_t slept = now->boot_ns - before->boot_ns - passed;
	int64_t set = now->wall_ns - before->wall_ns - passed - slept;
	int64_t least = passed / SLEWED > SET_NS ? passed / SLEWED : SET_NS;

	return (struct jump){slept >= SUSPENDED_NS ? slept : 0,
			     set >= least || -set >= least ? set : 0};
}
