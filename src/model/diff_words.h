/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Part of diff_make: texts that differ between the files. */
#ifndef CULPRIT_DIFF_WORDS_H
#define CULPRIT_DIFF_WORDS_H

#include "model/diff.h"

/* Adds a fact to the diff when the values differ: one for each file, copied; NULL: none. 0 or
 * -ENOMEM.
 */
int diff_note(struct diff *d, const char *what, const char *const *value);

/* The same for lists, NULL or "": an empty one. Each name of a "name=value" word is a fact of its
 * own, "what name"; all words of one name together are its value. With a blank among the
 * separators, blanks in double quotes separate nothing. */
int diff_note_list(struct diff *d, const char *what, const char *const *text,
		   const char *separators);

#endif
