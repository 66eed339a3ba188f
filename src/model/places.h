/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPUs on which a watched thread ran: how long, and how often it moved between them. */
#ifndef CULPRIT_PLACES_H
#define CULPRIT_PLACES_H

#include <stdint.h>

struct place_row {
	unsigned cpu;
	uint64_t stays;  /* times that it came to run here */
	uint64_t moves;  /* those among them after it had run elsewhere */
	uint64_t ran_ns; /* run time here in all */
};

struct places {
	struct place_row *row; /* owned; by ascending CPU */
	uint32_t n;
};

/* The row of a CPU, new if need be, valid until the next call. NULL: out of memory. */
struct place_row *places_at(struct places *p, unsigned cpu);

uint64_t places_moves(const struct places *p); /* on all CPUs */
void places_free(struct places *p);

#endif
