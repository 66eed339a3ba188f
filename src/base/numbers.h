/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A set of numbers that a text lists, for many questions: asking the text itself each time would
 * cost its length each time. */
#ifndef CULPRIT_NUMBERS_H
#define CULPRIT_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct numbers {
	uint32_t *at; /* ascending; owned */
	size_t n;
};

/* Numbers between blanks, up to the first word that begins with none. text: NULL is an empty one.
 * False: out of memory, and the set is empty. numbers_free() in either case. */
bool numbers_read(struct numbers *s, const char *text);
bool numbers_have(const struct numbers *s, uint32_t number);
void numbers_free(struct numbers *s);

#endif
