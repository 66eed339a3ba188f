/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The screen of culprit top. Keys change its state, top_settle finds out what is to be seen, and
 * render_top draws that. */
#ifndef CULPRIT_RENDER_TOP_H
#define CULPRIT_RENDER_TOP_H

#include <stdbool.h>
#include <stdio.h>

#include "model/recent.h"

enum top_sort { TOP_SECOND, TOP_TEN, TOP_START, TOP_MAX, TOP_COUNT, TOP_SORTS };

enum top_page {
	TOP_SOURCES, /* lanes of the worst CPUs, and a table of sources */
	TOP_CPUS,    /* a row for each CPU */
};

/* A row of the table: a source, or on the page of CPUs a CPU with its first source. */
struct top_row {
	uint32_t cpu;            /* index of the lane */
	uint32_t source;         /* row in the lane's sources; TOP_NO_SOURCE: none */
	double second, ten, all; /* percent of the CPU's time */
	uint64_t max_ns, count;  /* for a CPU its longest hiccup, and hiccups */
};

#define TOP_NO_SOURCE UINT32_MAX

/* Texts of the cause book on the source in detail; not owned, each may be NULL. */
struct top_about {
	const char *title, *what, *why;
};

struct top_state {
	enum top_sort sort;
	enum top_page page;
	bool paused, colour, help;
	bool detail; /* the source under the cursor alone */
	bool last;   /* the screen that stays when top has ended: plain lines, and no keys */
	bool alone;  /* a page of one CPU alone: */
	uint32_t only;
	int move; /* rows that the cursor is to move; top_settle does it */
	unsigned width, height;
	struct top_about about;

	/* The place of the cursor, whatever place its row takes: on a source with this serial, or
	 * on a CPU. Before it was moved it stays on the first row. */
	bool moved;
	uint32_t at_cpu;
	uint64_t at_serial;

	/* Set by top_settle; top_free frees it. */
	struct top_row *row; /* ranked */
	uint32_t nrows;
	uint32_t *lane; /* indices of all CPUs, the worst first */
	uint32_t nlanes;
	uint32_t cursor;       /* a row */
	uint32_t first, shown; /* the rows on the screen */
	uint32_t scroll;       /* lines of the detail above the screen */
};

/* Ranks all CPUs and all sources, moves the cursor, and chooses the rows on the screen. Call it
 * before each render_top, and after the view or the state has changed. 0 or -ENOMEM: there are no
 * rows. */
int top_settle(const struct view *v, const struct recent *r, struct top_state *s);
void top_free(struct top_state *s);

/* The source under the cursor, for causes and advice; NULL: none. */
struct source *top_source(const struct view *v, const struct top_state *s);

/* One screen: `height` lines at most, none wider than `width`, each cleared to its end; the cursor
 * begins at the top. 0 or -errno. */
int render_top(const struct view *v, const struct recent *r, struct top_state *s, FILE *out);

#endif
