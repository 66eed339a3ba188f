/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside align.h: the gaps of all lanes together, and lines through them. */
#ifndef CULPRIT_ALIGN_STATE_H
#define CULPRIT_ALIGN_STATE_H

#include "model/align.h"

#define ALIGN_NEAR_NS 40000  /* from the line, for a gap that coincides */
#define ALIGN_DRIFT   0.0005 /* at most: clocks that NTP corrects */
#define ALIGN_NOBODY  UINT32_MAX

/* A gap of the guest's. */
struct align_event {
	uint64_t start_ns, length_ns;
	uint32_t lane;
	uint32_t partner; /* index of the gap on the host; ALIGN_NOBODY: none */
	uint32_t best;    /* partner by the best line so far */
};

struct align_all {
	const struct align_lane *lane;
	uint64_t *work;            /* left, as align() has it; NULL: no end of it */
	struct align_event *event; /* in order of time */
	uint32_t n;
	uint32_t finds;     /* lines that the search has found */
	uint64_t *least_ns; /* one for each lane: only longer gaps on the host take part in the
			       search */
};

/* The length that at most `most` of n are longer than; 0: they are no more. Sorts them. */
uint64_t align_nth_length(uint64_t *length, uint32_t n, uint32_t most);

/* The same of a lane's gaps. Out of memory 0. */
uint64_t align_least(const struct align_gaps *g, uint32_t most);

/* Number of a lane's gaps that begin before this time. */
uint32_t align_gaps_before(const struct align_gaps *g, uint64_t ns);

/* host = guest + offset + drift * (guest - at) */
struct align_line {
	uint64_t at_ns, offset_ns;
	double drift;
};

uint64_t align_at(const struct align_line *l, uint64_t guest_ns);

/* The gap of the lane on the host that begins nearest to host_ns, `far` away at most, and may be
 * this event; ALIGN_NOBODY: none, or the work is used up. */
uint32_t align_partner(const struct align_all *all, const struct align_event *e, uint64_t host_ns,
		       uint64_t far);

/* Follows the line from event `from` on to both sides, within [low, high), and gives each event its
 * partner; the others there get none. Returns how many have one; *first and *last: of these. */
uint32_t align_follow(struct align_all *all, const struct align_line *line, uint32_t from,
		      uint32_t low, uint32_t high, uint32_t *first, uint32_t *last);

/* The straight line through the matched events of [low, high), without the farthest. False: fewer
 * than two. */
bool align_fit(const struct align_all *all, uint32_t low, uint32_t high, struct align_line *line);

/* Lines that events of [low, high) vote for, the best first; returns how many. */
#define ALIGN_CANDIDATES 24
struct align_candidate {
	struct align_line line;
	uint32_t from; /* an event near the line */
	uint32_t votes;
};
uint32_t align_search(const struct align_all *all, uint32_t low, uint32_t high,
		      struct align_candidate found[ALIGN_CANDIDATES]);

#endif
