/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/nest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/nest_state.h"

#define PIECES_FIRST 8

struct nest *nest_new(struct sources *sources, struct edge_bounds bounds, const struct names *names,
		      bool real_time)
{
	struct nest *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->sources = sources;
	n->bounds = bounds;
	n->names = names;
	n->trims = sources->trims;
	n->real_time = real_time;
	n->room = STACK_FIRST;
	n->pieces_room = PIECES_FIRST;
	n->stack = calloc(n->room, sizeof(*n->stack));
	n->account.pieces = calloc(n->pieces_room, sizeof(*n->account.pieces));
	if (n->stack && n->account.pieces)
		return n;
	nest_free(n);
	return NULL;
}

void nest_free(struct nest *n)
{
	if (!n)
		return;
	free(n->stack);
	free(n->account.pieces);
	free(n->spans);
	free(n);
}

void nest_tap(struct nest *n, struct intervals *intervals)
{
	n->intervals = intervals;
}

int nest_keep_spans(struct nest *n)
{
	if (!n->spans)
		n->spans = calloc(1, sizeof(*n->spans));
	return n->spans ? 0 : -ENOMEM;
}

void nest_holes(struct nest *n, const struct holes *holes)
{
	n->holes = holes;
}

bool nest_is_open(const struct nest *n)
{
	return n->open;
}

uint64_t nest_folded(const struct nest *n)
{
	return n->folded;
}

void nest_open(struct nest *n)
{
	if (n->open)
		return;
	n->open = true;
	n->in_thread = false;
	n->epoch++;
	n->depth = 0;
	n->account = (struct account){.pieces = n->account.pieces};
	if (n->spans)
		spans_clear(n->spans);
}

/* ---- an interval and its contents ---- */

static void forget_function(struct segment *s)
{
	s->function = NULL;
	s->word = WORD_NONE;
}

/* Takes a note of the interval's own level: a mark ends the segment and begins the next, others
 * only explain. The time before the first mark belongs to that mark: it is the way there. */
static void note(struct nest *n, const struct record *r, const struct ended *e, struct segment *s)
{
	const struct record *m = &e->record;
	const struct record *asker = m->flags & RECORD_ASKED ? m : NULL;

	if (m->kind == RECORD_TLB) {
		s->flush = m;
		if (!s->function && !s->word)
			s->word = word_of_tlb(m->id);
		return;
	}
	if (m->mark == MARK_WAKER || m->mark == MARK_RESCHEDULE) {
		s->asker = asker;
		return;
	}
	/* Work that a worker goes on with when it comes: its time is still that of throttling. */
	if (s->word == WORD_THROTTLED && !s->marked && e->start <= s->start)
		return;
	if (e->doubt)
		forget_function(s);
	if (s->marked || e->doubt || ((s->function || s->word) && r->kind == RECORD_THREAD)) {
		nest_end_segment(n, r, s, e->start, false);
		*s = (struct segment){.start = e->start, .unseen = s->unseen};
	}
	s->marked = true;
	s->word = WORD_NONE;
	s->function = nest_symbol(n, m->arg);
	if (asker)
		s->asker = asker;
}

static void tap(struct nest *n, const struct record *r, uint64_t net)
{
	struct interval interval;

	if (!n->intervals)
		return;
	interval = interval_of(r, net);
	intervals_push(n->intervals, &interval);
}

/* Adds the interval's own time between two things inside it, less the time of records of a higher
 * level that may be missing there. */
static void add_own(struct nest *n, struct segment *s, unsigned level, uint64_t from, uint64_t to,
		    uint64_t more)
{
	uint64_t lost = lost_within(n, level + 1, from, to);

	s->net += to - from - lost + more;
	n->account.lost_ns += lost;
}

static bool is_of_lower(const struct ended *e, unsigned level)
{
	return e->note && e->record.level < level;
}

/* True for a note of a higher level that stands where an interval ends: it tells of the next one
 * there, a softirq that goes on when this thread has left. */
static bool is_of_next(const struct ended *e, unsigned level, uint64_t end)
{
	return e->note && e->record.level > level && e->start >= end;
}

/* The first entry of the stack that lies inside an interval of this level. An instant of the same
 * age and a lower level belongs to an interval that encloses that one: it goes before it. */
static uint32_t first_inside(struct nest *n, unsigned level, uint64_t start)
{
	uint32_t first = n->depth;

	while (first && n->stack[first - 1].start >= start &&
	       (n->stack[first - 1].start == start || !is_of_lower(&n->stack[first - 1], level)))
		first--;
	for (uint32_t i = first; i < n->depth && n->stack[i].start == start; i++) {
		const struct ended e = n->stack[i];

		if (!is_of_lower(&e, level))
			continue;
		memmove(&n->stack[first + 1], &n->stack[first], (i - first) * sizeof(e));
		n->stack[first++] = e;
	}
	return first;
}

/* True for a softirq that goes on with its thread: it begins at the very time at which another
 * thread leaves, or one replaces the sampler. A new one begins later. */
static bool is_resumed(const struct nest *n, const struct record *r, uint32_t first)
{
	if (r->kind != RECORD_SOFTIRQ)
		return false;
	if (n->in_thread && n->thread.start_ns == r->start_ns)
		return true;
	while (first && n->stack[first - 1].note)
		first--;
	return first && n->stack[first - 1].last_thread && n->stack[first - 1].end == r->start_ns;
}

static void enclose(struct nest *n, const struct record *r, uint64_t start, uint64_t end)
{
	struct segment s = {.word = nest_first_word(n, r), .first = !(r->flags & RECORD_PART)};
	bool thread = r->kind == RECORD_THREAD;
	struct ended *ended, next = {};
	uint32_t first, last;
	uint64_t at, lost = 0;

	s.unseen = thread && r->flags & RECORD_UNSEEN;
	if (!s.word)
		s.function = nest_first_function(n, r);
	n->own = 0;
	if (n->depth && end < n->stack[n->depth - 1].end)
		end = n->stack[n->depth - 1].end;
	if (n->depth && is_of_next(&n->stack[n->depth - 1], r->level, end))
		next = n->stack[--n->depth];
	first = first_inside(n, r->level, start);
	s.resumed = is_resumed(n, r, first);
	last = n->depth;
	if (first)
		s.net = nest_below(&n->stack[first - 1], &start, &lost);
	s.net -= lost;
	n->account.lost_ns += lost;
	s.start = at = start;
	for (uint32_t i = first; i < last; i++) {
		const struct ended *e = &n->stack[i];

		add_own(n, &s, r->level, at, e->start, e->gaps - e->lost);
		n->account.lost_ns += e->lost;
		at = e->end;
		if (e->note && nest_tells_of(n, &e->record, r))
			note(n, r, e, &s);
	}
	add_own(n, &s, r->level, at, end, 0);
	if (n->doubt[r->level])
		forget_function(&s);
	n->doubt[r->level] = false;
	nest_end_segment(n, r, &s, end, r->flags & RECORD_PART);
	nest_keep_function(n, r, s.function, s.word);
	tap(n, r, n->own);
	n->depth = first;
	ended = nest_push(n, start, end);
	ended->intervals = 1;
	ended->thread = ended->last_thread = thread;
	if (next.note)
		*nest_push(n, next.start, next.end) = next;
}

/* Ends a thread whose exit was not traced: it had the CPU to the end of the hiccup. */
static void end_thread(struct nest *n, uint64_t end)
{
	if (!n->in_thread)
		return;
	n->in_thread = false;
	n->thread.flags |= RECORD_UNSEEN;
	if (end > n->thread.start_ns)
		enclose(n, &n->thread, n->thread.start_ns, end);
}

/* Ends a fault, which has no exit: it lasts until the next one or the end of the hiccup. */
static void end_fault(struct nest *n, uint64_t end)
{
	if (!n->in_fault)
		return;
	n->in_fault = false;
	enclose(n, &n->fault, n->fault.start_ns, end > n->fault.start_ns ? end : n->fault.start_ns);
}

void nest_take(struct nest *n, const struct record *r, uint64_t from, uint64_t to)
{
	uint64_t start = r->start_ns < from ? from : r->start_ns;
	uint64_t end = r->end_ns > to ? to : r->end_ns;

	if (start > end)
		start = end;
	switch ((enum record_kind)r->kind) {
	case RECORD_FAULT:
		if (end > start) { /* the end is known for a watched thread */
			enclose(n, r, start, end);
			break;
		}
		end_fault(n, start);
		n->in_fault = true;
		n->fault = *r;
		n->fault.start_ns = start;
		break;
	case RECORD_TLB:
	case RECORD_MARK:
		if (r->kind == RECORD_MARK && r->mark == MARK_THREAD) {
			n->in_thread = true;
			n->thread = *r;
			n->thread.kind = RECORD_THREAD;
			n->thread.flags &= RECORD_KTHREAD | RECORD_FOREIGN | RECORD_LET_IN;
			break;
		}
		/* Late: the interval around it is netted already. */
		if (n->depth && n->stack[n->depth - 1].end > start)
			break;
		nest_push_note(n, r, start);
		break;
	case RECORD_OSNOISE:
		n->account.theirs++;
		tap(n, r, 0);
		break;
	case RECORD_THREAD:
		n->in_thread = false;
		enclose(n, r, start, end);
		break;
	case RECORD_IRQ:
	case RECORD_VECTOR:
	case RECORD_SOFTIRQ:
	case RECORD_NMI:
	case RECORD_SYSCALL:
	case RECORD_THROTTLED:
	case RECORD_EXIT:
		enclose(n, r, start, end);
		break;
	case RECORD_TICK: /* taken by the join */
	case RECORD_WATCH:
	case RECORD_LOST:
		break;
	}
}

struct account *nest_close(struct nest *n, uint64_t start_ns, uint64_t end_ns, unsigned *stuck_out)
{
	struct account *a = &n->account;

	*stuck_out = 0;
	end_thread(n, end_ns);
	end_fault(n, end_ns);
	if (n->depth && n->stack[0].start < start_ns) {
		start_ns = n->stack[0].start;
		++*stuck_out;
	}
	if (n->depth && n->stack[n->depth - 1].end > end_ns) {
		end_ns = n->stack[n->depth - 1].end;
		++*stuck_out;
	}
	a->start_ns = start_ns;
	a->duration_ns = end_ns - start_ns;
	nest_account_gaps(n, end_ns);
	if (n->spans) {
		spans_finish(n->spans);
		a->spans = n->spans->row;
		a->nspans = n->spans->count;
		a->spans_left = n->spans->left;
	}
	n->open = false;
	return a;
}
