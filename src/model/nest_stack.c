/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/nest_state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { NOTE_CLASSES = 2 * LEVELS };

static unsigned note_class(const struct record *m)
{
	bool asks_only =
		m->kind == RECORD_MARK && (m->mark == MARK_WAKER || m->mark == MARK_RESCHEDULE);

	return 2 * m->level + !asks_only;
}

static_assert(STACK_FIRST / 2 - STACK_FIRST / 8 > NOTE_CLASSES + 1, "folding makes room");

static void merge(const struct nest *n, struct ended *f, const struct ended *e)
{
	uint64_t gap = e->start - f->end, lost = lost_within(n, LEVEL_THREAD, f->end, e->start);
	uint64_t bound = bound_at(n, f->last_thread) + bound_at(n, e->thread);

	f->gaps += e->gaps + gap;
	f->lost += e->lost + lost;
	f->edge += e->edge + (gap - lost < bound ? gap - lost : bound);
	f->end = e->end;
	f->intervals += e->intervals;
	f->last_thread = e->last_thread;
}

/* Bounds the stack: merges its older half, but for the first entries of all, into one entry that
 * remembers the gaps inside. An interval that encloses them gets them, otherwise they are edge and
 * outside as they would have been. Exact except for an interval that begins inside, see
 * nest_below(): the one that outlasts so many others begins near the hiccup's begin. The newest
 * notes of each level stay, because the interval that they are in has not ended; a note among the
 * merged entries moves behind them. */
static void fold(struct nest *n)
{
	uint32_t half = n->depth / 2, newest[NOTE_CLASSES] = {0}, kept = 0, behind = 0;
	uint32_t at = half / 4; /* the least half has room for all notes behind that */
	struct ended f = {.note = true}, note[NOTE_CLASSES];

	for (uint32_t i = at; i < half; i++) {
		const struct ended *e = &n->stack[i];

		if (e->note)
			newest[note_class(&e->record)] = i + 1;
		else if (f.note)
			f = *e;
		else
			merge(n, &f, e);
	}
	for (uint32_t i = at; i < half; i++) /* in order of time */
		if (n->stack[i].note && newest[note_class(&n->stack[i].record)] == i + 1)
			note[kept++] = n->stack[i];
	while (behind < kept && (f.note || note[behind].start <= f.start))
		n->stack[at++] = note[behind++];
	if (!f.note)
		n->stack[at++] = f;
	for (; behind < kept; behind++) {
		if (note[behind].start < f.end)
			note[behind].start = note[behind].end = f.end;
		n->stack[at++] = note[behind];
	}
	memmove(&n->stack[at], &n->stack[half], (n->depth - half) * sizeof(*n->stack));
	n->depth -= half - at;
	n->folded += half - at;
}

static bool grow(struct nest *n)
{
	struct ended *more =
		n->room < STACK_SLOTS ? reallocarray(n->stack, 2 * n->room, sizeof(*more)) : NULL;

	if (!more)
		return false;
	n->stack = more;
	n->room *= 2;
	return true;
}

struct ended *nest_push(struct nest *n, uint64_t start, uint64_t end)
{
	struct ended *e;

	if (n->depth == n->room && !grow(n))
		fold(n);
	e = &n->stack[n->depth++];
	e->start = start;
	e->end = end;
	e->gaps = e->edge = e->lost = 0;
	e->intervals = 0;
	e->thread = e->last_thread = e->note = e->doubt = false;
	return e;
}

void nest_push_note(struct nest *n, const struct record *r, uint64_t at)
{
	struct ended *e = nest_push(n, at, at);

	e->note = true;
	e->doubt = n->doubt[r->level];
	n->doubt[r->level] = false;
	e->record = *r;
}

uint64_t nest_below(struct ended *e, uint64_t *start, uint64_t *lost)
{
	uint64_t gaps;

	*lost = 0;
	if (e->end <= *start)
		return 0;
	gaps = e->end - *start < e->gaps ? e->end - *start : e->gaps;
	*lost = gaps < e->lost ? gaps : e->lost;
	e->gaps -= gaps;
	e->lost -= *lost;
	e->edge = e->edge < e->gaps - e->lost ? e->edge : e->gaps - e->lost;
	*start = e->end;
	return gaps;
}

void nest_drop(struct nest *n)
{
	n->open = false;
	n->depth = 0;
	for (unsigned level = 0; level < LEVELS; level++)
		nest_doubt(n, level, false);
}

static void split_gap(struct nest *n, uint64_t from, uint64_t to, uint64_t bound)
{
	uint64_t lost = lost_within(n, LEVEL_THREAD, from, to), gap = to - from - lost;
	uint64_t edge = gap < bound ? gap : bound;

	n->account.edge_ns += edge;
	n->account.lost_ns += lost;
	n->account.outside_ns += gap - edge;
}

void nest_account_gaps(struct nest *n, uint64_t end_ns)
{
	struct account *a = &n->account;
	const struct ended *last = NULL;

	for (uint32_t i = 0; i < n->depth; i++) {
		const struct ended *e = &n->stack[i];
		uint64_t gap, bound;

		if (e->note)
			continue;
		gap = e->start - (last ? last->end : a->start_ns);
		bound = bound_at(n, e->thread);
		if (last)
			bound += bound_at(n, last->last_thread);
		else
			a->pre_ns = gap, a->first_thread = e->thread;
		split_gap(n, last ? last->end : a->start_ns, e->start, bound);
		a->edge_ns += e->edge;
		a->lost_ns += e->lost;
		a->outside_ns += e->gaps - e->edge - e->lost;
		a->intervals += e->intervals;
		last = e;
	}
	if (!last) {
		split_gap(n, a->start_ns, end_ns, 0);
		return;
	}
	a->post_ns = end_ns - last->end;
	a->last_thread = last->last_thread;
	split_gap(n, last->end, end_ns, bound_at(n, last->last_thread));
}
