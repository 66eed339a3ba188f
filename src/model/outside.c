#include "model/outside.h"

#include <stdbool.h>
#include <stdlib.h>

#define RECENT   256      /* gaps a CPU that another's may coincide with */
#define KEPT     512      /* gaps a CPU that wait for the steal clock: the recent ones, and the longest of the others */
#define LONG_NS  5000     /* shorter ones coincide by chance: thousands come in a second */
#define ALIKE_NS 1000     /* two CPUs that were stopped by one thing stop and go on together, to this and a twentieth */
#define STEP_NS  10000000 /* of the steal clock in /proc/stat */
#define OLD_NS   30000000000ULL /* the steal clock says nothing of gaps so long ago */

struct gap {
	uint64_t start, end, ns;
	uint64_t number; /* of this CPU's */
	uint32_t others; /* target CPUs that were away at the same time */
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
	/* Of many CPUs some are always away by chance. */
	uint32_t enough = o->summary->ncpus / 4 > 1 ? o->summary->ncpus / 4 : 1;

	summary_outside(o->summary, index, g->start, g->ns, g->others >= enough ? "simultaneous" : verdict);
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Both CPUs stopped and went on together. */
static bool coincide(const struct gap *a, const struct gap *b)
{
	uint64_t shorter = a->end - a->start < b->end - b->start ? a->end - a->start : b->end - b->start;
	uint64_t tolerance = ALIKE_NS + shorter / 20; /* whichever comes first */

	return apart(a->start, b->start) <= tolerance && apart(a->end, b->end) <= tolerance;
}

static void count_kept(struct waiting *w, const struct gap *g)
{
	for (uint32_t i = 0; i < w->nkept; i++)
		if (w->kept[i].number == g->number)
			w->kept[i].others++;
}

/* The newest of each other CPU backwards, until they ended before this one began. */
static void find_simultaneous(struct outside *o, uint32_t index, struct gap *g)
{
	for (uint32_t i = 0; i < o->summary->ncpus; i++) {
		struct waiting *w = &o->cpu[i];

		for (uint64_t k = w->nrecent; i != index && k && w->nrecent - k < RECENT; k--) {
			const struct gap *other = &w->recent[(k - 1) % RECENT];

			if (other->end + ALIKE_NS < g->start)
				break;
			if (coincide(g, other)) {
				g->others++;
				count_kept(w, other);
				break;
			}
		}
	}
}

static bool is_recent(const struct waiting *w, uint32_t i)
{
	return w->kept[i].number + RECENT >= w->nrecent;
}

/* Of those that no other CPU's may coincide with any more; as KEPT is more than RECENT, a full table has some. */
static uint32_t shortest(const struct waiting *w)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < w->nkept; i++)
		if (!is_recent(w, i) && (is_recent(w, best) || w->kept[i].ns < w->kept[best].ns))
			best = i;
	return best;
}

void outside_add(struct outside *o, uint32_t index, uint64_t start_ns, uint64_t end_ns, uint64_t outside_ns)
{
	struct waiting *w = &o->cpu[index];
	struct gap g = {start_ns, end_ns, outside_ns, w->nrecent, 0};
	uint32_t least;

	/* Mostly something else: no evidence about what stopped several CPUs. */
	if (outside_ns < LONG_NS || outside_ns * 2 < end_ns - start_ns) {
		decide(o, index, &g, o->otherwise);
		return;
	}
	w->newest = end_ns;
	find_simultaneous(o, index, &g);
	w->recent[w->nrecent++ % RECENT] = g;
	if (w->nkept < KEPT) {
		w->kept[w->nkept++] = g;
		return;
	}
	least = shortest(w);
	decide(o, index, &w->kept[least], o->otherwise);
	w->kept[least] = g;
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
		const struct gap *g = &w->kept[i];
		bool old = g->end + OLD_NS < w->newest;
		bool fits = g->ns <= stolen + STEP_NS; /* its step may have begun before the last reading */

		decide(o, index, g, stolen && !old && fits ? "steal" : o->otherwise);
		if (stolen && !old && fits)
			stolen -= g->ns < stolen ? g->ns : stolen;
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
