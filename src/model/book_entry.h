/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries of the cause book for reports that carry them along: of the causes that a view's sources
 * and findings have. */
#ifndef CULPRIT_BOOK_ENTRY_H
#define CULPRIT_BOOK_ENTRY_H

#include <stdint.h>

/* Commands stand in backquotes. Static but for confirm, fix and here, in which the machine's CPUs
 * are filled in and which are owned. */
struct book_entry {
	const char *id, *title, *what, *why;
	const char *cost, *source; /* cost NULL: not known */
	char *confirm, *fix;
	/* The part for the measured machine's architecture; NULL: none. Owned. */
	char *here;
	const char *arch; /* "on x86" */
};

struct book_entries { /* all zeros: none */
	struct book_entry *row;
	uint32_t n;
};

void book_entries_free(struct book_entries *e);

#endif
