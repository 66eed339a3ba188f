/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of a session: each answer is kept in the view, and reported to the tap. For session.c
 * alone. */
#ifndef CULPRIT_SESSION_NAMES_H
#define CULPRIT_SESSION_NAMES_H

#include "model/session.h"

struct session_names {
	struct view *view;
	const struct names *asked; /* NULL: there are none */
	const struct tap *tap;     /* NULL: nobody hears */
	struct names names;        /* their ctx is this */
};

void session_names_init(struct session_names *s, const struct session_options *o);

/* Asks for the command lines and the calls of all rows that have some. names NULL: nobody knows
 * them. */
void session_names_finish(struct view *v, const struct names *names);

static inline void session_tell(const struct tap *tap, const struct event *e)
{
	if (tap)
		tap->event(tap->ctx, e);
}

#endif
