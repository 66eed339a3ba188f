/* The screen of culprit top. */
#ifndef CULPRIT_RENDER_TOP_H
#define CULPRIT_RENDER_TOP_H

#include <stdbool.h>
#include <stdio.h>

#include "model/recent.h"

enum top_sort { TOP_SECOND, TOP_TEN, TOP_START, TOP_MAX, TOP_COUNT, TOP_SORTS };

struct top_state {
	enum top_sort sort;
	bool paused, colour, help;
	unsigned width, height;
};

/* One screen: `height` lines at most, none wider than `width`, each cleared to its end; the cursor
 * begins at the top. 0 or -errno. */
int render_top(const struct view *v, const struct recent *r, const struct top_state *s, FILE *out);

#endif
