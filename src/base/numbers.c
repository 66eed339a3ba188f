/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/numbers.h"

#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

bool numbers_read(struct numbers *s, const char *text)
{
	char *end;

	*s = (struct numbers){0};
	if (!text)
		return true;
	s->at = calloc(strlen(text) / 2 + 1, sizeof(*s->at)); /* a digit and a blank each */
	if (!s->at)
		return false;
	for (;; text = end) {
		unsigned long number = strtoul(text, &end, 10);

		if (end == text)
			break;
		s->at[s->n++] = number;
	}
	if (s->n)
		qsort(s->at, s->n, sizeof(*s->at), by_value);
	return true;
}

bool numbers_have(const struct numbers *s, uint32_t number)
{
	return s->n && bsearch(&number, s->at, s->n, sizeof(*s->at), by_value);
}

void numbers_free(struct numbers *s)
{
	free(s->at);
	*s = (struct numbers){0};
}
