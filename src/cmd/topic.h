/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Help topics: what `culprit help TOPIC` prints and `make install` installs as man pages of
 * sections 5 and 7. The texts are src/cmd/topics/NAME.txt; tools/topics.awk says how they are
 * written. */
#ifndef CULPRIT_TOPIC_H
#define CULPRIT_TOPIC_H

#include <stdio.h>

struct topic {
	const char *name; /* "reading" */
	int section;      /* section of the man page: 5 or 7 */
	const char *summary;
	const char *text; /* at most 80 columns wide */
};

/* All of them, by name; the last has no name. */
extern const struct topic topics[];

/* NULL: no topic of this name. */
const struct topic *topic_find(const char *name);

/* Prints the page as on a terminal; and as roff with man(7)'s macros, culprit-NAME(SECTION). */
void topic_print(const struct topic *topic, FILE *out);
void topic_manual(const struct topic *topic, FILE *out);

#endif
