/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A page of headings, sentences, lines and tables, written once, as text for a terminal, as
 * Markdown or as HTML. All texts may hold any bytes: they are escaped here. */
#ifndef CULPRIT_SHEET_H
#define CULPRIT_SHEET_H

#include <stdbool.h>
#include <stdio.h>
#include "base/table.h"
#include "render/render.h"

enum sheet_form { SHEET_TEXT, SHEET_MARKDOWN, SHEET_HTML };

struct sheet {
	FILE *out;
	enum sheet_form form;
	const struct render_options *options;
	struct table *table; /* the open one, of text and Markdown */
	bool listing;        /* a list is open */
	bool row;            /* a row of a table of HTML is open */
	bool failed;         /* out of memory */
};

void sheet_begin(struct sheet *s, const char *title, const char *about);
int sheet_end(struct sheet *s); /* 0 or -errno */

void sheet_heading(struct sheet *s, const char *text);
/* A sentence that stands alone; one of a list; a command or parameters, to be copied. */
__attribute__((format(printf, 2, 3))) void sheet_say(struct sheet *s, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void sheet_item(struct sheet *s, const char *fmt, ...);
void sheet_code(struct sheet *s, const char *text);

/* A table: its headings, then cells row by row. The first column is to the left, and so is the last
 * where last_left. */
void sheet_table(struct sheet *s, const char *const *headings, unsigned n, bool last_left);
__attribute__((format(printf, 2, 3))) void sheet_cell(struct sheet *s, const char *fmt, ...);
void sheet_end_row(struct sheet *s);
void sheet_end_table(struct sheet *s);

#endif
