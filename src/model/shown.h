/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sources that a report shows: all, or those of some kinds and names. Sums include the others
 * as before. */
#ifndef CULPRIT_SHOWN_H
#define CULPRIT_SHOWN_H

#include <stdbool.h>
#include <stdint.h>
#include "model/source.h"

struct shown {          /* all zeros: all of them */
	unsigned kinds; /* one bit for each enum source_kind; 0: all */
	/* Glob over the name or the function, an asterisk stands for any bytes; NULL: all. */
	const char *source;
	uint32_t top; /* most rows; 0: as many as the format shows */
};

bool shown_some(const struct shown *s); /* true when it leaves kinds or names out */
bool shown_is(const struct shown *s, const struct source *source);

/* As sources_rank, for the shown sources only. */
uint32_t shown_rank(const struct shown *s, const struct sources *t, uint32_t *order);

/* Number of rows to show of n, where the format shows `most` (UINT32_MAX: all). */
uint32_t shown_rows(const struct shown *s, uint32_t n, uint32_t most);

#endif
