/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares the sides: all hiccups first, then the list of all sources, row by row. One histogram
 * for each recording of a side is enough, because a cell keeps only the values that are asked of
 * it. */
#include "model/diff_cell.h"
#include "model/diff_list.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOW_LEAST_NS 10 /* shorter ones are in the first bin, too */

/* ---- what counts ---- */

bool diff_counts(const struct view *v, uint32_t index)
{
	return v->run.watch ? view_lost(v, index) >= 0 : !v->run.holes || v->run.windows;
}

uint32_t diff_left_out(const struct view *v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->ncpus; i++)
		n += !diff_counts(v, i);
	return n;
}

uint64_t diff_observed_ns(const struct view *v)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < v->ncpus; i++)
		ns += diff_counts(v, i) ? v->cpu[i].observed_ns : 0;
	return ns;
}

/* ---- all hiccups ---- */

/* Computes a side's cell from the tallies of its recordings. */
static struct sums take_side(const struct diff *d, uint32_t k, struct tallies *t,
			     struct diff_cell *c)
{
	for (uint32_t i = 0; i < d->side[k].n; i++)
		tally_add(&t->all, &t->one[i]);
	cell_fill(d, c, &t->all, d->seconds[k]);
	return cell_weigh(t->one, &d->side[k]);
}

static void tally_view(struct diff *d, uint32_t k, const struct view *v, struct tally *t)
{
	for (uint32_t i = 0; i < v->ncpus; i++) {
		const struct cpu *c = &v->cpu[i];

		if (!diff_counts(v, i))
			continue;
		hist_merge(&t->net, &c->hiccups);
		slices_merge(&t->slices, &c->slices);
		t->count += c->hiccups.count;
		t->hiccups += c->hiccups.count;
		t->lost += c->hiccups_lost;
		t->lost_ns += c->hiccups_lost_ns;
		d->attributed_ns[k] += c->attributed_ns;
		d->edge_ns[k] += c->edge_ns;
		d->lost_ns[k] += c->lost_ns;
		d->outside_ns[k] += c->outside_ns;
		d->host_ns[k] += c->host_ns;
	}
}

static int compare_totals(struct diff *d)
{
	struct tallies *t = tallies_new(d, d->view[0]->cpu[0].hiccups.bits);
	struct sums sums[DIFF_FILES];

	if (!t)
		return -ENOMEM;
	for (uint32_t k = 0; k < d->n; k++) {
		tallies_clear(t);
		for (uint32_t i = 0; i < d->side[k].n; i++)
			tally_view(d, k, d->side[k].view[i], &t->one[i]);
		sums[k] = take_side(d, k, t, &d->total[k]);
	}
	cells_compare(d, d->total, sums, 1);
	tallies_free(t);
	return 0;
}

/* ---- sources ---- */

static int by_rank(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;

	if (x->changed != y->changed)
		return x->changed ? -1 : 1;
	if (x->unclear != y->unclear)
		return x->unclear ? -1 : 1;
	if (x->rank_ns != y->rank_ns)
		return x->rank_ns < y->rank_ns ? 1 : -1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->kernel_thread != y->kernel_thread)
		return x->kernel_thread ? -1 : 1;
	return strcmp(x->name, y->name) ? strcmp(x->name, y->name)
					: diff_function_order(x->function, y->function);
}

static void rank_row(const struct diff *d, struct diff_row *row)
{
	for (uint32_t k = 1; k < d->n; k++) {
		cell_doubt(d, &row->cell[k], k, kind_is_interval(row->kind));
		row->changed |= row->cell[k].verdict > DIFF_UNCLEAR;
		row->unclear |= row->cell[k].verdict == DIFF_UNCLEAR;
	}
	row->unclear &= !row->changed;
	for (uint32_t k = 0; k < d->n; k++) {
		const struct diff_cell *c = &row->cell[k];
		double change = fabs(c->ns_per_s - row->cell[0].ns_per_s);

		row->rank_ns =
			fmax(row->rank_ns, row->changed || row->unclear ? change : c->ns_per_s);
	}
}

static void add_source(struct tally *t, const struct source *s)
{
	hist_merge(&t->net, &s->net);
	slices_merge(&t->slices, &s->slices);
	t->count += s->count;
	t->hiccups += s->hiccups;
}

/* Fills a row from the entries of its name, which begin at *at and are in the order of sides. */
static int fill_row(struct diff *d, struct diff_row *row, const struct diff_entry **at,
		    const struct diff_entry *end, struct tallies *t)
{
	const struct diff_entry *first = *at;
	struct sums sums[DIFF_FILES];

	row->kind = first->kind;
	row->kernel_thread = first->kernel_thread;
	row->rest = first->rest;
	memcpy(row->name, first->name, sizeof(row->name));
	if (first->function &&
	    !(row->function = strndup(first->function, diff_function_len(first->function))))
		return -ENOMEM;
	for (uint32_t k = 0; k < d->n; k++) {
		tallies_clear(t);
		for (; *at < end && (*at)->side == k && !diff_same_row(*at, first); ++*at)
			add_source(&t->one[(*at)->at], (*at)->source);
		sums[k] = take_side(d, k, t, &row->cell[k]);
	}
	cells_compare(d, row->cell, sums, d->rows);
	rank_row(d, row);
	return 0;
}

static int compare_rows(struct diff *d, const struct diff_entry *entry, uint32_t n)
{
	const struct diff_entry *at = entry, *end = entry + n;
	struct tallies *t = tallies_new(d, n ? entry[0].source->net.bits : 1);
	int err;

	for (uint32_t i = 0; i < n; i++)
		d->rows += !i || diff_same_row(&entry[i - 1], &entry[i]);
	d->row = calloc(d->rows + 1, sizeof(*d->row));
	err = d->row && t ? 0 : -ENOMEM;
	for (uint32_t i = 0; !err && i < d->rows; i++)
		err = fill_row(d, &d->row[i], &at, end, t);
	tallies_free(t);
	if (!err)
		qsort(d->row, d->rows, sizeof(*d->row), by_rank);
	return err;
}

static int compare_sources(struct diff *d)
{
	struct diff_entry *entry = calloc(diff_count_sources(d) + 1, sizeof(*entry));
	int err = entry ? compare_rows(d, entry, diff_list_sources(d, entry)) : -ENOMEM;

	free(entry);
	return err;
}

/* Returns the bits of the histograms of sources, which are all alike. */
static unsigned source_bits(const struct diff *d)
{
	for (uint32_t k = 0; k < d->n; k++)
		for (uint32_t r = 0; r < d->side[k].n; r++)
			for (uint32_t i = 0; i < d->side[k].view[r]->ncpus; i++)
				if (d->side[k].view[r]->cpu[i].sources.count)
					return d->side[k].view[r]->cpu[i].sources.row[0]->net.bits;
	return 1;
}

int diff_together(const struct diff *d,
		  bool (*asked)(void *ctx, const struct view *v, const struct source *s), void *ctx,
		  struct diff_cell cell[DIFF_FILES])
{
	struct tallies *t = tallies_new(d, source_bits(d));
	struct sums sums[DIFF_FILES];
	bool kinds[2] = {false}; /* sources in no record, and in records, are asked about */

	memset(cell, 0, DIFF_FILES * sizeof(*cell));
	if (!t)
		return -ENOMEM;
	for (uint32_t k = 0; k < d->n; k++) {
		tallies_clear(t);
		for (uint32_t r = 0; r < d->side[k].n; r++) {
			const struct view *v = d->side[k].view[r];

			for (uint32_t i = 0; i < v->ncpus; i++)
				for (uint32_t n = 0; n < v->cpu[i].sources.count; n++) {
					const struct source *s = v->cpu[i].sources.row[n];

					if (!diff_counts(v, i) || !asked(ctx, v, s))
						continue;
					kinds[kind_is_interval(s->kind)] = true;
					add_source(&t->one[r], s);
				}
		}
		sums[k] = take_side(d, k, t, &cell[k]);
	}
	cells_compare(d, cell, sums, 0);
	for (uint32_t k = 1; k < d->n; k++)
		for (int interval = 0; interval < 2; interval++)
			if (kinds[interval])
				cell_doubt(d, &cell[k], k, interval);
	tallies_free(t);
	return 0;
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
	struct cpus more = a->run.cpus, less = b->run.cpus;

	cpus_sub(&more, &b->run.cpus);
	cpus_sub(&less, &a->run.cpus);
	return cpus_empty(&more) && cpus_empty(&less);
}

static void take_losses(const struct view *v, struct diff_lossy *lossy)
{
	uint64_t records = 0, lost = 0, hiccups = 0, unread = 0;

	for (uint32_t i = 0; i < v->ncpus; i++) {
		if (!diff_counts(v, i))
			continue;
		records += v->cpu[i].counts.seen;
		lost += v->cpu[i].counts.lost;
		hiccups += v->cpu[i].hiccups.count;
		unread += v->cpu[i].hiccups_lost;
	}
	lossy->records |= lost > (records + lost) / 100;
	lossy->hiccups |= unread > (hiccups + unread) / 100;
}

static void take_view(struct diff *d, uint32_t k, const struct view *v)
{
	take_losses(v, &d->lossy[k]);
	d->traced &= v->run.traced;
	d->same_cpus &= cpus_alike(d->view[0], v);
	d->seconds[k] += diff_observed_ns(v) / 1e9;
	for (uint32_t i = 0; i < v->ncpus; i++) {
		const struct sources *t = &v->cpu[i].sources;

		if (!diff_counts(v, i))
			continue;
		widen(d, &v->cpu[i].hiccups);
		for (uint32_t r = 0; r < t->count; r++)
			widen(d, &t->row[r]->net);
	}
}

/* The recording with the earliest begin after that of `after`; NULL: none. */
static const struct view *next_begun(const struct diff_side *s, const char *after)
{
	const struct view *next = NULL;

	for (uint32_t i = 0; i < s->n; i++)
		if (strcmp(s->view[i]->run.started, after) > 0 &&
		    (!next || strcmp(s->view[i]->run.started, next->run.started) < 0))
			next = s->view[i];
	return next;
}

/* Two recordings a side or more, and time goes from one side to the other as often as the smaller
 * one has recordings: drift does not coincide with the change. */
static bool alternate(const struct diff_side *a, const struct diff_side *b)
{
	const char *at = "";
	uint32_t changes = 0, least = a->n < b->n ? a->n : b->n;
	int last = -1;

	for (;;) {
		const struct view *x = next_begun(a, at), *y = next_begun(b, at);
		int side = !x || (y && strcmp(y->run.started, x->run.started) < 0);

		if (!x && !y)
			break;
		changes += last >= 0 && side != last;
		last = side;
		at = side ? y->run.started : x->run.started;
	}
	return least > 1 && changes >= least;
}

static void take_sides(struct diff *d, const struct diff_side *side, uint32_t n)
{
	d->n = n;
	for (uint32_t k = 0; k < n; k++) {
		d->side[k] = side[k];
		d->view[k] = side[k].view[0];
		for (uint32_t i = 0; i < side[k].n; i++)
			take_view(d, k, side[k].view[i]);
		d->in_turn[k] = k && alternate(&side[0], &side[k]);
	}
}

/* Takes the thresholds of hiccups and of short gaps. */
static void take_thresholds(struct diff *d)
{
	uint64_t from_ns = d->view[0]->cpu[0].shorts.from_ns;

	d->threshold_ns = d->view[0]->cpu[0].threshold_ns;
	d->shorts_known = true;
	for (uint32_t k = 0; k < d->n; k++)
		for (uint32_t r = 0; r < d->side[k].n; r++)
			for (uint32_t i = 0; i < d->side[k].view[r]->ncpus; i++) {
				const struct cpu *c = &d->side[k].view[r]->cpu[i];

				d->thresholds_differ |= c->threshold_ns != d->threshold_ns;
				d->raised |= c->measured_from_ns != 0;
				d->shorts_known &= c->shorts.known && c->shorts.from_ns == from_ns;
				d->short_ns[k] += c->shorts.total_ns;
			}
	d->shorts_known &= !d->thresholds_differ;
}

int diff_make(struct diff *d, const struct diff_side *side, uint32_t n, double between)
{
	int err;

	memset(d, 0, sizeof(*d));
	d->traced = d->same_cpus = true;
	d->between = between;
	take_sides(d, side, n);
	take_thresholds(d);
	if (!d->high_ns)
		d->low_ns = d->high_ns = LOW_LEAST_NS;
	err = diff_take_series(d);
	if (!err)
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
	for (uint32_t k = 0; k < d->n; k++)
		free(d->unlike[k]);
	free(d->row);
	free(d->fact);
	diff_free_series(d);
	memset(d, 0, sizeof(*d));
}
