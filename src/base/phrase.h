/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Advice in parts: prose, and what is to be typed, for formats that set them in different fonts.
 * What is to be typed begins where a sentence begins (at the text's begin, or behind a colon, a
 * comma, a semicolon, a bracket or "or") with a command that the cause book or the audit uses, or
 * is a boot parameter, a setting or a path. A part is a guess about looks alone: together the parts
 * are always the whole text. */
#ifndef CULPRIT_PHRASE_H
#define CULPRIT_PHRASE_H

#include <stdbool.h>
#include <stddef.h>

struct phrase {
	const char *text; /* len bytes of the advice, not ended by a NUL */
	size_t len;
	bool code;
	bool command; /* for a shell; else a parameter, a setting or a path */
};

/* Goes on from one part of an advice, a text of any bytes, to the next; the first one follows a
 * part of zeros. False: there is none. */
bool phrase_next(const char *advice, struct phrase *part);

/* The place in a sentence from the machine and of ours, "...: taskset -pc 0 812", where the command
 * begins with which it ends; its length: it ends with none. Of several the last, and none with a
 * colon and a blank in it: behind a name there is one, or a comma, so that a name cannot pose as
 * the command of a sentence that has none. None, too, where what stands before a semicolon may be
 * its first half, or a name that poses as that: half a command is not what to do. */
size_t phrase_command(const char *sentence);

#endif
