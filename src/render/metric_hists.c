/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The histograms of the metrics. Buckets are powers of two of a nanosecond, where those of struct
 * hist end, too: so their counts are exact, but for values of just that length, which may stand in
 * the next one. Those of workloads, which are written once, are asked for their longest value, too:
 * where it grows as a run goes on, a count would fall. */
#include <stdio.h>

#include "base/units.h"
#include "render/metric.h"

#define BUCKET_FIRST        8  /* end of the first bucket: 2^8 ns */
#define BUCKET_LAST         30 /* end of the last bucket but +Inf: 2^30 */
#define BUCKET_FIRST_SERIES 0  /* a workload's operations may take few ns */

struct buckets {
	/* Not longer than 2^n ns, where buckets of struct hist end, too. */
	uint64_t below[BUCKET_LAST + 1];
	uint64_t count, sum; /* sum in ns */
	bool fine;           /* values and sum are in ps */
	/* Labels of its owner, of which NULL has none. Without a kind that of a part, too. */
	uint32_t part;
	const char *kind, *series;
};

static void add_hist(struct buckets *b, const struct hist *h)
{
	uint64_t unit = b->fine ? 1000 : 1;

	b->count += h->count;
	b->sum += h->sum;
	for (uint32_t i = hist_next(h, 0); i < h->nbuckets; i = hist_next(h, i + 1))
		for (int n = 0; n <= BUCKET_LAST; n++)
			if (hist_highest(h, i) <= unit << n || (b->fine && h->max <= unit << n))
				b->below[n] += hist_at(h, i);
}

static void label_hist(struct metrics *m, const struct buckets *b)
{
	if (b->kind)
		metric_label(m, "kind", b->kind);
	else
		metric_lane(m, b->part);
	if (b->series)
		metric_label(m, "series", b->series);
}

/* first: the end of the first bucket, a power of two. */
static void write_hist(struct metrics *m, const struct family *f, const struct buckets *b,
		       int first)
{
	char le[32];

	for (int n = first; n <= BUCKET_LAST + 1; n++) {
		snprintf(le, sizeof(le), "%.10g", (double)(UINT64_C(1) << n) / NSEC_PER_SEC);
		metric_begin(m, f->name, "_bucket");
		label_hist(m, b);
		metric_label(m, "le", n > BUCKET_LAST ? "+Inf" : le);
		metric_value(m, n > BUCKET_LAST ? b->count : b->below[n], false);
	}
	metric_begin(m, f->name, "_sum");
	label_hist(m, b);
	metric_value(m, b->fine ? (b->sum + 500) / 1000 : b->sum, true);
	metric_begin(m, f->name, "_count");
	label_hist(m, b);
	metric_value(m, b->count, false);
}

void metric_hiccups(struct metrics *m, const struct family *f)
{
	const struct leaders *s = m->leaders;

	for (uint32_t part = 0; part < s->n; part++) {
		struct buckets b = {.part = part};

		for (uint32_t i = leaders_lane(s, part, 0); i < s->lanes;
		     i = leaders_lane(s, part, i + 1))
			add_hist(&b, &m->view->cpu[i].hiccups);
		write_hist(m, f, &b, BUCKET_FIRST);
	}
}

/* Writes what a workload measured: all values of each series that has some. A workload's CPUs have
 * the same series, in the same order. */
void metric_series(struct metrics *m, const struct family *f)
{
	const struct leaders *s = m->leaders;

	for (uint32_t part = 0; part < s->n; part++)
		for (uint32_t k = 0; k < SERIES_MAX; k++) {
			struct buckets b = {.part = part};

			for (uint32_t i = leaders_lane(s, part, 0); i < s->lanes;
			     i = leaders_lane(s, part, i + 1)) {
				const struct cpu *c = &m->view->cpu[i];

				if (k >= c->nseries)
					continue;
				b.series = c->series[k].name;
				b.fine = c->series[k].fine;
				add_hist(&b, &c->series[k].hist);
			}
			if (b.count)
				write_hist(m, f, &b, BUCKET_FIRST_SERIES);
		}
}

void metric_kinds(struct metrics *m, const struct family *f)
{
	struct buckets b[SOURCE_KINDS] = {0};

	for (uint32_t i = 0; i < m->view->ncpus; i++) {
		const struct sources *t = &m->view->cpu[i].sources;

		for (uint32_t k = 0; k < t->count; k++)
			add_hist(&b[t->row[k]->kind], &t->row[k]->net);
	}
	for (int k = 0; k < SOURCE_KINDS; k++) {
		if (k == SOURCE_THROTTLED && !m->view->run.watch)
			continue; /* only watched threads are */
		if (k == SOURCE_EXIT && !m->view->run.exits)
			continue;
		if (k == SOURCE_HOST && !m->view->host_side)
			continue;
		b[k].kind = source_kind_name(k);
		write_hist(m, f, &b[k], BUCKET_FIRST);
	}
}
