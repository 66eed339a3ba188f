/* The cause book's entries for people, scripts and documents. */
#ifndef CULPRIT_EXPLAIN_H
#define CULPRIT_EXPLAIN_H

#include <stdbool.h>
#include <stdio.h>
#include "audit/advise.h"

#define CAUSES_SCHEMA                                                                                                  \
	"culprit.causes/1" /* {"schema":..., "causes":[{"id":..., "matches":[{"kind":..., "pattern":...}]}]} */

enum explain_format { EXPLAIN_TEXT, EXPLAIN_JSON, EXPLAIN_MARKDOWN };

struct explain_options {
	int format;     /* enum explain_format */
	unsigned width; /* of text; columns */
	bool colour;    /* in text: escape sequences for a terminal */
	bool whole; /* text and Markdown: the entries, else only their titles by group. JSON has all of them always. */
	struct fill fill;
};

/* some[n], in the book's order. 0, or -errno when writing failed. */
int explain(const struct cause *const *some, uint32_t n, const struct explain_options *options, FILE *out);

#endif
