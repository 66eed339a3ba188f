/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names that a recording has already: events of names come again and again. */
#ifndef CULPRIT_SEEN_H
#define CULPRIT_SEEN_H

#include "model/session.h"

#define SEEN_SLOTS 65536 /* a power of two; when it is full, names are written again */

/* The numbers whose names are there. Keys are never 0; all zeros: none. */
struct names_seen {
	uint64_t key[SEEN_SLOTS];
};

/* True when the name of this number was asked for before, else notes it. */
bool seen_before(struct names_seen *s, enum event_type type, uint64_t number);

#endif
