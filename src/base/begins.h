/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The begin of a text. */
#ifndef CULPRIT_BEGINS_H
#define CULPRIT_BEGINS_H

#include <stdbool.h>

/* Inline, because names of frames are compared with hundreds of words; most differ at once. */
static inline bool begins(const char *text, const char *with)
{
	while (*with && *with == *text)
		with++, text++;
	return !*with;
}

#endif
