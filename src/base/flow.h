/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Items joined by a separator, with line breaks before the width: "a · b · c". */
#ifndef CULPRIT_FLOW_H
#define CULPRIT_FLOW_H

#include <stdbool.h>
#include <stdio.h>

struct flow {
	FILE *out;
	unsigned width;        /* columns that a line may take; a single item may be longer */
	const char *separator; /* between two items on a line: " · " */
	const char *lead;      /* before the first item on a further line: "      " */
	/* NULL: no item is broken. Else an item that does not fit a line is broken before " > ",
	 * then between words, and its further lines begin with this. The first item is broken where
	 * it does not fit behind the start; a blank stands between them. */
	const char *hang;
	unsigned column;
	bool some;
};

/* Prints `start`, which the items follow; `start` may hold no escape sequences. */
void flow_start(struct flow *f, FILE *out, unsigned width, const char *start, const char *separator,
		const char *lead);
__attribute__((format(printf, 2, 3))) void flow_add(struct flow *f, const char *fmt, ...);
void flow_words(struct flow *f, const char *text); /* as items, a few in parentheses as one */
/* A command of a shell, which reads the same where it is broken. It stays on one line where a line
 * can hold it behind the lead. Else it begins a line, is not broken in quotes, and ends each line
 * that another one follows with a backslash. */
void flow_command(struct flow *f, const char *command);
/* Words with commands among them, which are broken so: what phrase.h takes for commands, or what
 * stands in backquotes. */
void flow_advice(struct flow *f, const char *text);
void flow_marked(struct flow *f, const char *text);
void flow_end(struct flow *f); /* ends the line */

#endif
