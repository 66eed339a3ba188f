/* A handler that was stopped: on a guest the host can take the CPU in the middle of an interrupt's
 * handler, and firmware can anywhere. The kernel's clock goes on meanwhile, so the stop is counted
 * as the handler's time, though nothing that is done about the handler ends it.
 *
 * Said of interrupts, vectors, softirqs and NMIs, whose handlers mostly take alike. Of at least
 * STOPS_SAMPLES runs those count as stopped that took more than STOPS_TIMES what 99 of 100 take,
 * and more than STOPS_LEAST_NS; and only where something speaks for a stop: a hypervisor, SMIs that
 * were counted, or other measured CPUs that were away at the same time. It stays likely, not
 * certain. */
#ifndef CULPRIT_STOPS_H
#define CULPRIT_STOPS_H

#include "model/view.h"

#define STOPS_SAMPLES  200
#define STOPS_TIMES    8
#define STOPS_LEAST_NS 50000

/* Fills s->stopped of all sources of this CPU; zeros where nothing was stopped. */
void stops_find(const struct view *v, uint32_t index);

/* What the source took apart from stops: of all its runs, and the longest that was not stopped. */
uint64_t stops_usual_sum(const struct source *s);
uint64_t stops_usual_max(const struct source *s);

#endif
