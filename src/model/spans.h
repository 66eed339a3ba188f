/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time of each interval of a hiccup, for drawings. An interval is one span; functions split it
 * into several that follow each other on the same depth. Spans inside a span lie one deeper: a
 * span's net time is its length less theirs.
 *
 * Bounded: the longest spans of a hiccup stay when it has more, and with each the one that it lies
 * in. */
#ifndef CULPRIT_SPANS_H
#define CULPRIT_SPANS_H

#include <stdbool.h>
#include <stdint.h>
#include "model/asker.h"

#define SPANS_MAX 512

struct span {
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC, start_ns < end_ns */
	uint32_t source;           /* row of the CPU's sources */
	/* Place in the order of ends: when two have the same end, the later one is outside. */
	uint32_t ended;
	struct asker asker;
	uint8_t depth; /* 0: outermost */
	bool unseen;   /* threads left unseen in its interval (RECORD_UNSEEN) */
};

struct spans { /* all zeros: none */
	struct span row[2 * SPANS_MAX];
	uint32_t count;
	uint32_t left; /* number without a place */
	uint32_t ended;
};

/* Adds a span, an inner one before the one that it lies in; ignores depth. Skips one without
 * length. */
void spans_add(struct spans *s, const struct span *span);

/* Ends the adding: at most SPANS_MAX, in order of time, an outer one before those inside it, with
 * their depths. */
void spans_finish(struct spans *s);

void spans_clear(struct spans *s);

#endif
