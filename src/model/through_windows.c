/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's windows on their way to the guest's gaps, with all that a report tells of them. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "model/through_state.h"

#define WAITING_MOST 524288 /* pieces of these windows */
#define WINDOW_SPANS 64     /* the first ones of a window */
#define AROUND       "entry and exit of its kernel"

static uint32_t slot_of(const struct origin *o)
{
	uint64_t h = hash_of_strangers() ^ o->kind ^ (uint64_t)o->id << 8 ^
		     (uint64_t)o->kernel_thread << 7;

	return hash_slot(hash_text(hash_byte(hash_text(h, o->name), 0xff), o->function), ORIGINS);
}

static bool same_function(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_origin(const struct origin *a, const struct origin *b)
{
	return a->rest == b->rest && a->kind == b->kind && a->id == b->id &&
	       a->kernel_thread == b->kernel_thread && !strcmp(a->name, b->name) &&
	       same_function(a->function, b->function);
}

/* The place of the origin. Where there are too many, the others are one. */
static uint32_t note_origin(struct through *t, const struct origin *o)
{
	uint32_t i = slot_of(o);
	static const struct origin rest = {.rest = true};

	while (t->slot[i] && !same_origin(&t->origin[t->slot[i] - 1], o))
		i = (i + 1) % ORIGINS;
	if (t->slot[i])
		return t->slot[i] - 1;
	if (t->norigins >= ORIGINS / 2 - 1 && !o->rest)
		return note_origin(t, &rest);
	t->origin[t->norigins] = *o;
	t->slot[i] = ++t->norigins;
	return t->norigins - 1;
}

static uint32_t origin_of(struct through *t, const struct source *s)
{
	struct origin o = {.kind = s->kind,
			   .id = s->id,
			   .kernel_thread = s->kernel_thread,
			   .function = s->function};

	memcpy(o.name, s->name, sizeof(o.name));
	return note_origin(t, s->rest ? &(struct origin){.rest = true} : &o);
}

static struct host_window *copy_window(struct through *t, uint32_t index, const struct account *a)
{
	const struct sources *rows = &t->host_view->cpu[index].sources;
	uint32_t nspans = a->nspans < WINDOW_SPANS ? a->nspans : WINDOW_SPANS;
	struct host_window *w = calloc(1, sizeof(*w) + (a->npieces + 2) * sizeof(w->piece[0]) +
						  nspans * sizeof(w->span[0]));
	struct origin around = {.kind = SOURCE_HOST, .name = AROUND};
	struct origin lost = {.kind = SOURCE_LOST, .name = NOT_RECORDED};

	if (!w)
		return NULL;
	w->start_ns = a->start_ns;
	w->end_ns = a->start_ns + a->duration_ns;
	w->cpu = a->spot.cpu == SPOT_UNKNOWN ? 0 : a->spot.cpu + 1;
	for (uint32_t i = 0; i < a->npieces; i++)
		w->piece[w->npieces++] =
			(struct window_piece){origin_of(t, rows->row[a->pieces[i].source]),
					      a->pieces[i].net_ns, a->pieces[i].asker};
	if (a->edge_ns)
		w->piece[w->npieces++] =
			(struct window_piece){note_origin(t, &around), a->edge_ns, {0}};
	if (a->lost_ns)
		w->piece[w->npieces++] =
			(struct window_piece){note_origin(t, &lost), a->lost_ns, {0}};
	w->left = a->nspans - nspans + a->spans_left;
	w->span = (struct span *)&w->piece[a->npieces + 2];
	for (; w->nspans < nspans; w->nspans++) {
		struct span *x = &w->span[w->nspans];

		*x = a->spans[w->nspans];
		x->source = origin_of(t, rows->row[x->source]);
	}
	return w;
}

static void drop_oldest(struct through *t, struct windows *w)
{
	struct host_window *x = w->window[w->first++ % t->most];

	if (x->end_ns > w->dropped_ns)
		w->dropped_ns = x->end_ns;
	t->npieces -= x->npieces + x->nspans;
	free(x);
}

/* True when there is room for one more window with so many pieces. */
static bool make_room(struct through *t, struct windows *w, uint32_t pieces)
{
	if (!w->window && !(w->window = calloc(t->most, sizeof(struct host_window *))))
		return false;
	while (w->first < w->next &&
	       (w->next - w->first == t->most || t->npieces + pieces > WAITING_MOST))
		drop_oldest(t, w);
	return t->npieces + pieces <= WAITING_MOST;
}

/* False for one that begins or ends before the newest of its thread, which no thread can do. */
static bool is_next(const struct through *t, const struct windows *w, const struct account *a)
{
	const struct host_window *newest;

	if (w->first == w->next)
		return true;
	newest = w->window[(w->next - 1) % t->most];
	return a->start_ns >= newest->start_ns && a->start_ns + a->duration_ns >= newest->end_ns;
}

void through_window(struct through *t, uint32_t index, const struct account *a)
{
	struct windows *w = index < t->nwindows ? &t->windows[index] : NULL;
	uint64_t end = a->start_ns + a->duration_ns;
	struct host_window *x;

	if (end > t->newest_ns)
		t->newest_ns = end;
	if (!w || !w->wanted || !is_next(t, w, a))
		return;
	x = make_room(t, w, a->npieces + 2) ? copy_window(t, index, a) : NULL;
	if (x) {
		w->window[w->next++ % t->most] = x;
		t->npieces += x->npieces + x->nspans;
	} else if (end > w->dropped_ns) {
		w->dropped_ns = end;
	}
}
