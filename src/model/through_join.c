/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The join: what the host did in each gap of the guest's. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/follow.h"
#include "model/through_state.h"

#define WINDOWS_MOST 131072 /* windows of all threads together that wait for the guest's gaps */
#define WINDOWS_LANE 16384
#define AHEAD_NS     1000000000ULL /* lanes come so far out of order */
#define NEAR_LEAST   2000
#define NEAR_MOST    50000

void through_forget(struct through *t)
{
	for (uint32_t i = 0; i < t->nwindows; i++) {
		struct windows *w = &t->windows[i];

		for (; w->first < w->next; w->first++)
			free(w->window[w->first % t->most]);
		free(w->window);
	}
	free(t->windows);
	free(t->origin);
	free(t->slot);
	free(t->span);
	free(t->piece);
}

/* ---- a gap of the guest's ---- */

/* The time that the guest's own intervals had in [from, to] of the host's time: they were running,
 * or the host stopped them inside, which is not outside the guest's kernel. */
static uint64_t inside(const struct gap *g, uint64_t from, uint64_t to)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < g->a->nspans; i++) {
		const struct span *s = &g->a->spans[i];

		if (!s->depth)
			ns += through_overlap(g->from_ns + (s->start_ns - g->a->start_ns),
					      g->from_ns + (s->end_ns - g->a->start_ns), from, to);
	}
	return ns;
}

/* Part of the gap that the window explains, ns. One that is mostly elsewhere is not of this gap:
 * the guest would have lost all of its time. */
static uint64_t share_of(const struct gap *g, const struct host_window *w)
{
	uint64_t from = g->from_ns > g->near_ns ? g->from_ns - g->near_ns : 0;
	uint64_t ns = through_overlap(from, g->to_ns + g->near_ns, w->start_ns, w->end_ns), own;

	if (2 * ns < w->end_ns - w->start_ns)
		return 0;
	own = inside(g, w->start_ns, w->end_ns);
	return ns > own ? ns - own : 0;
}

/* The guest's piece of a row; new ones stand behind its own. NULL: out of memory. */
static struct piece *piece_of(struct through *t, uint32_t row)
{
	struct account *a = &t->account;

	for (uint32_t i = 0; i < a->npieces; i++)
		if (t->piece[i].source == row)
			return &t->piece[i];
	if (a->npieces == t->pieces_room)
		return NULL;
	t->piece[a->npieces] = (struct piece){.source = row};
	return &t->piece[a->npieces++];
}

uint32_t through_row(struct through *t, uint32_t index, const struct origin *o)
{
	struct sources *rows = &t->view->cpu[index].sources;
	uint64_t trims = rows->trims;
	uint32_t row;

	if (o->rest)
		return sources_rest(rows, SOURCE_HOST);
	row = sources_find_key(rows,
			       &(struct source_key){.kind = SOURCE_HOST,
						    .host_kind = o->kind,
						    .id = o->id,
						    .name = o->name,
						    .function = view_text(t->view, o->function),
						    .kernel_thread = o->kernel_thread});
	if (rows->trims != trims) {
		t->account.npieces = pieces_follow(t->piece, t->account.npieces, rows->went);
		spans_follow((struct span *)t->account.spans, t->account.nspans, rows->went);
	}
	return row;
}

/* Tells where the source ran, as far as that is one place. */
static void set_place(const struct through *t, struct source *s, uint32_t cpu)
{
	bool here = !s->host_name || !strcmp(s->host_name, t->host_name);

	if (!s->net.count) {
		s->host_cpu = cpu;
		s->host_name = t->host_name;
		return;
	}
	if (!here)
		s->host_name = "";
	if (!here || s->host_cpu != cpu)
		s->host_cpu = SOURCE_CPUS;
}

/* Gives ns of the gap to what a window's piece tells. */
static void give(struct through *t, uint32_t index, const struct host_window *w,
		 const struct window_piece *p, uint64_t ns)
{
	struct source *s;
	struct piece *piece;
	uint32_t row;

	if (!ns)
		return;
	row = through_row(t, index, &t->origin[p->origin]);
	s = t->view->cpu[index].sources.row[row];
	piece = piece_of(t, row);
	if (!piece)
		return;
	s->hiccups += !piece->net_ns;
	set_place(t, s, w->cpu);
	source_add(s, ns, true);
	piece->net_ns += ns;
	piece->count++;
	if (p->asker.kind) {
		piece->asker = p->asker;
		piece->asker.host = true;
		piece->asker.function = view_text(t->view, p->asker.function);
		piece->asker.owner = view_users_text(t->view, p->asker.owner);
		piece->asker.command = view_users_text(t->view, p->asker.command);
		piece->asker.user = 0;    /* no more is its number */
		piece->asker.process = 0; /* the guest's names are not the host's */
		source_asker(s, &piece->asker);
	}
	t->account.host_ns += ns;
	t->account.outside_ns -= ns;
}

/* Divides `ns` of the gap as the part of the window that lies in it is divided; what the host did
 * not see stays outside. */
static void divide_window(struct through *t, uint32_t index, const struct host_window *w,
			  const struct gap *g, uint64_t ns)
{
	uint64_t from = g->from_ns > g->near_ns ? g->from_ns - g->near_ns : 0;
	uint64_t to = g->to_ns + g->near_ns;
	uint64_t length = through_overlap(from, to, w->start_ns, w->end_ns);

	for (uint32_t i = 0; i < w->npieces; i++) {
		uint64_t part = through_part(ns, through_piece_in(w, i, from, to), length);

		give(t, index, w, &w->piece[i],
		     part < t->account.outside_ns ? part : t->account.outside_ns);
	}
}

/* The first window of the thread that ends after ns. They come in order of their ends. */
static uint64_t first_after(const struct through *t, const struct windows *w, uint64_t ns)
{
	uint64_t low = w->first, high = w->next;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (w->window[middle % t->most]->end_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void divide_gap(struct through *t, uint32_t index, const struct windows *w,
		       const struct gap *g)
{
	uint64_t outside = t->account.outside_ns, all = 0;
	uint64_t from = g->from_ns > g->near_ns ? g->from_ns - g->near_ns : 0;
	uint64_t first = first_after(t, w, from), last = first;

	for (; last < w->next && w->window[last % t->most]->start_ns < g->to_ns + g->near_ns;
	     last++)
		all += share_of(g, w->window[last % t->most]);
	for (uint64_t i = first; i < last; i++) {
		const struct host_window *x = w->window[i % t->most];
		uint64_t ns = share_of(g, x);

		divide_window(t, index, x, g, all > outside ? through_part(outside, ns, all) : ns);
		if (ns)
			through_spans(t, index, g, x);
	}
}

/* True when the host's recording tells what its thread did in all of the gap. */
static bool find_gap(struct through *t, uint32_t index, struct gap *g)
{
	uint32_t lane = t->found.lane[index];
	uint64_t end = g->a->start_ns + g->a->duration_ns, near = t->found.clocks.residual_ns;

	if (lane >= t->nwindows ||
	    !align_host_time(&t->found.clocks, g->a->start_ns, &g->from_ns) ||
	    !align_host_time(&t->found.clocks, end, &g->to_ns) || g->to_ns < g->from_ns)
		return false;
	if (g->from_ns < t->from_ns || g->to_ns > t->to_ns)
		return false;
	near = near < NEAR_LEAST ? NEAR_LEAST : near > NEAR_MOST ? NEAR_MOST : near;
	/* A window that sticks out by half of itself at most then really overlaps the gap. */
	g->near_ns = near < g->to_ns - g->from_ns ? near : g->to_ns - g->from_ns;
	if (t->newest_ns < g->to_ns + AHEAD_NS)
		t->source.more(t->source.ctx, g->to_ns + AHEAD_NS);
	return g->from_ns > t->windows[lane].dropped_ns;
}

static bool has_holes(const struct through *t, uint32_t lane)
{
	return lane >= t->nholes || t->holes[lane];
}

static struct account *divide(void *through, uint32_t index, const struct account *a)
{
	struct through *t = through;
	struct gap g = {.a = a};
	uint32_t room = a->npieces + 256;

	t->account = *a;
	if (room > t->pieces_room) {
		struct piece *more = reallocarray(t->piece, room, sizeof(*more));

		if (!more)
			return &t->account;
		t->piece = more;
		t->pieces_room = room;
	}
	if (a->npieces)
		memcpy(t->piece, a->pieces, a->npieces * sizeof(*t->piece));
	t->account.pieces = t->piece;
	through_own_spans(t);
	if (index >= t->found.nlanes || !find_gap(t, index, &g)) {
		t->account.host_not_covered_ns = a->outside_ns;
		return &t->account;
	}
	divide_gap(t, index, &t->windows[t->found.lane[index]], &g);
	if (has_holes(t, t->found.lane[index]))
		t->account.host_not_covered_ns = t->account.outside_ns;
	else
		t->account.host_nothing_ns = t->account.outside_ns;
	return &t->account;
}

/* Marks the lanes whose windows the guest's gaps are divided by. Returns how many. */
static uint32_t want_windows(struct through *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; t->windows && i < t->found.nlanes; i++) {
		uint32_t lane = t->found.lane[i];

		if (lane >= t->nwindows || t->windows[lane].wanted)
			continue;
		t->windows[lane].wanted = true;
		n++;
	}
	return n;
}

int through_begin(struct through *t, struct view *guest, const struct view *host,
		  const struct through_source *source)
{
	t->view = guest;
	t->host_view = host;
	t->found.host = host;
	t->source = *source;
	t->host_name = source->several ? view_text(guest, host->host.hostname) : NULL;
	t->divider = (struct divider){t, divide};
	t->nwindows = host->ncpus;
	t->windows = calloc(t->nwindows, sizeof(*t->windows));
	t->most = WINDOWS_MOST / (want_windows(t) + 1);
	t->most = t->most < WINDOWS_LANE ? t->most : WINDOWS_LANE;
	t->origin = calloc(ORIGINS / 2, sizeof(*t->origin));
	t->slot = calloc(ORIGINS, sizeof(*t->slot));
	t->span = calloc(SPANS_MAX, sizeof(*t->span));
	return t->windows && t->origin && t->slot && t->span ? 0 : -ENOMEM;
}

const struct divider *through_divider(const struct through *t)
{
	return &t->divider;
}
