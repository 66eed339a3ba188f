/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pairs culprit's intervals with those of the kernel's osnoise tracer on the same CPU at the same
 * time, one by one.
 *
 * Both use the same tracepoints, so an interval that both see ends at the same moment, except for
 * the time between two probes of one tracepoint. They are paired by kind, number and time.
 * Intervals without a partner are counted by source, with the reason where it is known.
 *
 * osnoise reports from within its own probe. Where our probe comes after that, the report itself
 * would count as a difference, so our interval is compared as it was when osnoise reported.
 */
#ifndef CULPRIT_OSNOISE_PAIRS_H
#define CULPRIT_OSNOISE_PAIRS_H

#include <stdint.h>
#include "model/interval.h"
#include "model/source.h"

#define PAIRS_PENDING 512

/* One source as both sides see it. */
struct pairs_row {
	enum source_kind kind;
	uint32_t id;
	char name[17];
	uint64_t ours, theirs;       /* intervals */
	uint64_t ours_ns, theirs_ns; /* net */
	uint64_t matched, only_ours, only_theirs;
	struct hist difference; /* |ours, when osnoise reported - theirs| of the matched, ns */
	uint64_t matched_ns;    /* our net time of the matched */
	uint64_t shorter;       /* the matched of which ours is the shorter */
};

struct osnoise_pairs {
	struct pairs_row *row; /* in order of appearance */
	uint32_t rows, room;
	struct {
		struct interval i;
		bool used;
	} pending[2][PAIRS_PENDING]; /* ours, theirs */
	uint32_t next[2];
	uint64_t newest_ns;
	/* Differences of all matched pairs: ns, and 1/100 percent of ours. */
	struct hist difference, relative;
	uint64_t dropped; /* rows without memory */
};

int pairs_init(struct osnoise_pairs *c); /* One for each CPU. 0 or -ENOMEM. */
void pairs_free(struct osnoise_pairs *c);

/* Adds an interval of either side; those of one side come in the order of their ends, the two sides
 * within 100 ms of each other. */
void pairs_add(struct osnoise_pairs *c, const struct interval *i);
void pairs_finish(struct osnoise_pairs *c); /* counts what still waits as without partner */

/* Tells why osnoise lacks such an interval, NULL: not known. */
const char *pairs_why(const struct osnoise_pairs *c, const struct pairs_row *row);

/* Limit of likeness: the matched differ when half of them or more differ by more than this and a
 * twentieth of their length. */
#define PAIRS_ALIKE_NS 200
bool pairs_differs(const struct pairs_row *row);
/* Tells why they may differ, NULL: not known. */
const char *pairs_why_differs(const struct osnoise_pairs *c, const struct pairs_row *row);

#endif
