/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When the host's intervals ran, by the guest's clock: for pictures of both sides. */
#include <string.h>

#include "model/through_state.h"

void through_own_spans(struct through *t)
{
	struct account *a = &t->account;

	if (a->nspans)
		memcpy(t->span, a->spans, a->nspans * sizeof(*t->span));
	a->spans = t->span;
}

/* The guest's time of a host's in the gap, cut to it. */
static uint64_t in_guest(const struct gap *g, uint64_t host_ns)
{
	uint64_t in = host_ns > g->from_ns ? host_ns - g->from_ns : 0;

	return g->a->start_ns + (in < g->a->duration_ns ? in : g->a->duration_ns);
}

void through_spans(struct through *t, uint32_t index, const struct gap *g,
		   const struct host_window *w)
{
	struct account *a = &t->account;

	for (uint32_t i = 0; i < w->nspans; i++) {
		const struct span *s = &w->span[i];
		uint64_t from = in_guest(g, s->start_ns), to = in_guest(g, s->end_ns);
		uint32_t row;

		if (to <= from)
			continue;
		if (a->nspans == SPANS_MAX) {
			a->spans_left += w->nspans - i + w->left;
			return;
		}
		/* may move the rows of those before it */
		row = through_row(t, index, &t->origin[s->source]);
		t->span[a->nspans++] = (struct span){
			.start_ns = from, .end_ns = to, .source = row, .depth = s->depth};
	}
	a->spans_left += w->left;
}
