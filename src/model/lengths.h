/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lengths of hiccups, and whose time was in those of each: who made the tail. */
#ifndef CULPRIT_LENGTHS_H
#define CULPRIT_LENGTHS_H

#include "model/timeline.h"

#define LENGTHS_BITS 3 /* rows as wide as an eighth of their octave */

struct length_row {
	uint32_t index; /* bucket of a histogram of LENGTHS_BITS */
	uint64_t count;
	uint64_t lost_ns[TIMELINE_KINDS];
};

struct lengths {                /* all zeros: nothing came */
	struct length_row *row; /* by rising index; owned */
	uint32_t n, room;
	uint64_t count; /* hiccups in the rows; fewer than came where memory was out */
};

/* Adds a hiccup with its time by kind. */
void lengths_add(struct lengths *l, uint64_t duration_ns, const uint64_t lost_ns[TIMELINE_KINDS]);
void lengths_free(struct lengths *l);

/* The shortest duration of a row, and the shortest that is too long for it. */
uint64_t lengths_from(const struct length_row *r);
double lengths_to(const struct length_row *r);

#endif
