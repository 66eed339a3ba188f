/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fills in the figures of a group: the least, the median and the most of its CPUs. */
#include "model/groups_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/groups.h"

static int compare_double(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Computes the range of value[n], one for each of these lanes; sorts the values. Those that are 0
 * are put between the others: a source of one CPU has one that is not, of thousands. */
static struct spread spread_of(double *value, const uint32_t *lane, uint32_t n)
{
	struct spread s = {.lane = lane[0]};
	uint32_t some = 0, negative = 0;
	double most = value[0];

	for (uint32_t i = 0; i < n; i++) {
		if (value[i] > most) {
			most = value[i];
			s.lane = lane[i];
		}
		negative += value[i] < 0;
		if (value[i] != 0)
			value[some++] = value[i];
	}
	qsort(value, some, sizeof(*value), compare_double);
	memmove(value + negative + n - some, value + negative, (some - negative) * sizeof(*value));
	memset(value + negative, 0, (n - some) * sizeof(*value));
	s.least = value[0];
	s.median = value[(n - 1) / 2];
	s.most = value[n - 1];
	return s;
}

enum figure { LOST, HICCUPS, LOST_NS, LONGEST, P99, MEDIAN };

static double figure(const struct view *v, uint32_t i, enum figure what)
{
	const struct hist *h = &v->cpu[i].hiccups;

	switch (what) {
	case LOST:
		return view_lost(v, i);
	case HICCUPS:
		return h->count;
	case LOST_NS:
		return h->sum;
	case LONGEST:
		return h->max;
	case P99:
		return hist_percentile(h, 99);
	case MEDIAN:
		return hist_percentile(h, 50);
	}
	return 0;
}

static void fill_figures(struct cpu_group *g, const struct view *v, double *value)
{
	struct spread *const to[] = {&g->lost,       &g->hiccups, &g->lost_each_ns,
				     &g->longest_ns, &g->p99_ns,  &g->median_ns};

	for (size_t f = 0; f < sizeof(to) / sizeof(to[0]); f++) {
		for (uint32_t i = 0; i < g->n; i++)
			value[i] = figure(v, g->lane[i], f);
		*to[f] = spread_of(value, g->lane, g->n);
	}
	for (uint32_t i = 0; i < g->n; i++) {
		const struct cpu *c = &v->cpu[g->lane[i]];

		g->total_ns += c->hiccups.sum;
		g->attributed_ns += c->attributed_ns;
		g->edge_ns += c->edge_ns;
		g->lost_ns += c->lost_ns;
		g->host_ns += c->host_ns;
		g->outside_ns += c->outside_ns;
	}
}

/* ---- a workload's values ---- */

static const struct series *series_of(const struct cpu *c, const char *name)
{
	for (uint32_t i = 0; i < c->nseries; i++)
		if (!strncmp(c->series[i].name, name, SERIES_NAME))
			return &c->series[i];
	return NULL;
}

static struct spread spread_series(const struct cpu_group *g, const struct view *v,
				   const char *name, double percentile, double *value)
{
	for (uint32_t i = 0; i < g->n; i++) {
		const struct series *s = series_of(&v->cpu[g->lane[i]], name);

		value[i] = s ? hist_percentile(&s->hist, percentile) : 0;
	}
	return spread_of(value, g->lane, g->n);
}

static void add_series(struct cpu_group *g, const struct view *v, const struct series *one,
		       double *value)
{
	struct group_series *to = &g->series[g->nseries++];

	to->one = one;
	for (uint32_t i = 0; i < g->n; i++) {
		const struct series *s = series_of(&v->cpu[g->lane[i]], one->name);

		to->count += s ? s->hist.count : 0;
		to->longer += s ? s->longer : 0;
	}
	to->median = spread_series(g, v, one->name, 50, value);
	to->p99 = spread_series(g, v, one->name, 99, value);
	to->max = spread_series(g, v, one->name, 100, value);
}

static int fill_series(struct cpu_group *g, const struct view *v, double *value)
{
	const struct cpu *first = &v->cpu[g->lane[0]];

	g->series = calloc(first->nseries + 1, sizeof(*g->series));
	if (!g->series)
		return -ENOMEM;
	for (uint32_t i = 0; i < first->nseries; i++)
		if (first->series[i].hist.count)
			add_series(g, v, &first->series[i], value);
	return 0;
}

/* ---- sources ---- */

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Keeps of the name, the number and the advice what this row has, too. */
static void keep_common(struct group_source *s, const struct group_row *r)
{
	if (strcmp(s->who.name, r->source->name) != 0)
		snprintf(s->who.name, sizeof(s->who.name), "%.*s", SOURCE_NAME - 1, r->name);
	if (s->who.id != r->source->id)
		s->who.id = KIND_IDS;
	if (!same_text(s->who.host_name, r->source->host_name)) {
		s->who.host_name = "";
		s->who.host_cpu = SOURCE_CPUS;
	}
	if (s->who.host_cpu != r->source->host_cpu)
		s->who.host_cpu = SOURCE_CPUS;
	if (!same_text(s->who.advice, r->source->advice)) {
		s->who.advice = NULL;
		s->differs = true;
	}
	if (!same_text(s->who.cause, r->source->cause))
		s->who.cause = NULL;
}

static bool same_asker(const struct asker *a, const struct asker *b)
{
	return a->kind == b->kind && a->tid == b->tid && a->cpu == b->cpu &&
	       !strcmp(a->comm, b->comm) && same_text(a->function, b->function);
}

/* Finds the most frequent asker by majority: the candidate that is left over when unequal ones
 * cancel each other out (Boyer and Moore 1981); askers is then counted. */
static void find_asker(struct group_source *s, const struct group_row *const *rows, size_t n)
{
	uint32_t top, left = 0;

	for (size_t i = 0; i < n; i++) {
		const struct askers *o = rows[i]->source->askers;

		if (!o || !askers_top(o, &top, 1))
			continue;
		if (!left)
			s->asker = &o->row[top].who;
		left += !left || same_asker(s->asker, &o->row[top].who) ? 1 : -1;
	}
	for (size_t i = 0; s->asker && i < n; i++) {
		const struct askers *o = rows[i]->source->askers;

		if ((!i || rows[i - 1]->lane != rows[i]->lane) && o && askers_top(o, &top, 1))
			s->askers += same_asker(s->asker, &o->row[top].who);
	}
}

/* Adds up rows of one name, of a group's CPUs in their order. value: room for as many as it has
 * CPUs. */
static void add_source(struct cpu_group *g, const struct group_row *const *rows, size_t n,
		       double *value)
{
	struct group_source *s = &g->source[g->nsources++];
	uint32_t at = 0;

	s->who = *rows[0]->source;
	s->who.askers = NULL;
	memset(value, 0, g->n * sizeof(*value));
	for (size_t i = 0; i < n; i++) {
		const struct source *row = rows[i]->source;

		while (g->lane[at] != rows[i]->lane)
			at++;
		s->cpus += value[at] == 0;
		value[at] += row->net.sum;
		s->count += row->count;
		s->total_ns += row->net.sum;
		if (!i || row->net.max > s->max_ns) {
			s->max_ns = row->net.max;
			s->max_lane = rows[i]->lane;
		}
		keep_common(s, rows[i]);
	}
	find_asker(s, rows, n);
	s->ns = spread_of(value, g->lane, g->n);
}

static int by_time(const void *a, const void *b)
{
	const struct group_source *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	return x->who.kind != y->who.kind ? (x->who.kind > y->who.kind ? 1 : -1)
					  : strcmp(x->who.name, y->who.name);
}

int group_fill(struct cpu_group *g, const struct view *v, const struct group_row *const *rows,
	       size_t n)
{
	double *value = calloc(g->n, sizeof(*value));
	uint32_t keys = 1;

	for (size_t i = 0; i < n; i++)
		keys += !i || rows[i]->key != rows[i - 1]->key;
	g->source = calloc(keys, sizeof(*g->source));
	if (!value || !g->source || fill_series(g, v, value)) {
		free(value);
		return -ENOMEM;
	}
	fill_figures(g, v, value);
	for (size_t i = 0, next; i < n; i = next) {
		for (next = i; next < n && rows[next]->key == rows[i]->key; next++)
			;
		add_source(g, rows + i, next - i, value);
	}
	qsort(g->source, g->nsources, sizeof(*g->source), by_time);
	free(value);
	return 0;
}
