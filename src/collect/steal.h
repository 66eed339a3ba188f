/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Steal clocks: what the hypervisor counts as taken from each CPU while it was ready to run, from
 * /proc/stat, in steps of 10 ms. */
#ifndef CULPRIT_STEAL_H
#define CULPRIT_STEAL_H

#include <stdbool.h>
#include <stdint.h>
#include "base/cpus.h"

/* By number of the CPU, ns since boot; 0: it has never moved, and may be none. */
struct steal {
	uint64_t *begin, *end;
};

/* Tells what the clock of each online CPU shows. */
void steal_read(void (*tell)(void *ctx, unsigned cpu, uint64_t ns), void *ctx);

int steal_init(struct steal *s); /* 0 or -ENOMEM */
void steal_free(struct steal *s);
void steal_begin(struct steal *s); /* the window begins */
void steal_end(struct steal *s);

/* *ns: by how much the clocks of these CPUs rose in the window, together. False, and 0: not known,
 * as there are none of them, or the clock of one has never moved, or fell. */
bool steal_rise(const struct steal *s, const struct cpus *on, uint64_t *ns);

#endif
