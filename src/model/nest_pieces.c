/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/nest_state.h"

#include <stdlib.h>

#include "model/follow.h"

/* Makes the source's piece of this hiccup. Out of memory its time goes to the last piece. */
static void add_piece(struct nest *n, struct source *s, uint32_t source)
{
	struct account *a = &n->account;

	s->epoch = n->epoch;
	s->hiccups++;
	if (a->npieces == n->pieces_room) {
		struct piece *more =
			reallocarray(a->pieces, 2 * n->pieces_room, sizeof(*a->pieces));

		s->piece = a->npieces - 1;
		if (!more)
			return;
		a->pieces = more;
		n->pieces_room *= 2;
	}
	s->piece = a->npieces++;
	a->pieces[s->piece] = (struct piece){.source = source};
}

/* Adds a segment to its source. Returns who asked for it. */
static struct asker attribute(struct nest *n, uint32_t source, const struct segment *g, bool part)
{
	struct account *a = &n->account;
	struct source *s = n->sources->row[source];
	const struct asker *who;

	if (s->epoch != n->epoch)
		add_piece(n, s, source);
	a->pieces[s->piece].net_ns += g->net;
	a->pieces[s->piece].count += g->first && !part;
	if (g->unseen) {
		a->pieces[s->piece].unseen_ns += g->net;
		s->unseen.ns += g->net;
		s->unseen.count += g->first;
	}
	a->attributed_ns += g->net;
	if (!g->resumed)
		source_end_run(s);
	if (!part)
		source_add(s, g->net, g->first);
	else /* a piece of a run, which is counted at its end */
		s->net.sum += g->net;
	if (part && s->kind == SOURCE_SOFTIRQ)
		s->part_ns += g->net;
	if (!g->asker || !n->names)
		return (struct asker){};
	who = source_asked(s, g->asker, n->names);
	a->pieces[s->piece].asker = who ? *who : (struct asker){};
	return a->pieces[s->piece].asker;
}

/* Follows rows that moved while a source was looked up. */
static void follow(struct nest *n)
{
	struct account *a = &n->account;

	if (n->trims == n->sources->trims)
		return;
	n->trims = n->sources->trims;
	a->npieces = pieces_follow(a->pieces, a->npieces, n->sources->went);
	for (uint32_t i = 0; i < a->npieces; i++) {
		struct source *s = n->sources->row[a->pieces[i].source];

		s->epoch = n->epoch;
		s->piece = i;
	}
	if (n->spans)
		spans_follow(n->spans->row, n->spans->count, n->sources->went);
}

void nest_end_segment(struct nest *n, const struct record *r, const struct segment *s, uint64_t end,
		      bool part)
{
	uint32_t row = nest_source(n, r, s->function, s->word);
	struct asker asker;

	follow(n);
	n->own += s->net;
	n->account.whose_ns[nest_whose(r)] += s->net;
	n->account.let_in_ns += r->kind == RECORD_THREAD && r->flags & RECORD_LET_IN ? s->net : 0;
	asker = attribute(n, row, s, part);
	if (n->spans)
		spans_add(n->spans, &(struct span){s->start, end, .source = row, .asker = asker,
						   .unseen = s->unseen});
	if (s->flush)
		source_flushed(n->sources->row[row], s->flush->name);
}
