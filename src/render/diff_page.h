/* A comparison being written for people. For diff.c and diff_notes.c alone. */
#ifndef CULPRIT_RENDER_DIFF_PAGE_H
#define CULPRIT_RENDER_DIFF_PAGE_H

#include "render/diff.h"

#define TEXT_LEN 1024

struct page {
	FILE *out;
	const struct diff *d;
	const char *const *names;
	bool markdown, colour;
	unsigned width;
};

const char *diff_letter(uint32_t side); /* "A" */

void diff_losses(const struct page *p); /* reports what the recordings lack */
void diff_unlike(const struct page *p); /* reports how recordings of one side differ */
void diff_thresholds(
	const struct page *p); /* reports what is compared, where that is not what was measured */
/* reports what the intervals know of differences with nothing changed */
void diff_between(const struct page *p);
void diff_legend(const struct page *p);  /* explains the words, below the sources */
void diff_unclear(const struct page *p); /* explains that verdict, where it appears */

#endif
