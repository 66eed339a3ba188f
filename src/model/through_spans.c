/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When the host's intervals ran: for windows that are longer than the guest's gap, and by the
 * guest's clock for pictures of both sides. */
#include <string.h>

#include "model/through_state.h"

uint64_t through_overlap(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	uint64_t from = a > c ? a : c, to = b < d ? b : d;

	return to > from ? to - from : 0;
}

uint64_t through_part(uint64_t ns, uint64_t part, uint64_t whole)
{
	return whole ? (unsigned __int128)ns * part / whole : 0;
}

/* Net time of a span in [from, to]: those inside it come right behind it. */
static uint64_t net_in(const struct host_window *w, uint32_t i, uint64_t from, uint64_t to)
{
	const struct span *s = &w->span[i];
	uint64_t ns = through_overlap(s->start_ns, s->end_ns, from, to), inside = 0;

	for (i++; i < w->nspans && w->span[i].depth > s->depth; i++)
		if (w->span[i].depth == s->depth + 1)
			inside += through_overlap(w->span[i].start_ns, w->span[i].end_ns, from, to);
	return ns > inside ? ns - inside : 0;
}

uint64_t through_piece_in(const struct host_window *w, uint32_t piece, uint64_t from, uint64_t to)
{
	const struct window_piece *p = &w->piece[piece];
	uint64_t here = 0, all = 0;

	if (from <= w->start_ns && to >= w->end_ns)
		return p->ns;
	for (uint32_t i = 0; i < w->nspans; i++) {
		if (w->span[i].source != p->origin)
			continue;
		here += net_in(w, i, from, to);
		all += net_in(w, i, w->start_ns, w->end_ns);
	}
	if (all == p->ns)
		return here;
	return through_part(p->ns, through_overlap(from, to, w->start_ns, w->end_ns),
			    w->end_ns - w->start_ns);
}

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
