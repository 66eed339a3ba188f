/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A hiccup: time that a CPU was away from the sampler. Times are CLOCK_MONOTONIC nanoseconds. */
#ifndef CULPRIT_HICCUP_H
#define CULPRIT_HICCUP_H

#include <stdint.h>
#include "record.h"

struct hiccup {
	uint64_t start_ns; /* the last counter reading before the gap */
	uint64_t end_ns;   /* the first one after it */
	/* The CPU's record sequences, read before start_ns and after end_ns: every record of the
	 * hiccup has a place in (before, after] of its level. */
	uint32_t before[LEVELS];
	uint32_t after[LEVELS];
	/* Hiccups since the one before that the sampler had no room for: their records lie in none
	 * that is known. */
	uint64_t lost;
};

#endif
