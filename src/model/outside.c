/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/outside.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/hash.h"

#define RECENT 256 /* gaps of a CPU that another CPU's may coincide with */
/* Gaps of a CPU that wait for the steal clock: the recent ones, and the longest of the older. */
#define KEPT    512
#define LONG_NS 5000 /* shorter ones coincide by chance: there are thousands a second */
/* Two CPUs that one thing stopped stop and go on together, up to this and a twentieth. */
#define ALIKE_NS 1000
#define STEP_NS  10000000       /* step of the steal clock in /proc/stat */
#define OLD_NS   30000000000ULL /* the steal clock says nothing of older gaps */

#define NONE UINT32_MAX

/* A gap as others may coincide with it. While it is recent it is in the chain of its length and the
 * time that it began. */
struct mark {
	uint64_t start, end;
	uint32_t cpu;        /* index */
	uint32_t others;     /* target CPUs that were away at the same time */
	uint32_t holders;    /* number of `kept` and `recent` that have it; 0: it is free */
	uint32_t next, prev; /* in the chain, or the next free one; NONE: no more */
};

struct gap {
	uint64_t start, end, ns;
	uint64_t number; /* number of the gap on this CPU */
	uint32_t mark;   /* NONE: it overlaps an earlier one of its CPU, or there is no memory */
};

struct waiting {
	struct gap kept[KEPT];
	uint32_t nkept;
	uint32_t recent[RECENT]; /* ring of marks, NONE among them */
	uint64_t nrecent;
	uint64_t newest; /* end of the last that ended */
	uint64_t steal_ns;
	bool steal_known;
};

struct outside {
	struct view *view;
	enum own_word otherwise;
	uint32_t ncpus;       /* the view may be cut before this is freed */
	struct waiting **cpu; /* NULL: no long gap yet, and no steal clock */
	struct mark *mark;
	uint32_t *chain; /* first mark of each */
	unsigned bits;   /* room for 2^bits marks, and as many chains; 0: none */
	uint32_t free;   /* the first free mark, or NONE */
	struct coincidences coincidences;
};

struct outside *outside_new(struct view *view, enum own_word otherwise)
{
	struct outside *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->view = view;
	o->otherwise = otherwise;
	o->ncpus = view->ncpus;
	o->free = NONE;
	o->cpu = calloc(view->ncpus, sizeof(*o->cpu));
	if (o->cpu)
		return o;
	free(o);
	return NULL;
}

void outside_free(struct outside *o)
{
	if (!o)
		return;
	for (uint32_t i = 0; i < o->ncpus; i++)
		free(o->cpu[i]);
	free(o->cpu);
	free(o->mark);
	free(o->chain);
	free(o);
}

/* Gaps of a CPU that wait; NULL: no memory. */
static struct waiting *of_cpu(struct outside *o, uint32_t index)
{
	if (!o->cpu[index])
		o->cpu[index] = calloc(1, sizeof(*o->cpu[index]));
	return o->cpu[index];
}

/* ---- marks ---- */

static unsigned octave(uint64_t ns)
{
	return 63 - (unsigned)__builtin_clzll(ns | 1);
}

/* The chain of gaps of this octave of lengths that begin in a span as long as the least of them: a
 * CPU has two there at most, as they hardly overlap. */
static uint32_t *chain_of(const struct outside *o, unsigned length, uint64_t span)
{
	return &o->chain[hash_slot(span * 64 + length, 1u << o->bits)];
}

static uint32_t *chain_at(const struct outside *o, const struct mark *s)
{
	unsigned length = octave(s->end - s->start);

	return chain_of(o, length, s->start >> length);
}

static void link_mark(struct outside *o, uint32_t i)
{
	struct mark *s = &o->mark[i];
	uint32_t *chain = chain_at(o, s);

	s->next = *chain;
	s->prev = NONE;
	if (s->next != NONE)
		o->mark[s->next].prev = i;
	*chain = i;
}

static void unlink_mark(struct outside *o, uint32_t i)
{
	struct mark *s = &o->mark[i];

	if (s->next != NONE)
		o->mark[s->next].prev = s->prev;
	*(s->prev != NONE ? &o->mark[s->prev].next : chain_at(o, s)) = s->next;
}

static void free_mark(struct outside *o, uint32_t i)
{
	o->mark[i].next = o->free;
	o->free = i;
}

static void drop_mark(struct outside *o, uint32_t i)
{
	if (i != NONE && !--o->mark[i].holders)
		free_mark(o, i);
}

/* Doubles the room when no mark is free. False: no memory. */
static bool make_room(struct outside *o)
{
	unsigned bits = o->bits ? o->bits + 1 : 6;
	uint32_t room = o->bits ? 1u << o->bits : 0, *was = o->chain, *chain;
	struct mark *mark;

	if (bits > 31)
		return false;
	mark = realloc(o->mark, sizeof(*mark) << bits);
	if (!mark)
		return false;
	o->mark = mark;
	chain = malloc(sizeof(*chain) << bits);
	if (!chain)
		return false;
	o->chain = chain;
	o->bits = bits;
	for (uint32_t i = 0; i < 1u << bits; i++)
		chain[i] = NONE;
	for (uint32_t i = 0; i < room; i++)
		for (uint32_t k = was[i], next; k != NONE; k = next) {
			next = mark[k].next;
			link_mark(o, k);
		}
	free(was);
	for (uint32_t i = room; i < 1u << bits; i++)
		free_mark(o, i);
	return true;
}

/* A new one, held by `kept` and `recent`; NONE: no memory. */
static uint32_t new_mark(struct outside *o, uint32_t index, const struct gap *g)
{
	uint32_t i;

	if (o->free == NONE && !make_room(o))
		return NONE;
	i = o->free;
	o->free = o->mark[i].next;
	o->mark[i] = (struct mark){.start = g->start, .end = g->end, .cpu = index, .holders = 2};
	return i;
}

/* ---- coincidence ---- */

/* Some of many CPUs are always away at once by chance. */
static bool is_simultaneous(const struct outside *o, uint32_t others)
{
	return others >= (o->view->ncpus / 4 > 1 ? o->view->ncpus / 4 : 1);
}

/* Gives a gap its row, and its mark away. */
static void decide(struct outside *o, uint32_t index, const struct gap *g, enum own_word verdict)
{
	uint32_t others = g->mark != NONE ? o->mark[g->mark].others : 0;

	summary_outside(o->view, index, g->start, g->ns,
			is_simultaneous(o, others) ? WORD_SIMULTANEOUS : verdict);
	drop_mark(o, g->mark);
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static uint64_t tolerance_of(const struct mark *g)
{
	return ALIKE_NS + (g->end - g->start) / 20;
}

/* True when both CPUs stopped and went on together, judged by the shorter gap. */
static bool coincide(const struct mark *a, const struct mark *b)
{
	uint64_t tolerance = tolerance_of(a->end - a->start < b->end - b->start ? a : b);

	return apart(a->start, b->start) <= tolerance && apart(a->end, b->end) <= tolerance;
}

/* Notes the time of this gap, or that one more CPU stopped then. */
static void note_coincidence(struct coincidences *all, const struct mark *g)
{
	uint64_t oldest = all->n > COINCIDENCES ? all->n - COINCIDENCES : 0;

	for (uint64_t i = all->n; i > oldest; i--) {
		struct coincidence *x = &all->ring[(i - 1) % COINCIDENCES];
		const struct mark same = {.start = x->start_ns, .end = x->end_ns};

		if (!coincide(g, &same))
			continue;
		if (x->cpus < g->others + 1)
			x->cpus = g->others + 1;
		return;
	}
	all->ring[all->n++ % COINCIDENCES] = (struct coincidence){g->start, g->end, g->others + 1};
}

/* Gaps are much longer than the difference allowed, so only one gap of each other CPU can coincide.
 * It begins in the same span or the next, and its length may be of the next octave. */
static void find_simultaneous(struct outside *o, struct mark *g)
{
	uint64_t tolerance = tolerance_of(g), ns = g->end - g->start;
	unsigned length = octave(ns > 2 * tolerance ? ns - 2 * tolerance : 1);
	uint64_t from = g->start > tolerance ? g->start - tolerance : 0;

	for (; length <= octave(ns + 2 * tolerance); length++)
		for (uint64_t span = from >> length; span <= (g->start + tolerance) >> length;
		     span++)
			for (uint32_t i = *chain_of(o, length, span); i != NONE;
			     i = o->mark[i].next) {
				struct mark *other = &o->mark[i];

				/* A chain may have others, too, which are met in their own. */
				if (other->cpu == g->cpu || other->start >> length != span ||
				    octave(other->end - other->start) != length ||
				    !coincide(g, other))
					continue;
				g->others++;
				other->others++;
			}
	if (is_simultaneous(o, g->others))
		note_coincidence(&o->coincidences, g);
}

/* Others can coincide with this one from here on, and with this CPU's oldest no more. */
static void make_recent(struct outside *o, struct waiting *w, uint32_t mark)
{
	uint32_t *place = &w->recent[w->nrecent % RECENT];

	if (w->nrecent >= RECENT && *place != NONE) {
		unlink_mark(o, *place);
		drop_mark(o, *place);
	}
	*place = mark;
	if (mark != NONE)
		link_mark(o, mark);
	w->nrecent++;
}

static bool is_recent(const struct waiting *w, uint32_t i)
{
	return w->kept[i].number + RECENT >= w->nrecent;
}

/* The shortest gap that no other CPU's can coincide with any more; as KEPT is more than RECENT, a
 * full table has some. */
static uint32_t shortest(const struct waiting *w)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < w->nkept; i++)
		if (!is_recent(w, i) && (is_recent(w, best) || w->kept[i].ns < w->kept[best].ns))
			best = i;
	return best;
}

void outside_add(struct outside *o, uint32_t index, uint64_t start_ns, uint64_t end_ns,
		 uint64_t outside_ns)
{
	struct gap g = {.start = start_ns, .end = end_ns, .ns = outside_ns, .mark = NONE};
	/* A hiccup that is mostly something else is no evidence of what stopped several CPUs. */
	bool tells = outside_ns >= LONG_NS && outside_ns * 2 >= end_ns - start_ns;
	struct waiting *w = tells ? of_cpu(o, index) : NULL;
	uint32_t place;

	if (!w) {
		decide(o, index, &g, o->otherwise);
		return;
	}
	g.number = w->nrecent;
	/* A CPU is stopped once at a time: where it says more, one of them counts. */
	if (start_ns + ALIKE_NS >= w->newest)
		g.mark = new_mark(o, index, &g);
	w->newest = end_ns > w->newest ? end_ns : w->newest;
	if (g.mark != NONE)
		find_simultaneous(o, &o->mark[g.mark]);
	make_recent(o, w, g.mark);
	if (w->nkept < KEPT) {
		place = w->nkept++;
	} else {
		place = shortest(w);
		decide(o, index, &w->kept[place], o->otherwise);
	}
	w->kept[place] = g;
}

static int by_length(const void *a, const void *b)
{
	const struct gap *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->start < y->start ? -1 : x->start > y->start; /* the same in every libc */
}

void outside_steal(struct outside *o, uint32_t index, uint64_t steal_ns)
{
	struct waiting *w = of_cpu(o, index);
	uint64_t stolen;

	if (!w)
		return;
	stolen = w->steal_known && steal_ns > w->steal_ns ? steal_ns - w->steal_ns : 0;
	w->steal_ns = steal_ns;
	w->steal_known = true;
	if (!stolen)
		return;
	qsort(w->kept, w->nkept, sizeof(w->kept[0]), by_length);
	for (uint32_t i = 0; i < w->nkept; i++) {
		const struct gap *g = &w->kept[i];
		bool old = g->end + OLD_NS < w->newest;
		bool fits = g->ns <=
			    stolen + STEP_NS; /* the step may have begun before the last reading */

		decide(o, index, g, stolen && !old && fits ? WORD_STEAL : o->otherwise);
		if (stolen && !old && fits)
			stolen -= g->ns < stolen ? g->ns : stolen;
	}
	w->nkept = 0;
}

const struct coincidences *outside_coincidences(const struct outside *o)
{
	return &o->coincidences;
}

void outside_finish(struct outside *o)
{
	for (uint32_t i = 0; i < o->view->ncpus; i++) {
		struct waiting *w = o->cpu[i];

		for (uint32_t k = 0; w && k < w->nkept; k++)
			decide(o, i, &w->kept[k], o->otherwise);
		if (w)
			w->nkept = 0;
	}
}
