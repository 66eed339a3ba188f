/* What a sampler learns before its window. For the sampler's process alone. */
#ifndef CULPRIT_LEARN_H
#define CULPRIT_LEARN_H

#include "collect/spin.h"

/* From here on gaps of short_from ticks are gaps, and those of the threshold are hiccups. */
void learn_limits(struct lane *l, uint64_t short_from, uint64_t threshold);

/* The loop's lengths and the counter's rate, into the lane. */
void learn_loop(struct spin *s);

/* Hiccups that this CPU's own timers and sleeps make, into the lane; limits are set. 0 or -errno.
 */
int learn_edges(struct spin *s);

#endif
