/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison being written for people. For the files of diff alone. */
#ifndef CULPRIT_RENDER_DIFF_PAGE_H
#define CULPRIT_RENDER_DIFF_PAGE_H

#include "base/table.h"
#include "render/diff.h"

#define TEXT_LEN 1024

struct page {
	FILE *out;
	const struct diff *d;
	const char *const *names;
	bool markdown, colour;
	unsigned width;
	uint32_t side[DIFF_FILES], sides; /* those that have a column; A is the first */
};

const char *diff_letter(uint32_t side); /* "A" */

/* ---- parts: tables that both files write ---- */

void diff_heading(const struct page *p, const char *text);
void diff_print(const struct page *p, struct table *t); /* prints and frees it; NULL: nothing */
/* A name from the machine: escaped, and in Markdown a code span. */
void diff_name_cell(const struct page *p, struct table *t, const char *name);
void diff_ratio_cells(struct table *t, const struct ratio *r);
const char *diff_style(enum diff_verdict v);
void diff_verdict_cell(struct table *t, enum diff_verdict v);
void diff_total_columns(const struct page *p, struct table *t); /* sides, ratio, verdict */

/* Writes with as many sides as fit beside A, and again with the next ones. */
void diff_blocks(const struct page *p, void (*write)(const struct page *p));

/* A column for each of them. */
void diff_side_columns(const struct page *p, struct table *t, enum table_align align, bool elastic);

void diff_files(const struct page *p);  /* prints the recordings of each side */
void diff_facts(const struct page *p);  /* prints how machines and measurements differ */
void diff_series(const struct page *p); /* prints the measurements of workloads */

/* ---- notes ---- */

/* Prints it over as many lines as it takes, in Markdown on one; a word that is wider than the page
 * stays whole. */
void diff_sentence(const struct page *p, const char *text);

void diff_losses(const struct page *p); /* reports what the recordings lack */
void diff_unlike(const struct page *p); /* reports how recordings of one side differ */
void diff_thresholds(
	const struct page *p); /* reports what is compared, where that is not what was measured */
/* reports what the intervals know of differences with nothing changed */
void diff_between(const struct page *p);
void diff_legend(const struct page *p);  /* explains the words, below the sources */
void diff_unclear(const struct page *p); /* explains that verdict, where it appears */

#endif
