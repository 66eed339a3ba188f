/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of top's screen: lines that are cut to the screen. */
#ifndef CULPRIT_RENDER_TOP_LINES_H
#define CULPRIT_RENDER_TOP_LINES_H

#include "render/top.h"

#define TOP_NARROW 60  /* columns: below this only what is indispensable */
#define TOP_WIDE   100 /* columns: room for everything */

struct screen {
	struct top_state *state;
	const struct view *view;
	const struct recent *recent;
	FILE *out;
	unsigned left; /* lines */
};

/* Writes one line, cut to the width, while there are lines left. sgr NULL: no style. `text` is
 * printable. */
void top_put(struct screen *s, const char *sgr, const char *text);

/* Lines that top's page of sources needs beside its table's rows, and how many CPUs have a lane. */
struct top_layout {
	uint32_t lanes;
	bool more;       /* a line says how many CPUs have none */
	unsigned footer; /* lines about the source under the cursor */
	unsigned rows;   /* rows of the table, without its head */
};
struct top_layout top_layout(const struct top_state *s, uint32_t ncpus);

/* Writes the source under the cursor in detail. 0 or -ENOMEM. */
int top_detail(struct screen *s);

#endif
