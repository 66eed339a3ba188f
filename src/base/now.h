/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time now, in ns. */
#ifndef CULPRIT_NOW_H
#define CULPRIT_NOW_H

#include <stdint.h>
#include <time.h>

#include "base/units.h"

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

/* CLOCK_MONOTONIC: the clock of records and hiccups. */
static inline uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

#endif
