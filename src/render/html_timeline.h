/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the drawings over time of the HTML report. */
#ifndef CULPRIT_HTML_TIMELINE_H
#define CULPRIT_HTML_TIMELINE_H

#include "render/html.h"

/* Units of a drawing, which is stretched to the page. */
#define WIDTH  4000
#define HEIGHT 500
#define LEAST  12 /* least height of a kind that has any time, in these units */

struct timeline_lane {
	const struct html *h;
	uint64_t begin_ns, end_ns; /* range of the axis */
	struct timeline timeline;
	double low, top; /* ends of the scale, as shares of time: 1 is all of it */
};

/* The part of a slot on the axis. */
struct column {
	uint64_t from_ns, to_ns;
	const uint64_t *lost_ns;
	uint64_t sum_ns;
	unsigned x, width, height;
};

/* The range of the axis. */
void timeline_range(struct timeline_lane *l, const struct html *h);
void timeline_axis(const struct timeline_lane *l); /* writes it */

uint64_t first_slot(const struct timeline_lane *l);
uint64_t last_slot(const struct timeline_lane *l);
bool column_at(const struct timeline_lane *l, uint64_t slot,
	       struct column *c);            /* false: nothing was lost in it */
double column_share(const struct column *c); /* share of its time, 0 to 1 */

#endif
