/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Learns before the sampler's window. For the sampler's process alone. */
#ifndef CULPRIT_LEARN_H
#define CULPRIT_LEARN_H

#include "collect/spin.h"

/* Sets the limits: from here on gaps of short_from ticks are gaps, and those of the threshold are
 * hiccups. */
void learn_limits(struct sampler_shm *l, uint64_t short_from, uint64_t threshold);

/* Learns the lengths of the loop and the rate of the counter, into the shared memory. */
void learn_loop(struct spin *s);

/* Makes hiccups by this CPU's own timers and sleeps, into the shared memory; needs the limits. 0 or
 * -errno.
 */
int learn_edges(struct spin *s);

#endif
