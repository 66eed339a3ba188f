/* Inside the sampler: its loop, and how it notes a gap. Used by the sampler's process and, for
 * windows of their own, by workloads. */
#ifndef CULPRIT_SPIN_H
#define CULPRIT_SPIN_H

#include "collect/sampler.h"
#include "collect/tick.h"

extern const cursors_t no_cursors; /* without probes */

struct spin {
	struct lane *lane;
	const volatile cursors_t *cursors;
	unsigned cpu;
	bool counter;
	bool learning;
	uint64_t busy_cap; /* ticks: longer is not bookkeeping */
	uint64_t deadline; /* ticks; looked at after a gap only */
	/* While learning it goes on until so many hiccups had records in them, but not beyond this.
	 */
	uint64_t wanted, noted, longest;
	/* Where the loop goes on after a hiccup: not locals of the loop, so that it keeps its own
	 * in registers. */
	uint64_t before;
	cursors_t before_cursors;
};

static inline __attribute__((always_inline)) uint64_t read_tick(bool counter)
{
	return counter ? tick_counter() : tick_clock();
}

/* Both clocks as close together as they will go: an interrupt between the two readings would shift
 * the hiccup. What they can do is remembered; on a machine that is never that quiet the closest of
 * many has to do. Returns how far apart they were, ticks. */
uint64_t read_anchor(struct lane *l, bool counter, uint64_t *tick, uint64_t *ns);

/* A hiccup into the lane, with its anchor; cursors: as read ahead of `before`. */
void publish_hiccup(struct spin *s, uint64_t before, uint64_t after, cursors_t cursors);

/* The window's ends: both clocks and the sequences, into the lane. */
void window_opens(struct spin *s);
void window_closes(struct spin *s);

/* Spins until s->deadline, lane->stop, or another process lowers the limit. */
void spin_window(struct spin *s);

#endif
