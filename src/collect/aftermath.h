/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process that waits until this one has ended, however that comes, and then does what is left to
 * be done. It has a session of its own and is deaf to the signals of a terminal; who kills it, too,
 * leaves the rest to the next run. */
#ifndef CULPRIT_COLLECT_AFTERMATH_H
#define CULPRIT_COLLECT_AFTERMATH_H

#include <stdint.h>
#include <sys/types.h>

#include "base/cpus.h"

/* Forks it, off these CPUs as far as that can be. then: called in it, with all that was there at
 * the fork, but of what was open stderr and `keep` alone, and of rights (base/confine.h) these. The
 * caller ends it with reap_killed(). -1 with the reason said. */
pid_t aftermath_start(void (*then)(void *ctx), void *ctx, int keep, const struct cpus *off,
		      uint64_t rights);

#endif
