/* All sources of all files go into one list, which is sorted by what they are called: those that follow each other under one name are a row.
 * One histogram is enough, as each cell keeps only what it was asked for. */
#include "model/diff_cell.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOW_LEAST_NS 10 /* shorter ones are in the first bin, too */

struct entry {
	enum source_kind kind;
	bool kernel_thread, rest;
	char name[DIFF_NAME];
	const char *function; /* NULL: not known */
	uint32_t file;
	const struct source *source;
};

/* ---- one list of all sources ---- */

/* Without what a compiler adds to a function that it made another of: "tick_sched_do_timer.isra.0" is another's tick_sched_do_timer. */
static size_t function_len(const char *function)
{
	static const char *const added[] = {".isra.", ".constprop.", ".part.", ".cold", ".llvm."};
	size_t n = strlen(function);

	for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++) {
		const char *at = strstr(function, added[i]);

		if (at && at > function && (size_t)(at - function) < n)
			n = at - function;
	}
	return n;
}

static int function_order(const char *a, const char *b)
{
	size_t na, nb;
	int order;

	if (!a || !b)
		return !!a - !!b;
	na = function_len(a);
	nb = function_len(b);
	order = strncmp(a, b, na < nb ? na : nb);
	return order ? order : (na > nb) - (na < nb);
}

static int same_row(const struct entry *x, const struct entry *y)
{
	int order;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->kernel_thread != y->kernel_thread)
		return x->kernel_thread ? -1 : 1;
	if (x->rest != y->rest)
		return x->rest ? -1 : 1;
	order = strcmp(x->name, y->name);
	return order ? order : function_order(x->function, y->function);
}

static int by_row(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = same_row(x, y);

	if (order)
		return order;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return 0;
}

static bool has_any(const struct source *s)
{
	return s->net.count || s->net.sum;
}

static uint32_t count_sources(const struct diff *d)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < d->n; k++)
		for (uint32_t i = 0; i < d->view[k]->summary.ncpus; i++)
			n += d->view[k]->summary.cpu[i].sources.count;
	return n;
}

/* Fills entry[], sorted; returns how many. */
static uint32_t list_sources(const struct diff *d, struct entry *entry)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < d->n; k++)
		for (uint32_t i = 0; i < d->view[k]->summary.ncpus; i++) {
			const struct sources *t = &d->view[k]->summary.cpu[i].sources;

			for (uint32_t r = 0; r < t->count; r++) {
				const struct source *s = t->row[r];

				if (!has_any(s))
					continue;
				entry[n] = (struct entry){.kind = s->kind,
							  .kernel_thread = s->kernel_thread,
							  .rest = s->rest,
							  .function = s->function,
							  .file = k,
							  .source = s};
				diff_name(s, d->same_cpus, entry[n].name);
				n++;
			}
		}
	qsort(entry, n, sizeof(*entry), by_row);
	return n;
}

/* ---- all hiccups ---- */

static int compare_totals(struct diff *d)
{
	struct sums sums[DIFF_FILES] = {0};
	struct tally t = {0};

	if (hist_init(&t.net, d->view[0]->summary.cpu[0].hiccups.bits))
		return -ENOMEM;
	for (uint32_t k = 0; k < d->n; k++) {
		const struct view *v = d->view[k];

		tally_clear(&t);
		for (uint32_t i = 0; i < v->summary.ncpus; i++) {
			const struct cpu_summary *c = &v->summary.cpu[i];

			hist_merge(&t.net, &c->hiccups);
			slices_merge(&t.slices, &c->slices);
			t.count += c->hiccups.count;
			t.hiccups += c->hiccups.count;
			t.lost += v->cpu[i].hiccups_lost;
			t.lost_ns += v->cpu[i].hiccups_lost_ns;
			d->attributed_ns[k] += c->attributed_ns;
			d->edge_ns[k] += c->edge_ns;
			d->outside_ns[k] += c->outside_ns;
		}
		cell_fill(d, &d->total[k], &t, d->seconds[k]);
		sums[k] = cell_weigh(&t, v, d->seconds[k]);
	}
	cells_compare(d, d->total, sums, 1);
	hist_free(&t.net);
	return 0;
}

/* ---- sources ---- */

static int by_rank(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;

	if (x->changed != y->changed)
		return x->changed ? -1 : 1;
	if (x->rank_ns != y->rank_ns)
		return x->rank_ns < y->rank_ns ? 1 : -1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->kernel_thread != y->kernel_thread)
		return x->kernel_thread ? -1 : 1;
	return strcmp(x->name, y->name) ? strcmp(x->name, y->name) : function_order(x->function, y->function);
}

/* Fills a row from the entries of its name, which begin at *at and are in the order of files. */
static int fill_row(struct diff *d, struct diff_row *row, const struct entry **at, const struct entry *end,
		    struct tally *t)
{
	const struct entry *first = *at;
	struct sums sums[DIFF_FILES];

	row->kind = first->kind;
	row->kernel_thread = first->kernel_thread;
	row->rest = first->rest;
	memcpy(row->name, first->name, sizeof(row->name));
	if (first->function && !(row->function = strndup(first->function, function_len(first->function))))
		return -ENOMEM;
	for (uint32_t k = 0; k < d->n; k++) {
		tally_clear(t);
		for (; *at < end && (*at)->file == k && !same_row(*at, first); ++*at) {
			const struct source *s = (*at)->source;

			hist_merge(&t->net, &s->net);
			slices_merge(&t->slices, &s->slices);
			t->count += s->count;
			t->hiccups += s->hiccups;
		}
		cell_fill(d, &row->cell[k], t, d->seconds[k]);
		sums[k] = cell_weigh(t, d->view[k], d->seconds[k]);
	}
	cells_compare(d, row->cell, sums, d->rows);
	for (uint32_t k = 1; k < d->n; k++)
		row->changed |= row->cell[k].verdict != DIFF_SAME;
	for (uint32_t k = 0; k < d->n; k++) {
		const struct diff_cell *c = &row->cell[k];
		double change = fabs(c->ns_per_s - row->cell[0].ns_per_s);

		row->rank_ns = fmax(row->rank_ns, row->changed ? change : c->ns_per_s);
	}
	return 0;
}

static int compare_rows(struct diff *d, const struct entry *entry, uint32_t n)
{
	const struct entry *at = entry, *end = entry + n;
	struct tally t = {0};
	int err;

	for (uint32_t i = 0; i < n; i++)
		d->rows += !i || same_row(&entry[i - 1], &entry[i]);
	d->row = calloc(d->rows + 1, sizeof(*d->row));
	err = d->row && !hist_init(&t.net, n ? entry[0].source->net.bits : 1) ? 0 : -ENOMEM;
	for (uint32_t i = 0; !err && i < d->rows; i++)
		err = fill_row(d, &d->row[i], &at, end, &t);
	hist_free(&t.net);
	if (!err)
		qsort(d->row, d->rows, sizeof(*d->row), by_rank);
	return err;
}

static int compare_sources(struct diff *d)
{
	struct entry *entry = calloc(count_sources(d) + 1, sizeof(*entry));
	int err = entry ? compare_rows(d, entry, list_sources(d, entry)) : -ENOMEM;

	free(entry);
	return err;
}

/* ---- all of it ---- */

static void widen(struct diff *d, const struct hist *h)
{
	uint64_t low = h->min > LOW_LEAST_NS ? h->min : LOW_LEAST_NS;

	if (!h->count)
		return;
	if (!d->high_ns || low < d->low_ns)
		d->low_ns = low;
	if (h->max > d->high_ns)
		d->high_ns = h->max;
	if (d->low_ns > d->high_ns)
		d->high_ns = d->low_ns;
}

static bool cpus_alike(const struct view *a, const struct view *b)
{
	if (a->summary.ncpus != b->summary.ncpus)
		return false;
	for (uint32_t i = 0; i < a->summary.ncpus; i++)
		if (a->summary.cpu[i].cpu != b->summary.cpu[i].cpu)
			return false;
	return true;
}

static void take_view(struct diff *d, uint32_t k, const struct view *v)
{
	d->view[k] = v;
	d->traced &= v->run.traced;
	d->same_cpus &= cpus_alike(d->view[0], v);
	for (uint32_t i = 0; i < v->summary.ncpus; i++) {
		const struct sources *t = &v->summary.cpu[i].sources;

		d->seconds[k] += v->cpu[i].observed_ns / 1e9;
		widen(d, &v->summary.cpu[i].hiccups);
		for (uint32_t r = 0; r < t->count; r++)
			widen(d, &t->row[r]->net);
	}
}

/* What counts as a hiccup, and as a short gap. */
static void take_thresholds(struct diff *d)
{
	uint64_t from_ns = d->view[0]->cpu[0].shorts.from_ns;

	d->threshold_ns = d->view[0]->cpu[0].threshold_ns;
	d->shorts_known = true;
	for (uint32_t k = 0; k < d->n; k++)
		for (uint32_t i = 0; i < d->view[k]->summary.ncpus; i++) {
			const struct cpu_run *c = &d->view[k]->cpu[i];

			if (c->threshold_ns != d->threshold_ns)
				d->threshold_ns = 0;
			d->raised |= c->measured_from_ns != 0;
			d->shorts_known &= c->shorts.known && c->shorts.from_ns == from_ns;
			d->short_ns[k] += c->shorts.total_ns;
		}
	d->shorts_known &= d->threshold_ns != 0;
}

int diff_make(struct diff *d, const struct view *const *views, uint32_t n)
{
	int err;

	memset(d, 0, sizeof(*d));
	d->n = n;
	d->traced = d->same_cpus = true;
	for (uint32_t k = 0; k < n; k++)
		take_view(d, k, views[k]);
	take_thresholds(d);
	if (!d->high_ns)
		d->low_ns = d->high_ns = LOW_LEAST_NS;
	err = compare_totals(d);
	if (!err && d->traced)
		err = compare_sources(d);
	return err ? err : diff_environment(d);
}

void diff_free(struct diff *d)
{
	for (uint32_t i = 0; d->row && i < d->rows; i++)
		free(d->row[i].function);
	for (uint32_t i = 0; i < d->facts; i++) {
		free(d->fact[i].what);
		for (uint32_t k = 0; k < d->n; k++)
			free(d->fact[i].value[k]);
	}
	free(d->row);
	free(d->fact);
	memset(d, 0, sizeof(*d));
}
