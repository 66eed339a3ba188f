#include "model/outside.h"

#include <stdbool.h>
#include <stdlib.h>

#define KEPT    256  /* gaps a CPU that wait for the steal clock */
#define RECENT  256  /* gaps a CPU that another's may coincide with */
#define LONG_NS 2000 /* shorter ones coincide by chance: thousands come in a second */

struct gap {
	uint64_t start, end, ns;
	bool simultaneous;
};

struct waiting {
	struct gap kept[KEPT];
	uint32_t nkept;
	struct gap recent[RECENT]; /* ring */
	uint64_t nrecent;
	uint64_t steal_ns;
	bool steal_known;
};

struct outside {
	struct summary *summary;
	const char *otherwise;
	struct waiting *cpu;
};

struct outside *outside_new(struct summary *summary, const char *otherwise)
{
	struct outside *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->summary = summary;
	o->otherwise = otherwise;
	o->cpu = calloc(summary->ncpus, sizeof(*o->cpu));
	if (o->cpu)
		return o;
	free(o);
	return NULL;
}

void outside_free(struct outside *o)
{
	if (!o)
		return;
	free(o->cpu);
	free(o);
}

static void decide(struct outside *o, uint32_t index, const struct gap *g, const char *verdict)
{
	summary_outside(o->summary, index, g->ns, g->simultaneous ? "simultaneous" : verdict);
}

/* Both gaps lie for the greater part in each other. */
static bool coincide(const struct gap *a, const struct gap *b)
{
	uint64_t start = a->start > b->start ? a->start : b->start;
	uint64_t end = a->end < b->end ? a->end : b->end;
	uint64_t longer = a->end - a->start > b->end - b->start ? a->end - a->start : b->end - b->start;

	return end > start && (end - start) * 2 > longer;
}

static void mark_kept(struct waiting *w, const struct gap *g)
{
	for (uint32_t i = 0; i < w->nkept; i++)
		if (w->kept[i].start == g->start)
			w->kept[i].simultaneous = true;
}

static void find_simultaneous(struct outside *o, uint32_t index, struct gap *g)
{
	for (uint32_t i = 0; i < o->summary->ncpus; i++) {
		struct waiting *w = &o->cpu[i];

		for (uint32_t k = 0; i != index && k < RECENT && k < w->nrecent; k++)
			if (coincide(g, &w->recent[k])) {
				g->simultaneous = true;
				mark_kept(w, &w->recent[k]);
			}
	}
}

static uint32_t shortest(const struct waiting *w)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < w->nkept; i++)
		if (w->kept[i].ns < w->kept[best].ns)
			best = i;
	return best;
}

void outside_add(struct outside *o, uint32_t index, uint64_t start_ns, uint64_t end_ns, uint64_t outside_ns)
{
	struct gap g = {start_ns, end_ns, outside_ns, false};
	struct waiting *w = &o->cpu[index];
	uint32_t least;

	/* Mostly something else: no evidence about what stopped several CPUs. */
	if (outside_ns < LONG_NS || outside_ns * 2 < end_ns - start_ns) {
		decide(o, index, &g, o->otherwise);
		return;
	}
	find_simultaneous(o, index, &g);
	w->recent[w->nrecent++ % RECENT] = g;
	if (w->nkept < KEPT) {
		w->kept[w->nkept++] = g;
		return;
	}
	least = shortest(w);
	if (w->kept[least].ns < g.ns) {
		decide(o, index, &w->kept[least], o->otherwise);
		w->kept[least] = g;
	} else {
		decide(o, index, &g, o->otherwise);
	}
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
	struct waiting *w = &o->cpu[index];
	uint64_t stolen = w->steal_known && steal_ns > w->steal_ns ? steal_ns - w->steal_ns : 0;

	w->steal_ns = steal_ns;
	w->steal_known = true;
	if (!stolen)
		return;
	qsort(w->kept, w->nkept, sizeof(w->kept[0]), by_length);
	for (uint32_t i = 0; i < w->nkept; i++) {
		decide(o, index, &w->kept[i], stolen ? "steal" : o->otherwise);
		stolen -= w->kept[i].ns < stolen ? w->kept[i].ns : stolen;
	}
	w->nkept = 0;
}

void outside_finish(struct outside *o)
{
	for (uint32_t i = 0; i < o->summary->ncpus; i++) {
		struct waiting *w = &o->cpu[i];

		for (uint32_t k = 0; k < w->nkept; k++)
			decide(o, i, &w->kept[k], o->otherwise);
		w->nkept = 0;
	}
}
