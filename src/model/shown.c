/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/shown.h"

#include <stddef.h>

#include "base/glob.h"

bool shown_some(const struct shown *s)
{
	return s->kinds || s->source;
}

bool shown_is(const struct shown *s, const struct source *source)
{
	if (s->kinds && !(s->kinds & 1u << source->kind))
		return false;
	return !s->source || glob_fits(s->source, source->name, 0) ||
	       (source->function && glob_fits(s->source, source->function, 0));
}

uint32_t shown_rank(const struct shown *s, const struct sources *t, uint32_t *order)
{
	uint32_t all = sources_rank(t, order), n = 0;

	for (uint32_t i = 0; i < all; i++)
		if (shown_is(s, t->row[order[i]]))
			order[n++] = order[i];
	return n;
}

uint32_t shown_rows(const struct shown *s, uint32_t n, uint32_t most)
{
	if (s->top)
		most = s->top;
	return n < most ? n : most;
}
