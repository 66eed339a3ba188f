/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/outside.h"

#include <stdbool.h>
#include <stdlib.h>

#define RECENT 256 /* gaps of a CPU that another CPU's may coincide with */
/* Gaps of a CPU that wait for the steal clock: the recent ones, and the longest of the older. */
#define KEPT    512
#define LONG_NS 5000 /* shorter ones coincide by chance: there are thousands a second */
/* Two CPUs that one thing stopped stop and go on together, up to this and a twentieth. */
#define ALIKE_NS 1000
#define STEP_NS  10000000       /* step of the steal clock in /proc/stat */
#define OLD_NS   30000000000ULL /* the steal clock says nothing of older gaps */

struct gap {
	uint64_t start, end, ns;
	uint64_t number; /* number of the gap on this CPU */
	uint32_t others; /* target CPUs that were away at the same time */
	uint32_t place;  /* place in `kept`, while the number there is the same */
};

struct waiting {
	struct gap kept[KEPT];
	uint32_t nkept;
	struct gap recent[RECENT]; /* ring */
	uint64_t nrecent;
	uint64_t newest;
	uint64_t steal_ns;
	bool steal_known;
};

struct outside {
	struct view *view;
	enum own_word otherwise;
	uint32_t ncpus;       /* the view may be cut before this is freed */
	struct waiting **cpu; /* NULL: no long gap yet, and no steal clock */
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
	free(o);
}

/* Gaps of a CPU that wait; NULL: no memory. */
static struct waiting *of_cpu(struct outside *o, uint32_t index)
{
	if (!o->cpu[index])
		o->cpu[index] = calloc(1, sizeof(*o->cpu[index]));
	return o->cpu[index];
}

/* Some of many CPUs are always away at once by chance. */
static bool is_simultaneous(const struct outside *o, const struct gap *g)
{
	return g->others >= (o->view->ncpus / 4 > 1 ? o->view->ncpus / 4 : 1);
}

static void decide(struct outside *o, uint32_t index, const struct gap *g, enum own_word verdict)
{
	summary_outside(o->view, index, g->start, g->ns,
			is_simultaneous(o, g) ? WORD_SIMULTANEOUS : verdict);
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static uint64_t tolerance_of(const struct gap *g)
{
	return ALIKE_NS + (g->end - g->start) / 20;
}

/* True when both CPUs stopped and went on together, judged by the shorter gap. */
static bool coincide(const struct gap *a, const struct gap *b)
{
	uint64_t tolerance = tolerance_of(a->end - a->start < b->end - b->start ? a : b);

	return apart(a->start, b->start) <= tolerance && apart(a->end, b->end) <= tolerance;
}

/* A CPU's newest gap that had begun by then; NULL: no recent one. A CPU's gaps follow each
 * other. */
static const struct gap *newest_by(const struct waiting *w, uint64_t ns)
{
	uint64_t low = w->nrecent > RECENT ? w->nrecent - RECENT : 0, first = low,
		 high = w->nrecent;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (w->recent[middle % RECENT].start <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low > first ? &w->recent[(low - 1) % RECENT] : NULL;
}

/* Notes the time of this gap, or that one more CPU stopped then. */
static void note_coincidence(struct coincidences *all, const struct gap *g)
{
	uint64_t oldest = all->n > COINCIDENCES ? all->n - COINCIDENCES : 0;

	for (uint64_t i = all->n; i > oldest; i--) {
		struct coincidence *x = &all->ring[(i - 1) % COINCIDENCES];
		const struct gap same = {.start = x->start_ns, .end = x->end_ns};

		if (!coincide(g, &same))
			continue;
		if (x->cpus < g->others + 1)
			x->cpus = g->others + 1;
		return;
	}
	all->ring[all->n++ % COINCIDENCES] = (struct coincidence){g->start, g->end, g->others + 1};
}

/* Gaps are much longer than the difference allowed, so only one gap of each other CPU can coincide.
 */
static void find_simultaneous(struct outside *o, uint32_t index, struct gap *g)
{
	for (uint32_t i = 0; i < o->view->ncpus; i++) {
		struct waiting *w = o->cpu[i];
		const struct gap *other;

		if (i == index || !w || w->newest + ALIKE_NS < g->start)
			continue;
		other = newest_by(w, g->start + tolerance_of(g));
		if (!other || !coincide(g, other))
			continue;
		g->others++;
		if (other->place < w->nkept && w->kept[other->place].number == other->number)
			w->kept[other->place].others++;
	}
	if (is_simultaneous(o, g))
		note_coincidence(&o->coincidences, g);
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
	struct gap g = {.start = start_ns, .end = end_ns, .ns = outside_ns};
	/* A hiccup that is mostly something else is no evidence of what stopped several CPUs. */
	bool tells = outside_ns >= LONG_NS && outside_ns * 2 >= end_ns - start_ns;
	struct waiting *w = tells ? of_cpu(o, index) : NULL;

	if (!w) {
		decide(o, index, &g, o->otherwise);
		return;
	}
	g.number = w->nrecent;
	w->newest = end_ns;
	find_simultaneous(o, index, &g);
	w->nrecent++;
	if (w->nkept < KEPT) {
		g.place = w->nkept++;
	} else {
		g.place = shortest(w);
		decide(o, index, &w->kept[g.place], o->otherwise);
	}
	w->kept[g.place] = w->recent[g.number % RECENT] = g;
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
