/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/leaders.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "model/groups.h"

/* Totals of all sources with one series, in order of their first rows. */
struct group {
	const struct source *first;
	char name[DIFF_NAME], label[OWNER_PART];
	struct leader_sums sum;
	bool seen; /* one of them was present at the last update */
	uint32_t slot;
};

/* The groups of a part, and where they are by name: slot[] has 1 + an index of row[], half of its
 * slots at most; 0: a free one. */
struct grouped {
	struct group *row;
	uint32_t n;
	uint32_t *slot;
	unsigned bits; /* 2^bits slots */
};

int leaders_init_parts(struct leaders *s, uint32_t lanes, const uint32_t *of, uint32_t n)
{
	*s = (struct leaders){.n = n, .lanes = lanes, .top = LEADERS_TOP, .max = LEADERS_MAX};
	s->cpu = calloc(n ? n : 1, sizeof(*s->cpu));
	s->serial = calloc(lanes ? lanes : 1, sizeof(*s->serial));
	if (of) {
		s->of = calloc(lanes ? lanes : 1, sizeof(*s->of));
		s->top = LEADERS_FEW;
		s->max = LEADERS_FEW_MOST;
	}
	if (!s->cpu || !s->serial || (of && !s->of)) {
		leaders_free(s);
		return -ENOMEM;
	}
	if (of)
		memcpy(s->of, of, lanes * sizeof(*of));
	return 0;
}

int leaders_init(struct leaders *s, uint32_t lanes)
{
	return leaders_init_parts(s, lanes, NULL, lanes);
}

void leaders_free(struct leaders *s)
{
	free(s->cpu);
	free(s->of);
	free(s->serial);
	*s = (struct leaders){0};
}

uint32_t leaders_lane(const struct leaders *s, uint32_t part, uint32_t from)
{
	if (!s->of)
		return from <= part ? part : s->lanes;
	while (from < s->lanes && s->of[from] != part)
		from++;
	return from;
}

static void add(struct leader_sums *to, const struct leader_sums *x)
{
	to->ns += x->ns;
	to->count += x->count;
	to->runs += x->runs;
}

static void take(struct leader_sums *from, const struct leader_sums *x)
{
	from->ns -= x->ns;
	from->count -= x->count;
	from->runs -= x->runs;
}

static struct leader_sums sums_of(const struct source *s)
{
	return (struct leader_sums){s->net.sum, s->count, s->net.count};
}

static struct leader_sums sums_here(const struct source *s)
{
	return (struct leader_sums){s->net.sum - s->elsewhere.ns, s->count - s->elsewhere.count,
				    s->net.count - s->elsewhere.runs};
}

static bool same_function(const char *a, const char *b)
{
	return a == b || !strcmp(a ? a : "", b ? b : "");
}

/* True for rows and series with the same name. */
static bool in_group(const struct group *g, const struct source *s, const char *name,
		     const char *label)
{
	return g->first->kind == s->kind && g->first->kernel_thread == s->kernel_thread &&
	       g->first->by == s->by && !strcmp(g->name, name) && !strcmp(g->label, label) &&
	       same_function(g->first->function, s->function);
}

static bool is_own(const struct leader *l, const struct group *g)
{
	return g->first->kind == l->kind && g->first->kernel_thread == l->kernel_thread &&
	       g->first->by == l->by && !strcmp(g->name, l->name) && !strcmp(g->label, l->label) &&
	       same_function(g->first->function, l->function);
}

static void label_of(const struct leaders *set, struct source *s, char label[OWNER_PART])
{
	char buf[OWNER_PART];
	struct owner o;

	label[0] = 0;
	if (set->label < BY_UNIT)
		return;
	if (!s->labelled)
		s->labelled = s->owner ? s->owner : "";
	if (*s->labelled && !s->id &&
	    s->owners) /* all of one name, and they are several's by now */
		source_label_anew(s, "");
	if (!*s->labelled)
		return;
	owner_read(&o, s->labelled);
	snprintf(label, OWNER_PART, "%s", owner_part(&o, set->label, buf));
}

/* The slot of the group that this source belongs to, or of a new one. */
static uint32_t slot_of(const struct grouped *g, const struct source *s, const char *name,
			const char *label)
{
	uint64_t hash = hash_text(hash_of_strangers(), name);
	uint32_t last = (1u << g->bits) - 1, i;

	hash = hash_text(hash_byte(hash, s->kind), label);
	hash = hash_text(hash_byte(hash, s->by), s->function);
	for (i = hash_slot(hash, last + 1); g->slot[i]; i = (i + 1) & last)
		if (in_group(&g->row[g->slot[i] - 1], s, name, label))
			break;
	return i;
}

/* Adds the rows of a lane. */
static void group_lane(const struct leaders *set, const struct view *v, uint32_t lane,
		       struct grouped *g)
{
	const struct sources *t = &v->cpu[lane].sources;

	for (uint32_t i = 0; i < t->count; i++) {
		struct source *s = t->row[i];
		struct leader_sums sum;
		char name[DIFF_NAME], label[OWNER_PART];
		struct group *x;
		uint32_t slot;

		if (s->rest)
			continue;
		label_of(set, s, label);
		sum = sums_here(s);
		if (set->of)
			group_name(s, name);
		else
			diff_name(s, false, name);
		slot = slot_of(g, s, name, label);
		if (!g->slot[slot]) {
			g->slot[slot] = ++g->n;
			x = &g->row[g->n - 1];
			*x = (struct group){.first = s, .slot = slot};
			memcpy(x->label, label, sizeof(label));
			memcpy(x->name, name, sizeof(name));
		}
		x = &g->row[g->slot[slot] - 1];
		add(&x->sum, &sum);
		x->seen |= s->oldest <= set->serial[lane];
	}
}

static int by_time(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->sum.ns != y->sum.ns)
		return x->sum.ns < y->sum.ns ? 1 : -1;
	if (x->first->serial != y->first->serial)
		return x->first->serial < y->first->serial ? -1 : 1;
	return strcmp(x->name, y->name) ? strcmp(x->name, y->name) : strcmp(x->label, y->label);
}

static struct leader *own_of(struct leaders_cpu *c, const struct group *g)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (is_own(&c->own[i], g))
			return &c->own[i];
	return NULL;
}

static const struct group *group_of(const struct leader *l, const struct group *g, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (is_own(l, &g[i]))
			return &g[i];
	return NULL;
}

/* Makes room for one more: removes a series whose source is gone, or the last in the order, with
 * its sums of the last update. */
static struct leader *make_room(struct leaders_cpu *c, uint32_t max, const struct group *g,
				uint32_t n)
{
	struct leader *l = NULL;

	if (c->count < max)
		return &c->own[c->count++];
	for (uint32_t i = 0; i < c->count && !l; i++)
		if (!group_of(&c->own[i], g, n))
			l = &c->own[i];
	while (!l)
		l = own_of(c, &g[--n]);
	add(&c->gone[l->kind], &l->sum);
	return l;
}

/* Computes the rest: everything, less what has or had a series. */
static void update_rest(struct leaders *s, const struct view *v, uint32_t part)
{
	struct leaders_cpu *c = &s->cpu[part];

	memset(c->rest, 0, sizeof(c->rest));
	for (uint32_t k = leaders_lane(s, part, 0); k < s->lanes;
	     k = leaders_lane(s, part, k + 1)) {
		const struct sources *t = &v->cpu[k].sources;

		for (uint32_t i = 0; i < t->count; i++) {
			struct leader_sums sum = sums_of(t->row[i]);

			add(&c->rest[t->row[i]->kind], &sum);
			if (t->row[i]->serial > s->serial[k])
				s->serial[k] = t->row[i]->serial;
		}
	}
	for (int k = 0; k < SOURCE_KINDS; k++)
		take(&c->rest[k], &c->gone[k]);
	for (uint32_t i = 0; i < c->count; i++)
		take(&c->rest[c->own[i].kind], &c->own[i].sum);
}

static void begin_series(struct leader *l, const struct group *g)
{
	*l = (struct leader){.kind = g->first->kind,
			     .kernel_thread = g->first->kernel_thread,
			     .by = g->first->by,
			     .function = g->first->function};
	memcpy(l->name, g->name, sizeof(l->name));
	memcpy(l->label, g->label, sizeof(l->label));
	if (g->seen) /* the source is in the rest so far */
		l->last = g->sum;
}

static uint64_t grown(uint64_t now, uint64_t last)
{
	return now > last ? now - last
			  : 0; /* less, when some of its rows were merged into the kind's rest */
}

static void update_own(struct leader *l, const struct group *g)
{
	static const struct leader_sums none;
	const struct leader_sums *now = g ? &g->sum : &none;

	l->sum.ns += grown(now->ns, l->last.ns);
	l->sum.count += grown(now->count, l->last.count);
	l->sum.runs += grown(now->runs, l->last.runs);
	l->last = *now;
	if (g)
		l->cause = g->first->cause;
}

static void update_part(struct leaders *s, const struct view *v, uint32_t part, struct grouped *all)
{
	struct leaders_cpu *c = &s->cpu[part];
	struct group *g = all->row;
	uint32_t n;

	all->n = 0;
	for (uint32_t k = leaders_lane(s, part, 0); k < s->lanes; k = leaders_lane(s, part, k + 1))
		group_lane(s, v, k, all);
	n = all->n;
	for (uint32_t i = 0; i < n; i++)
		all->slot[g[i].slot] = 0;
	qsort(g, n, sizeof(*g), by_time);
	for (uint32_t i = 0; i < n && i < s->top && (g[i].sum.ns || g[i].sum.runs); i++)
		if (!own_of(c, &g[i]))
			begin_series(make_room(c, s->max, g, n), &g[i]);
	for (uint32_t i = 0; i < c->count; i++)
		update_own(&c->own[i], group_of(&c->own[i], g, n));
	update_rest(s, v, part);
}

int leaders_update(struct leaders *s, const struct view *v)
{
	struct grouped g = {.bits = 1};
	size_t most = 1;
	int err = -ENOMEM;

	for (uint32_t i = 0; i < v->ncpus; i++)
		if (s->of)
			most += v->cpu[i].sources.count;
		else if (v->cpu[i].sources.count > most)
			most = v->cpu[i].sources.count;
	while (1u << g.bits < 2 * most)
		g.bits++;
	g.row = calloc(most, sizeof(*g.row));
	g.slot = calloc(1u << g.bits, sizeof(*g.slot));
	if (g.row && g.slot) {
		s->lanes = s->lanes < v->ncpus ? s->lanes : v->ncpus;
		for (uint32_t i = 0; i < s->n; i++)
			update_part(s, v, i, &g);
		err = 0;
	}
	free(g.row);
	free(g.slot);
	return err;
}
