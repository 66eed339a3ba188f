/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside the sampler: its loop, and how it notes a gap. Used by the sampler's process, and by
 * workloads for windows of their own. */
#ifndef CULPRIT_SPIN_H
#define CULPRIT_SPIN_H

#include "collect/sampler.h"
#include "collect/counter.h"

extern const cursors_t no_cursors; /* for runs without probes */

struct spin {
	struct sampler_shm *shm;
	const volatile cursors_t *cursors;
	unsigned cpu;
	bool counter;
	bool learning;
	uint64_t busy_cap; /* ticks: a longer time is no bookkeeping */
	uint64_t deadline; /* ticks; checked after a gap only */
	/* While learning: spins until so many hiccups had records in them, but at most this long.
	 */
	uint64_t wanted, noted, longest;
	/* Start of the next loop after a hiccup. No locals of the loop, so that it keeps its own in
	 * registers. */
	uint64_t before;
	cursors_t before_cursors;
};

static inline __attribute__((always_inline)) uint64_t read_counter(bool counter)
{
	return counter ? counter_now() : now_ns();
}

/* Reads both clocks as close together as possible: an interrupt between the two readings would
 * shift the hiccup. Remembers the closest ever; on a machine that is never that quiet the closest
 * of many has to do. Returns how far apart they were, ticks. */
uint64_t read_anchor(struct sampler_shm *l, bool counter, uint64_t *tick, uint64_t *ns);

/* Writes a hiccup to the shared memory, with its anchor; cursors: as read before `before`; series:
 * as in struct spot. */
void publish_hiccup(struct spin *s, uint64_t before, uint64_t after, cursors_t cursors,
		    uint8_t series);

/* The same of a window whose end has been some time ago: cursors_after as of then. */
void publish_window(struct spin *s, uint64_t before, uint64_t after, cursors_t cursors_before,
		    cursors_t cursors_after, uint8_t series);

/* Write the window's begin and end to the shared memory: both clocks and the sequences. */
void window_opens(struct spin *s);
void window_closes(struct spin *s);

/* Shortest time from noting a gap until the loop reads the counter, ticks; 0 when stopped. Before
 * the limits are set. */
uint64_t spin_way_back(struct spin *s);

/* Spins until s->deadline, shm->stop, or until another process lowers the limit. */
void spin_window(struct spin *s);

#endif
