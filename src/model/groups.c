/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/groups.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/groups_rows.h"
#include "model/rank.h"
#include "model/stops.h"

/* Figures of a CPU that are compared. */
struct profile {
	const struct cpu *cpu;
	const struct group_part *part;
	size_t n;
	unsigned state;
	double lost;           /* share of its time */
	double per;            /* 1 / its time */
	char name[GROUP_NAME]; /* name of a thread; "" of a CPU */
};

static bool differs(const struct cpu *c)
{
	for (uint32_t i = 0; i < c->nclosure; i++)
		if (c->closure[i].kernel != c->closure[i].traced && !c->closure[i].why)
			return true;
	return false;
}

static unsigned state_of(const struct view *v, const struct cpu *c)
{
	const bool is[] = {!view_threads(v) && cpus_has(&v->host.isolated, c->number),
			   !view_threads(v) && cpus_has(&v->host.nohz_full, c->number),
			   c->ended != NULL,
			   c->offline.times > 0,
			   !c->observed_ns,
			   c->hiccups_lost > 0,
			   c->counts.lost > 0,
			   c->counts.mismatches > 0,
			   c->closure_known,
			   c->closure_known && differs(c),
			   c->smi_known && c->smi_count > 0,
			   stops_are_smis(c),
			   view_threads(v) && c->unpaired > 0,
			   c->reported > 0,
			   c->unread > 0,
			   c->kernel_thread};
	unsigned state = 0;

	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++)
		state |= (unsigned)is[i] << i;
	return state;
}

/* Writes what threads that may be alike have in common. */
static void lane_name(const struct cpu *c, char name[GROUP_NAME])
{
	int len = sizeof(c->comm);

	if (c->kernel_thread)
		snprintf(name, GROUP_NAME, "[%.*s]", len, c->comm);
	else
		snprintf(name, GROUP_NAME, "%s%.*s", c->comm[0] == '[' ? "user thread " : "", len,
			 c->comm);
	group_star(name);
}

static struct profile profile_of(const struct view *v, const struct group_rows *r, uint32_t i)
{
	const struct cpu *c = &v->cpu[i];
	struct profile p = {.cpu = c,
			    .part = &r->part[r->begin[i]],
			    .n = r->begin[i + 1] - r->begin[i],
			    .state = state_of(v, c),
			    .lost = view_lost(v, i),
			    .per = c->observed_ns ? 1.0 / c->observed_ns : 0};

	if (view_threads(v)) {
		lane_name(c, p.name);
		if (p.lost < 0) { /* not known: what it lost of the whole window */
			p.per = v->run.duration_ns ? 1.0 / v->run.duration_ns : 0;
			p.lost = c->hiccups.sum * p.per;
		}
	}
	p.lost = p.lost < 0 ? 0 : p.lost;
	return p;
}

bool group_longer(uint64_t a, uint64_t b)
{
	return a > GROUP_TIMES * (b > QUIET_NS ? b : QUIET_NS);
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static const struct series *series_named(const struct cpu *c, const char *name)
{
	for (uint32_t i = 0; i < c->nseries; i++)
		if (c->series[i].hist.count && !strncmp(c->series[i].name, name, SERIES_NAME))
			return &c->series[i];
	return NULL;
}

/* Compares values in ns, of series with the same unit. */
static bool same_values(const struct series *a, const struct series *b)
{
	unsigned unit = a->fine ? 1000 : 1;
	const double percentile[] = {99, 100};
	double x = hist_percentile(&a->hist, 50), y = hist_percentile(&b->hist, 50);

	if (a->fine != b->fine || fabs(x - y) > (x > y ? x : y) / 2)
		return false;
	for (size_t i = 0; i < sizeof(percentile) / sizeof(percentile[0]); i++) {
		uint64_t far = hist_percentile(&a->hist, percentile[i]) / unit,
			 other = hist_percentile(&b->hist, percentile[i]) / unit;

		if (group_longer(far, other) || group_longer(other, far))
			return false;
	}
	return true;
}

static bool same_series(const struct cpu *a, const struct cpu *b)
{
	uint32_t some = 0;

	for (uint32_t i = 0; i < a->nseries; i++) {
		const struct series *other;

		if (!a->series[i].hist.count)
			continue;
		other = series_named(b, a->series[i].name);
		if (!other || !same_values(&a->series[i], other))
			return false;
		some++;
	}
	for (uint32_t i = 0; i < b->nseries; i++)
		some -= b->series[i].hist.count > 0;
	return !some;
}

static bool alike(const struct profile *a, const struct profile *b)
{
	static const struct group_part none;
	double apart = fabs(a->cpu->edge_ns * a->per - b->cpu->edge_ns * b->per);
	double most = a->lost > b->lost ? a->lost : b->lost;

	if (a->state != b->state || !same_text(a->cpu->ended, b->cpu->ended) ||
	    strcmp(a->name, b->name) != 0 || !same_series(a->cpu, b->cpu) ||
	    group_longer(a->cpu->hiccups.max, b->cpu->hiccups.max) ||
	    group_longer(b->cpu->hiccups.max, a->cpu->hiccups.max))
		return false;
	if (most > QUIET_SHARE && fabs(a->lost - b->lost) > most / 2)
		return false;
	for (size_t i = 0, k = 0; i < a->n || k < b->n;) {
		const struct group_part *x = i < a->n ? &a->part[i] : &none,
					*y = k < b->n ? &b->part[k] : &none;

		if (i < a->n && k < b->n && x->key < y->key)
			y = &none;
		else if (i < a->n && k < b->n && x->key > y->key)
			x = &none;
		i += x != &none;
		k += y != &none;
		if (group_longer(x->longest_ns, y->longest_ns) ||
		    group_longer(y->longest_ns, x->longest_ns))
			return false;
		apart += fabs(x->ns * a->per - y->ns * b->per);
	}
	return most <= QUIET_SHARE || apart <= most / 2;
}

/* ---- the groups ---- */

/* Sorts the CPUs into groups: of[] of each, first and n of each group. */
static void sort_out(struct cpu_groups *g, const struct profile *p, const uint32_t *order,
		     uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = g->n > GROUP_NEAR ? g->n - GROUP_NEAR : 0;

		while (k < g->n && !alike(&p[g->row[k].first], &p[order[i]]))
			k++;
		if (k == g->n)
			g->row[g->n++].first = order[i];
		g->of[order[i]] = k;
		g->row[k].n++;
	}
}

static int list_lanes(struct cpu_groups *g, const struct view *v)
{
	for (uint32_t k = 0; k < g->n; k++) {
		g->row[k].lane = calloc(g->row[k].n, sizeof(*g->row[k].lane));
		if (!g->row[k].lane)
			return -ENOMEM;
		g->row[k].n = 0;
	}
	for (uint32_t i = 0; i < v->ncpus; i++) {
		struct cpu_group *to = &g->row[g->of[i]];

		to->lane[to->n++] = i;
		if (!view_threads(v))
			cpus_add(&to->cpus, v->cpu[i].number);
		else if (to->n == 1)
			lane_name(&v->cpu[i], to->name);
	}
	return 0;
}

/* Gives each group the rows of its CPUs, in their order. */
static int fill(struct cpu_groups *g, const struct view *v, const struct group_rows *r)
{
	const struct group_row **rows = calloc(r->n + 1, sizeof(*rows));
	size_t *end = calloc((size_t)g->n + 1, sizeof(*end));
	int err = rows && end ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < r->n; i++)
		end[g->of[r->row[i].lane] + 1]++;
	for (uint32_t k = 0; !err && k < g->n; k++)
		end[k + 1] += end[k];
	for (size_t i = 0; !err && i < r->n; i++)
		rows[end[g->of[r->row[i].lane]]++] = &r->row[i];
	for (uint32_t k = 0; !err && k < g->n; k++) {
		size_t begin = k ? end[k - 1] : 0;

		err = group_fill(&g->row[k], v, rows + begin, end[k] - begin);
	}
	free(rows);
	free(end);
	return err;
}

static int make(struct cpu_groups *g, const struct view *v, const struct group_rows *r)
{
	struct profile *p = calloc(v->ncpus, sizeof(*p));
	uint32_t *order = calloc(v->ncpus, sizeof(*order));
	int err = p && order ? rank_lanes(v, order) : -ENOMEM;

	g->row = calloc(v->ncpus, sizeof(*g->row));
	g->of = calloc(v->ncpus, sizeof(*g->of));
	if (!g->row || !g->of)
		err = -ENOMEM;
	for (uint32_t i = 0; !err && i < v->ncpus; i++)
		p[i] = profile_of(v, r, i);
	if (!err)
		sort_out(g, p, order, v->ncpus);
	free(p);
	free(order);
	err = err ? err : list_lanes(g, v);
	return err ? err : fill(g, v, r);
}

int groups_make(struct view *v)
{
	struct group_rows rows;
	int err;

	groups_free(&v->groups);
	if (!v->ncpus)
		return 0;
	err = group_rows_make(&rows, v);
	if (err)
		return err;
	err = make(&v->groups, v, &rows);
	group_rows_free(&rows);
	if (err)
		groups_free(&v->groups);
	return err;
}

void groups_free(struct cpu_groups *g)
{
	for (uint32_t k = 0; k < g->n; k++) {
		free(g->row[k].lane);
		free(g->row[k].source);
		free(g->row[k].series);
	}
	free(g->row);
	free(g->of);
	memset(g, 0, sizeof(*g));
}

bool groups_shown(const struct view *v)
{
	if (!v->groups.n || v->ncpus <= 2)
		return false;
	return !v->run.windows || v->groups.n < v->ncpus || v->ncpus > GROUP_DETAILS;
}

/* ---- the first cause of a CPU ---- */

const struct source *group_most(const struct sources *t)
{
	const struct source *most = NULL;

	for (uint32_t i = 0; i < t->count; i++)
		if (t->row[i]->net.count &&
		    (!most || stops_usual_sum(t->row[i]) > stops_usual_sum(most)))
			most = t->row[i];
	return most;
}

const struct source *group_odd(const struct sources *t)
{
	const struct source *most = group_most(t), *odd = most;

	for (uint32_t i = 0; i < t->count; i++)
		if (t->row[i]->net.count && stops_usual_max(t->row[i]) > stops_usual_max(odd))
			odd = t->row[i];
	return most && group_longer(stops_usual_max(odd), stops_usual_max(most)) ? odd : NULL;
}

bool group_has(const struct group_source *g, const struct source *s)
{
	char x[DIFF_NAME], y[DIFF_NAME];

	if (g->who.kind != s->kind || g->who.host_kind != s->host_kind ||
	    g->who.kernel_thread != s->kernel_thread || g->who.by != s->by ||
	    g->who.rest != s->rest || !same_text(g->who.function, s->function))
		return false;
	group_name(&g->who, x);
	group_name(s, y);
	return !strcmp(x, y);
}

const struct group_source *group_source(const struct cpu_group *g, const struct source *s)
{
	for (uint32_t i = 0; i < g->nsources; i++)
		if (group_has(&g->source[i], s))
			return &g->source[i];
	return NULL;
}

bool group_detailed(const struct view *v, uint32_t lane)
{
	const struct cpu_groups *g = &v->groups;

	return !groups_shown(v) ||
	       (g->of[lane] < GROUP_DETAILS && g->row[g->of[lane]].first == lane);
}

const char *group_verdict(const struct view *v, uint32_t k)
{
	const struct cpu_group *g = &v->groups.row[k];

	return g->n > 1 ? g->verdict : v->cpu[g->first].verdict;
}

const char *group_head(const struct view *v, uint32_t k)
{
	const struct cpu_group *g = &v->groups.row[k];

	if (g->said)
		return "";
	return g->head[0] ? g->head : group_verdict(v, k);
}
