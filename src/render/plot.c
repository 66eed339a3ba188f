/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts that all forms of a plot share, the table, and JSON. */
#include "render/plot.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/table.h"
#include "base/units.h"

#define SPREAD 100 /* largest by least: with more an axis is logarithmic */

/* ---- values over time ---- */

void surface_init(struct surface *s)
{
	memset(s, 0, sizeof(*s));
	s->column_ns = 100 * NSEC_PER_USEC;
}

static void widen(struct surface *s)
{
	for (unsigned i = 0; i < SURFACE_COLUMNS / 2; i++)
		for (unsigned row = 0; row < SURFACE_ROWS; row++)
			s->cell[i][row] = s->cell[2 * i][row] + s->cell[2 * i + 1][row];
	memset(s->cell[SURFACE_COLUMNS / 2], 0, sizeof(s->cell) / 2);
	s->column_ns *= 2;
	s->columns = (s->columns + 1) / 2;
}

void surface_add(struct surface *s, uint64_t at_ns, uint64_t value_ns)
{
	unsigned row = value_ns ? 8 * log2(value_ns) : 0;
	uint64_t column;

	while (at_ns / s->column_ns >= SURFACE_COLUMNS)
		widen(s);
	column = at_ns / s->column_ns;
	s->cell[column][row < SURFACE_ROWS ? row : SURFACE_ROWS - 1]++;
	if (column >= s->columns)
		s->columns = column + 1;
}

bool plot_rows(const struct plot *p, unsigned *first, unsigned *last)
{
	*first = SURFACE_ROWS;
	*last = 0;
	for (uint32_t i = 0; i < p->nfiles; i++)
		for (uint64_t k = 0; k < p->file[i].surface->columns; k++)
			for (unsigned row = 0; row < SURFACE_ROWS; row++)
				if (p->file[i].surface->cell[k][row]) {
					*first = row < *first ? row : *first;
					*last = row > *last ? row : *last;
				}
	return *first <= *last;
}

double plot_row_ns(unsigned row)
{
	return exp2(row / 8.0);
}

/* ---- histograms ---- */

double plot_percentile(const struct plot_file *f, double p)
{
	return hist_percentile(&f->hist, p) / (f->fine ? 1000.0 : 1);
}

double plot_ns(const struct plot_file *f, uint64_t value)
{
	return value / (f->fine ? 1000.0 : 1);
}

static void find_range(const struct plot *p, struct plot_bins *b)
{
	b->low_ns = INFINITY;
	for (uint32_t i = 0; i < p->nfiles; i++) {
		const struct plot_file *f = &p->file[i];
		if (!f->hist.count)
			continue;
		b->low_ns = fmin(b->low_ns, plot_ns(f, f->hist.min));
		b->high_ns = fmax(b->high_ns, plot_ns(f, f->hist.max) * (p->log_x ? 1.05 : 1.02));
	}
	if (!(b->high_ns > 0)) {
		b->low_ns = 1;
		b->high_ns = 1000;
	}
	if (p->log_x)
		b->low_ns = fmax(b->low_ns * 0.95, 0.01);
	else if (b->low_ns < b->high_ns / 3)
		b->low_ns = 0;
	else
		b->low_ns *= 0.98;
	if (b->high_ns < b->low_ns * 1.01 + 0.01)
		b->high_ns = b->low_ns * 1.1 + 1;
}

static double bin_at(const struct plot *p, const struct plot_bins *b, double ns)
{
	double share = p->log_x ? log(fmax(ns, 1e-3) / b->low_ns) / log(b->high_ns / b->low_ns)
				: (ns - b->low_ns) / (b->high_ns - b->low_ns);

	return share * PLOT_BINS;
}

double plot_bin_ns(const struct plot *p, const struct plot_bins *b, unsigned i)
{
	double share = (double)i / PLOT_BINS;

	return p->log_x ? b->low_ns * pow(b->high_ns / b->low_ns, share)
			: b->low_ns + share * (b->high_ns - b->low_ns);
}

/* Spreads a bucket of the histogram over the bins that it lies in. */
static void spread(double *share, double from, double to, double percent)
{
	double width = to - from;

	if (from >= PLOT_BINS)
		return;
	for (int i = fmax(from, 0); i < PLOT_BINS && i < to; i++) {
		double part = fmin(to, i + 1) - fmax(from, i);

		share[i] += part > 0 && width > 0 ? percent * part / width : 0;
	}
}

bool plot_spreads(const struct plot *p)
{
	double low = INFINITY, high = 0;

	for (uint32_t i = 0; i < p->nfiles; i++)
		if (p->file[i].hist.count) {
			low = fmin(low, plot_ns(&p->file[i], p->file[i].hist.min));
			high = fmax(high, plot_ns(&p->file[i], p->file[i].hist.max));
		}
	return high > SPREAD * fmax(low, 0.01);
}

struct plot_point *plot_points(const struct plot_file *f, uint32_t *n)
{
	const struct hist *h = &f->hist;
	struct plot_point *point;
	uint64_t count = 0;
	uint32_t some = 2;

	for (uint32_t i = hist_next(h, 0); i < h->nbuckets; i = hist_next(h, i + 1))
		some++;
	point = h->count ? calloc(some, sizeof(*point)) : NULL;
	*n = 0;
	if (!point)
		return NULL;
	point[(*n)++] = (struct plot_point){1, plot_ns(f, h->min)};
	for (uint32_t i = hist_next(h, 0); i < h->nbuckets; i = hist_next(h, i + 1)) {
		uint64_t highest = hist_highest(h, i);

		count += hist_at(h, i);
		if (count < h->count)
			point[(*n)++] = (struct plot_point){(double)h->count / (h->count - count),
							    plot_ns(f, highest)};
	}
	point[(*n)++] = (struct plot_point){h->count, plot_ns(f, h->max)};
	return point;
}

void plot_bins_free(struct plot_bins *b)
{
	free(b->share);
	b->share = NULL;
}

int plot_bins(const struct plot *p, struct plot_bins *b)
{
	memset(b, 0, sizeof(*b));
	b->share = calloc(p->nfiles ? p->nfiles : 1, sizeof(*b->share));
	if (!b->share)
		return -ENOMEM;
	find_range(p, b);
	for (uint32_t i = 0; i < p->nfiles; i++) {
		const struct plot_file *f = &p->file[i];

		for (uint32_t k = hist_next(&f->hist, 0); k < f->hist.nbuckets;
		     k = hist_next(&f->hist, k + 1)) {
			double low = plot_ns(f, hist_lowest(&f->hist, k)),
			       high = plot_ns(f, hist_highest(&f->hist, k) + 1);

			low = fmax(low, plot_ns(f, f->hist.min));
			spread(b->share[i], bin_at(p, b, low),
			       fmax(bin_at(p, b, high), bin_at(p, b, low) + 1e-6),
			       100.0 * hist_at(&f->hist, k) / f->hist.count);
		}
		for (unsigned k = 0; k < PLOT_BINS; k++) {
			double share = b->share[i][k];

			b->most = fmax(b->most, share);
			/* a part of one value is less than 1 */
			if (share >= 50.0 / f->hist.count && (!b->least || share < b->least))
				b->least = share;
		}
	}
	if (!(b->most > 0))
		b->most = 1;
	if (!(b->least > 0) || b->least >= b->most)
		b->least = b->most / 100;
	return 0;
}

/* ---- table ---- */

char *plot_time(double ns, char *buf, size_t len)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {0, "ns"}};
	unsigned i = 0;

	while (ns < units[i].ns * 0.9995)
		i++;
	if (!(ns > 0))
		return strcpy(buf, "0");
	snprintf(buf, len, "%.3g %s", units[i].ns ? ns / units[i].ns : ns, units[i].name);
	return buf;
}

static const struct {
	const char *heading, *key;
	double p;
} figures[] = {{"min", "min_ns", 0},  {"median", "p50_ns", 50},   {"p90", "p90_ns", 90},
	       {"p99", "p99_ns", 99}, {"p99.9", "p999_ns", 99.9}, {"max", "max_ns", 100}};
#define NFIGURES (sizeof(figures) / sizeof(figures[0]))

static double figure(const struct plot_file *f, double p)
{
	if (!f->hist.count)
		return NAN;
	return p ? plot_percentile(f, p) : plot_ns(f, f->hist.min);
}

static void time_cell(struct table *t, const struct plot_file *f, double ns)
{
	char text[32];

	if (isnan(ns))
		table_cell(t, NULL, "-");
	else if (f->fine && ns < 100)
		table_cellf(t, NULL, "%.2f ns", ns);
	else
		table_cell(t, NULL, format_ns(ns + 0.5, text, sizeof(text)));
}

void plot_table(const struct plot *p, unsigned width, bool colour, FILE *out)
{
	struct table *t = table_new(width, 2);
	char text[512];

	if (!t)
		return;
	table_column(t, "count", ALIGN_RIGHT, false);
	for (unsigned k = 0; k < NFIGURES; k++)
		table_column(t, figures[k].heading, ALIGN_RIGHT, false);
	table_column(t, "of each file", ALIGN_LEFT, true);
	fprintf(out, "%s\n", escape_text(p->what, SIZE_MAX, text, sizeof(text)));
	for (uint32_t i = 0; i < p->nfiles; i++) {
		const struct plot_file *f = &p->file[i];

		table_cell(t, NULL, format_count(f->hist.count, text, sizeof(text)));
		for (unsigned k = 0; k < NFIGURES; k++)
			time_cell(t, f, figure(f, figures[k].p));
		table_cell(t, "1", escape_text(f->name, SIZE_MAX, text, sizeof(text)));
		table_end_row(t);
	}
	table_print(t, out, colour);
	table_free(t);
	if (p->percentiles)
		plot_braille(p, width, out);
	plot_bars(p, width, out);
}

/* ---- JSON ---- */

void plot_json(const struct plot *p, FILE *out)
{
	struct plot_bins b;
	struct json j;

	if (plot_bins(p, &b))
		return;
	json_init(&j, out);
	json_object(&j, NULL);
	json_string(&j, "schema", "culprit.plot/1");
	json_string(&j, "of", p->what);
	json_array_flat(&j, "bin_edges_ns");
	for (unsigned k = 0; k <= PLOT_BINS; k++)
		json_double(&j, NULL, plot_bin_ns(p, &b, k), 3);
	json_end(&j);
	json_array(&j, "files");
	for (uint32_t i = 0; i < p->nfiles; i++) {
		json_object(&j, NULL);
		json_string(&j, "file", p->file[i].path);
		json_string(&j, "label", p->file[i].label[0] ? p->file[i].label : NULL);
		json_u64(&j, "count", p->file[i].hist.count);
		for (unsigned k = 0; k < NFIGURES; k++)
			json_double(&j, figures[k].key, figure(&p->file[i], figures[k].p), 3);
		json_array_flat(&j, "percent");
		for (unsigned k = 0; k < PLOT_BINS; k++)
			json_double(&j, NULL, b.share[i][k], 6);
		json_end(&j);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	plot_bins_free(&b);
}
