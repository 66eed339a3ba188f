/* Which sources a report shows: all, or those of some kinds and names. What is left out counts in
 * all sums as before. */
#ifndef CULPRIT_SHOWN_H
#define CULPRIT_SHOWN_H

#include <stdbool.h>
#include <stdint.h>
#include "model/source.h"

struct shown {          /* all zeros: all of them */
	unsigned kinds; /* a bit for each enum source_kind; 0: all */
	/* glob over the name or the function, an asterisk stands for any bytes; NULL: all */
	const char *source;
	uint32_t top; /* so many rows at most; 0: as many as the format shows */
};

bool shown_some(const struct shown *s); /* not all kinds and names */
bool shown_is(const struct shown *s, const struct source *source);

/* As sources_rank, of those that are shown. */
uint32_t shown_rank(const struct shown *s, const struct sources *t, uint32_t *order);

/* How many of n rows, where the format shows `most` (UINT32_MAX: all). */
uint32_t shown_rows(const struct shown *s, uint32_t n, uint32_t most);

#endif
