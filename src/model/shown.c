#include "model/shown.h"

#include <stddef.h>

/* Goes back to the last star only: enough, for what a star has taken can only grow. */
static bool matches(const char *glob, const char *name)
{
	const char *star = NULL, *from = NULL;

	while (*name) {
		if (*glob == '*') {
			star = glob++;
			from = name;
		} else if (*glob == *name) {
			glob++;
			name++;
		} else if (star) {
			glob = star + 1;
			name = ++from;
		} else {
			return false;
		}
	}
	while (*glob == '*')
		glob++;
	return !*glob;
}

bool shown_some(const struct shown *s)
{
	return s->kinds || s->source;
}

bool shown_is(const struct shown *s, const struct source *source)
{
	if (s->kinds && !(s->kinds & 1u << source->kind))
		return false;
	return !s->source || matches(s->source, source->name) ||
	       (source->function && matches(s->source, source->function));
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
