/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CLOCK_MONOTONIC, for tests of long waits: it runs FAST times as fast in this process. */
#ifndef CULPRIT_WORLD_FAST_CLOCK_H
#define CULPRIT_WORLD_FAST_CLOCK_H

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"

#define FAST 60

/* In place of the C library's. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
	static uint64_t begin;
	int err = syscall(SYS_clock_gettime, clock, t);
	uint64_t now = t->tv_sec * NSEC_PER_SEC + t->tv_nsec;

	if (err || clock != CLOCK_MONOTONIC)
		return err;
	begin = begin ? begin : now;
	now = begin + FAST * (now - begin);
	t->tv_sec = now / NSEC_PER_SEC;
	t->tv_nsec = now % NSEC_PER_SEC;
	return 0;
}

#endif
