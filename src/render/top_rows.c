/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows on top's screen: all of them are ranked before any is left out. */
#include "render/top_lines.h"

#include <errno.h>
#include <stdlib.h>

#include "model/rank.h"

static double share_of(uint64_t ns, uint64_t observed)
{
	return observed ? 100.0 * ns / observed : 0;
}

static double key_of(const struct top_row *x, enum top_sort sort)
{
	const double keys[TOP_SORTS] = {x->second, x->ten, x->all, x->max_ns, x->count};

	return keys[sort];
}

static int by_key(const void *a, const void *b, void *sort)
{
	const struct top_row *x = a, *y = b;
	double p = key_of(x, *(enum top_sort *)sort), q = key_of(y, *(enum top_sort *)sort);

	if (p != q)
		return p < q ? 1 : -1;
	if (x->all != y->all)
		return x->all < y->all ? 1 : -1;
	return x->cpu != y->cpu ? (x->cpu > y->cpu) - (x->cpu < y->cpu)
				: (x->source > y->source) - (x->source < y->source);
}

/* ---- sources ---- */

static bool is_seen(const struct top_state *s, uint32_t cpu)
{
	return !s->alone || s->only == cpu;
}

static int rank_sources(const struct view *v, const struct recent *r, struct top_state *s)
{
	size_t room = 1;

	for (uint32_t i = 0; i < v->ncpus; i++)
		room += is_seen(s, i) ? v->cpu[i].sources.count : 0;
	s->row = calloc(room, sizeof(*s->row));
	if (!s->row)
		return -ENOMEM;
	for (uint32_t i = 0; i < v->ncpus; i++) {
		const struct sources *t = &v->cpu[i].sources;
		uint64_t second = recent_observed(r, i, 1), ten = recent_observed(r, i, 10);

		for (uint32_t k = 0; is_seen(s, i) && k < t->count; k++) {
			const struct source *x = t->row[k];

			if (!x->net.count)
				continue;
			s->row[s->nrows++] = (struct top_row){
				.cpu = i,
				.source = k,
				.second = share_of(recent_of(r, i, k, 1).ns, second),
				.ten = share_of(recent_of(r, i, k, 10).ns, ten),
				.all = share_of(x->net.sum, v->cpu[i].observed_ns),
				.max_ns = x->net.max,
				.count = x->count};
		}
	}
	qsort_r(s->row, s->nrows, sizeof(*s->row), by_key, &s->sort);
	return 0;
}

/* ---- CPUs ---- */

static struct top_row row_of_cpu(const struct view *v, const struct recent *r, uint32_t i)
{
	const struct cpu *c = &v->cpu[i];

	return (struct top_row){
		.cpu = i,
		.source = TOP_NO_SOURCE,
		.second = share_of(recent_lost(r, i, 1), recent_observed(r, i, 1)),
		.ten = share_of(recent_lost(r, i, 10), recent_observed(r, i, 10)),
		.all = share_of(c->hiccups.sum + c->hiccups_lost_ns, c->observed_ns),
		.max_ns = c->hiccups.max,
		.count = c->hiccups.count};
}

/* Writes all CPUs to row[ncpus]. Ranked by a share, the longest hiccup counts as much. */
static int rank_cpus(const struct view *v, const struct recent *r, enum top_sort sort,
		     struct top_row *row)
{
	struct rank_of *of = calloc(v->ncpus + 1, sizeof(*of));
	uint32_t *order = calloc(v->ncpus + 1, sizeof(*order));
	int err = of && order ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < v->ncpus; i++) {
		row[i] = row_of_cpu(v, r, i);
		of[i] = (struct rank_of){key_of(&row[i], sort), row[i].max_ns};
	}
	if (!err && (sort == TOP_MAX || sort == TOP_COUNT)) {
		qsort_r(row, v->ncpus, sizeof(*row), by_key, &sort);
	} else if (!err) {
		err = rank(of, v->ncpus, order);
		for (uint32_t i = 0; i < v->ncpus; i++)
			row[i] = row_of_cpu(v, r, order[i]);
	}
	free(of);
	free(order);
	return err;
}

/* Names the first source of each CPU. */
static void name_sources(struct top_state *s, const struct top_row *source, uint32_t n,
			 uint32_t ncpus)
{
	uint32_t *first = calloc(ncpus + 1, sizeof(*first));

	if (!first)
		return;
	for (uint32_t i = n; i-- > 0;)
		first[source[i].cpu] = 1 + source[i].source;
	for (uint32_t i = 0; i < s->nrows; i++)
		if (first[s->row[i].cpu])
			s->row[i].source = first[s->row[i].cpu] - 1;
	free(first);
}

/* Lanes of the page of sources would jump each second if the last one alone ranked them. */
static int rank_lanes_of_page(const struct view *v, const struct recent *r, struct top_state *s)
{
	enum top_sort sort = s->sort == TOP_SECOND && s->page == TOP_SOURCES ? TOP_TEN : s->sort;
	struct top_row *cpu = calloc(v->ncpus + 1, sizeof(*cpu));
	int err;

	s->lane = calloc(v->ncpus + 1, sizeof(*s->lane));
	err = cpu && s->lane ? rank_cpus(v, r, sort, cpu) : -ENOMEM;
	for (uint32_t i = 0; !err && i < v->ncpus; i++)
		s->lane[i] = cpu[i].cpu;
	s->nlanes = err ? 0 : v->ncpus;
	if (!err && s->page == TOP_CPUS) {
		struct top_row *source = s->row;
		uint32_t n = s->nrows;

		s->row = cpu;
		s->nrows = v->ncpus;
		name_sources(s, source, n, v->ncpus);
		cpu = source;
	}
	free(cpu);
	return err;
}

/* ---- the cursor ---- */

static bool is_at(const struct view *v, const struct top_state *s, const struct top_row *x)
{
	return x->cpu == s->at_cpu &&
	       (s->page == TOP_CPUS ||
		v->cpu[x->cpu].sources.row[x->source]->serial == s->at_serial);
}

static void place_cursor(const struct view *v, struct top_state *s)
{
	int64_t at = s->moved ? s->cursor : 0;

	for (uint32_t i = 0; s->moved && i < s->nrows; i++)
		if (is_at(v, s, &s->row[i])) {
			at = i;
			break;
		}
	if (s->detail) {
		int64_t scroll = (int64_t)s->scroll + s->move;

		s->scroll = scroll > 0 ? scroll : 0;
		s->move = 0;
		s->cursor = at < s->nrows ? at : 0;
		return; /* on what it was, even when that has no row any more */
	}
	at += s->move;
	at = at >= (int64_t)s->nrows ? (int64_t)s->nrows - 1 : at;
	s->cursor = at > 0 ? at : 0;
	s->moved = s->moved || s->move > 0;
	s->moved = s->moved && s->cursor;
	s->move = 0;
	if (!s->nrows)
		return;
	s->at_cpu = s->row[s->cursor].cpu;
	s->at_serial = s->row[s->cursor].source == TOP_NO_SOURCE
			       ? 0
			       : v->cpu[s->at_cpu].sources.row[s->row[s->cursor].source]->serial;
}

static void scroll(struct top_state *s, uint32_t rows)
{
	if (s->cursor < s->first)
		s->first = s->cursor;
	if (rows && s->cursor >= s->first + rows)
		s->first = s->cursor - rows + 1;
	if (s->first + rows > s->nrows)
		s->first = s->nrows > rows ? s->nrows - rows : 0;
	s->shown = s->nrows - s->first < rows ? s->nrows - s->first : rows;
}

/* ---- the layout ---- */

struct top_layout top_layout(const struct top_state *s, uint32_t ncpus)
{
	unsigned h = s->height, used = s->last ? 2 : 3; /* head, table's head, keys */
	struct top_layout l = {0};

	if (s->page == TOP_SOURCES) {
		l.footer = s->last || h < 12 ? 0 : h < 20 ? 2 : 3;
		l.lanes = h < 5 ? 0 : h < 8 ? 1 : (h - 4) / 4;
		if (l.lanes > ncpus || s->alone)
			l.lanes = s->alone ? 1 : ncpus;
		l.more = h >= 8 && (s->alone || l.lanes < ncpus);
	}
	used += l.lanes + l.more + l.footer;
	l.rows = h > used ? h - used : 0;
	return l;
}

int top_settle(const struct view *v, const struct recent *r, struct top_state *s)
{
	int err;

	top_free(s);
	err = rank_sources(v, r, s);
	if (!err)
		err = rank_lanes_of_page(v, r, s);
	if (err) {
		top_free(s);
		return err;
	}
	place_cursor(v, s);
	scroll(s, top_layout(s, v->ncpus).rows);
	return 0;
}

void top_free(struct top_state *s)
{
	free(s->row);
	free(s->lane);
	s->row = NULL;
	s->lane = NULL;
	s->nrows = s->nlanes = s->shown = 0;
}

struct source *top_source(const struct view *v, const struct top_state *s)
{
	const struct sources *t = s->at_cpu < v->ncpus ? &v->cpu[s->at_cpu].sources : NULL;

	for (uint32_t i = 0; t && i < t->count; i++)
		if (t->row[i]->serial == s->at_serial)
			return t->row[i];
	return NULL;
}
