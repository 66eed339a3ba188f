/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Holes: stretches of a hiccup in which records are known to be missing, by the level that they are
 * missing from. Nobody knows what ran there: time in a hole that no record covers, or that an
 * interval of a lower level covers, belongs to nobody.
 *
 * Records that are missing between two others lie after the end of the one and before the begin of
 * the other: a level never interrupts itself. */
#ifndef CULPRIT_HOLES_H
#define CULPRIT_HOLES_H

#include <stdint.h>
#include "record.h"

#define HOLES_MAX 4096 /* holes of one level in one hiccup; later ones join the last */

struct hole {
	uint64_t start_ns, end_ns;
};

struct holes_level {
	struct hole *row; /* in order of time, apart from each other; NULL: none yet */
	uint32_t count;
};

struct holes { /* all zeros: none */
	struct holes_level level[LEVELS];
	uint32_t count; /* holes of all levels */
};

void holes_free(struct holes *h);
void holes_clear(struct holes *h);

/* Adds a hole; those of one level come in order of time. Skips one without length. Out of memory
 * forgets the earlier ones. */
void holes_add(struct holes *h, unsigned level, uint64_t start_ns, uint64_t end_ns);

/* As holes_add, of one that begins before all holes of its level. */
void holes_add_first(struct holes *h, unsigned level, uint64_t start_ns, uint64_t end_ns);

/* Time of [start, end) that lies in holes of this level and those above. */
uint64_t holes_within(const struct holes *h, unsigned level, uint64_t start_ns, uint64_t end_ns);

#endif
