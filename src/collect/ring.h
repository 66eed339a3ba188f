/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the rings of one target CPU (state.h: cpu_state): whole records, in the order of their
 * ends, each with its place in its level's sequence. One reader for each cpu_state, from the
 * opening of the gate on. */
#ifndef CULPRIT_RING_H
#define CULPRIT_RING_H

#include <stdbool.h>
#include <stdint.h>
#include "state.h"

struct ring_level {
	uint64_t head, tail; /* halves: written at the last look, and read */
	uint32_t place, seq;
	bool ready; /* `next` is the next record */
	struct record next;
	struct record_half same[SAME_PLACES];
};

struct rings {
	struct cpu_state *state;
	struct ring_level level[LEVELS];
};

struct rings *rings_new(struct cpu_state *state); /* NULL: out of memory */
void rings_free(struct rings *r);

/* Looks how much has been written by now, on all levels at the same time but for some
 * microseconds. */
void rings_look(struct rings *r);

/* The next record of all levels, or of one, among those written at the last look; it stays the next
 * until rings_pop. NULL: none. When two have the same end, the inner one comes first. */
const struct record *rings_next(struct rings *r);
const struct record *rings_next_of(struct rings *r, int level);
void rings_pop(struct rings *r, int level);

/* Returns the room of popped records to the writer. */
void rings_release(struct rings *r);

/* Place of a CPU's rings among those of others. */
struct rings_turn {
	uint64_t end_ns; /* end of its next record */
	uint32_t index;
};

typedef void rings_taker(void *ctx, uint32_t index, const struct record *r);

/* Looks at the rings of `n` CPUs, and hands over all their records that ended before `ns`, in the
 * order of their ends; of two with the same end that of the lower index first. Returns the room
 * meanwhile. turn: memory for `n`. */
void rings_merge(struct rings *const *rings, uint32_t n, struct rings_turn *turn, uint64_t ns,
		 rings_taker *take, void *ctx);

/* Largest share of a ring that was full at the last look, percent. */
unsigned rings_fill(const struct rings *r);

/* The number of changes of the CPU's frequency so far, and the change of a number below that.
 * False: another one may have been written over it meanwhile. */
uint64_t khz_count(const struct cpu_state *state);
bool khz_take(const struct cpu_state *state, uint64_t number, struct khz_report *report);

#endif
