/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cause book's entries for people, scripts and documents. */
#ifndef CULPRIT_EXPLAIN_H
#define CULPRIT_EXPLAIN_H

#include <stdbool.h>
#include <stdio.h>
#include "audit/book.h"
#include "audit/meaning.h"
#include "audit/placeholders.h"

/* {"schema":..., "causes":[{"id":..., "matches":[{"kind":..., "pattern":...}]}]} */
#define CAUSES_SCHEMA "culprit.causes/1"

enum explain_format { EXPLAIN_TEXT, EXPLAIN_JSON, EXPLAIN_MARKDOWN };

struct explain_options {
	int format;     /* enum explain_format */
	unsigned width; /* columns of the text */
	bool colour;    /* in text: escape sequences for a terminal */
	/* Text and Markdown: print the entries, not only their titles by group. JSON always has all
	 * of them. */
	bool whole;
	const char *arch; /* the machine's, as uname(2) calls it; "": not known */
	struct placeholders fill;
};

/* An entry, and why it answers the name that was asked for; "": the entry is on that very name (any
 * bytes, escaped on output). */
struct explained {
	const struct cause *cause;
	char note[MEANING_NOTE];
};

/* Prints some[n], in the book's order. 0, or -errno when writing failed. */
int explain(const struct explained *some, uint32_t n, const struct explain_options *options,
	    FILE *out);

#endif
