/* A stopped handler: on a guest the host can take the CPU in the middle of an interrupt's handler,
 * and firmware can anywhere. The kernel's clock goes on meanwhile, so the stop counts as the
 * handler's time, though no change to the handler ends it.
 *
 * Applied to interrupts, vectors, softirqs and NMIs, whose runs mostly take the same time. Of at
 * least STOPS_SAMPLES runs those count as stopped that took more than STOPS_TIMES what 99 of 100
 * take, and more than STOPS_LEAST_NS; and only with a sign of a stop: a hypervisor, counted SMIs,
 * or other measured CPUs that were away at the same time. It stays likely, not certain. */
#ifndef CULPRIT_STOPS_H
#define CULPRIT_STOPS_H

#include "model/view.h"

#define STOPS_SAMPLES  200
#define STOPS_TIMES    8
#define STOPS_LEAST_NS 50000

/* Fills s->stopped of all sources of this CPU; zeros where nothing was stopped. */
void stops_find(const struct view *v, uint32_t index);

/* Time of a source without stops: of all its runs, and the longest run without a stop. */
uint64_t stops_usual_sum(const struct source *s);
uint64_t stops_usual_max(const struct source *s);

#endif
