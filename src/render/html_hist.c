/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lengths of hiccups: a histogram for each CPU, stacked by kind, lengths and counts both on log
 * axes, so that one hiccup of a millisecond shows beside a million of a microsecond. And the same
 * of all values of a workload's series, where those that the report explains stand out. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/escape.h"
#include "base/units.h"
#include "render/html.h"

#define WIDTH  1200
#define HEIGHT 400
#define BINS   64
#define FLOOR  0.5 /* count at the foot of the axis, so that a single hiccup has a height, too */

struct axes {
	const struct html *h;
	const struct hist *hist;
	const struct lengths *lengths; /* with the time in them by kind; NULL: not known */
	uint64_t per_ns;               /* values per nanosecond */
	uint64_t beyond;               /* values from here on are outliers; 0: none are set apart */
	double low, octaves;           /* log2 of the shortest length, and the extent of the axis */
	double tallest;                /* largest count */
	uint64_t bin[BINS];
};

static double x_of(const struct axes *a, uint64_t value)
{
	return (log2(value ? value : 1) - a->low) / a->octaves;
}

static double y_of(const struct axes *a, double count)
{
	return log(count / FLOOR) / log(a->tallest / FLOOR);
}

/* Makes a bin at least as wide as a bucket, or there would be gaps. */
static void fill(struct axes *a)
{
	const struct hist *h = a->hist;
	double least = BINS * exp2(-(double)h->bits);

	a->low = log2(h->min ? h->min : 1);
	a->octaves = (log2(h->max ? h->max : 1) - a->low) * 1.02 + 0.05;
	if (a->octaves < least) {
		a->low -= (least - a->octaves) / 2;
		a->octaves = least;
	}
	for (uint32_t i = hist_next(h, 0); i < h->nbuckets; i = hist_next(h, i + 1)) {
		uint64_t ns = hist_lowest(h, i) < h->min ? h->min : hist_lowest(h, i);
		int bin = x_of(a, ns) * BINS;

		bin = bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin;
		a->bin[bin] += hist_at(h, i);
		if (a->bin[bin] > a->tallest)
			a->tallest = a->bin[bin];
	}
	a->tallest *= 1.1;
}

/* The rows of the lengths are the bins. */
static void fill_lengths(struct axes *a)
{
	const struct lengths *l = a->lengths;
	double low = lengths_from(&l->row[0]);

	a->low = log2(low > 1 ? low : 1);
	a->octaves = fmax((log2(lengths_to(&l->row[l->n - 1])) - a->low) * 1.02, 0.5);
	for (uint32_t i = 0; i < l->n; i++)
		a->tallest = fmax(a->tallest, l->row[i].count);
	a->tallest *= 1.1;
}

static unsigned part_of(const struct length_row *r, unsigned kinds, unsigned height)
{
	uint64_t below = 0, all = 0;

	for (unsigned i = 0; i < TIMELINE_KINDS; i++) {
		all += r->lost_ns[kind_legend[i]];
		below += i < kinds ? r->lost_ns[kind_legend[i]] : 0;
	}
	return all ? height * ((double)below / (double)all) + 0.5 : 0;
}

/* A bar's kinds share its height as they share the time of its hiccups. */
static void write_kind_bars(const struct axes *a, unsigned kind)
{
	FILE *out = a->h->out;
	bool some = false;

	for (const struct length_row *r = a->lengths->row; r < a->lengths->row + a->lengths->n;
	     r++) {
		unsigned height = HEIGHT * y_of(a, r->count) + 0.5, low = part_of(r, kind, height),
			 high = part_of(r, kind + 1, height),
			 x = fmax(WIDTH * x_of(a, lengths_from(r)), 0) + 0.5,
			 to = WIDTH * (log2(lengths_to(r)) - a->low) / a->octaves + 0.5,
			 width = to > x + 1 ? to - x : 1;

		if (high == low)
			continue;
		fprintf(out, "%sM%u %uh%uv%uh-%uz", some ? "" : "<path d=\"", x, HEIGHT - high,
			width, high - low, width);
		some = true;
	}
	if (some)
		fprintf(out, "\" class=\"kind k-%s\"/>\n", html_class(kind_legend[kind]));
}

static void write_bars(const struct axes *a, unsigned from, unsigned to, const char *class)
{
	FILE *out = a->h->out;

	if (from >= to)
		return;
	fprintf(out, "<path class=\"bars%s\" d=\"", class);
	for (unsigned i = from; i < to; i++) {
		unsigned x = WIDTH * i / BINS, width = WIDTH * (i + 1) / BINS - x;
		unsigned height = a->bin[i] ? HEIGHT * y_of(a, a->bin[i]) + 0.5 : 0;

		if (a->bin[i])
			fprintf(out, "M%u %uh%uv%uh-%uz", x, HEIGHT - height, width, height, width);
	}
	fputs("\"/>\n", out);
}

/* Powers of ten; 2 and 5 between them while there are few. */
static void write_counts(const struct axes *a)
{
	FILE *out = a->h->out;

	for (uint64_t ten = 1; ten <= a->tallest; ten *= 10)
		for (unsigned m = 1; m <= (a->tallest < 20 ? 5 : 1); m += m == 1 ? 1 : 3)
			if (m * ten <= a->tallest) {
				fprintf(out, "<span style=\"bottom:%.1f%%\">",
					100 * y_of(a, m * ten));
				html_count(out, m * ten);
				fputs("</span>", out);
			}
}

static void length_tick(const struct axes *a, uint64_t value, uint64_t unit)
{
	double x = x_of(a, value);

	if (x < 0 || x > 1)
		return;
	if (a->per_ns == 1 || unit >= a->per_ns * NSEC_PER_USEC)
		html_tick(a->h->out, 100 * x, value / a->per_ns, unit / a->per_ns);
	else
		html_tick_ns(a->h->out, 100 * x, (double)value / a->per_ns);
}

#define BETWEEN 8 /* octaves: on more, 100, 200 and 500 would run into each other */

/* Powers of ten, with 2 and 5 between them while they are few, and round lengths where they are far
 * apart. */
static void write_lengths(const struct axes *a)
{
	uint64_t low = exp2(a->low), high = exp2(a->low + a->octaves),
		 step = html_step(high - low + 1, 5);

	fputs("<div class=\"axis\">", a->h->out);
	for (uint64_t ten = 1, i = 0; i < 19 && a->octaves > 3; ten *= 10, i++) {
		length_tick(a, ten, ten);
		if (a->octaves > BETWEEN)
			continue;
		length_tick(a, 2 * ten, ten);
		length_tick(a, 5 * ten, ten);
	}
	for (uint64_t at = low / step * step; at <= high && a->octaves <= 3; at += step)
		length_tick(a, at, at >= 10 * step ? 10 * step : step);
	fputs("</div>", a->h->out);
}

static void write_marker(const struct axes *a, unsigned row, const char *what, uint64_t value)
{
	double x = x_of(a, value);

	fprintf(a->h->out, "<span class=\"mark r%u%s\" style=\"left:%.2f%%\">%s ", row,
		x > 0.6 ? " left" : "", 100 * x, what);
	if (a->per_ns == 1)
		html_ns(a->h->out, value);
	else
		html_ps(a->h->out, value);
	fputs("</span>", a->h->out);
}

/* Writes bars, marks and axes. what: read out where nobody sees it. */
static void write_chart(struct axes *a, uint32_t index, const char *what)
{
	FILE *out = a->h->out;
	double x;
	int beyond;

	if (a->lengths)
		fill_lengths(a);
	else
		fill(a);
	x = a->beyond ? x_of(a, a->beyond) : 1;
	beyond = x <= 0 ? 0 : x >= 1 ? BINS : ceil(x * BINS);
	fputs("<div class=\"chart\"><div class=\"counts\">", out);
	write_counts(a);
	fprintf(out,
		"</div><div class=\"field\"><svg viewBox=\"0 0 %d %d\" "
		"preserveAspectRatio=\"none\" role=\"img\" aria-label=\"%s, of ",
		WIDTH, HEIGHT, what);
	html_lane(out, a->h->view, index);
	fputs("\">", out);
	for (unsigned i = 0; i < TIMELINE_KINDS && a->lengths; i++)
		write_kind_bars(a, i);
	write_bars(a, 0, a->lengths ? 0 : beyond, "");
	write_bars(a, beyond, a->lengths ? 0 : BINS, " beyond");
	fputs("</svg>", out);
	write_marker(a, 0, "median", hist_percentile(a->hist, 50));
	write_marker(a, 1, "p99", hist_percentile(a->hist, 99));
	write_marker(a, 2, "worst", a->hist->max);
	if (x > 0 && x < 1)
		write_marker(a, 3, a->h->view->run.traced ? "explained from" : "outliers from",
			     a->beyond);
	fputs("</div>", out);
	write_lengths(a);
	fputs("</div></figure>\n", out);
}

/* True when the time by kind is known of all of its hiccups. */
static bool has_lengths(const struct cpu *c)
{
	return c->lengths.n && c->lengths.count == c->hiccups.count;
}

static void write_histogram(const struct html *h, uint32_t index, struct axes *a)
{
	const struct cpu *c = &h->view->cpu[index];

	*a = (struct axes){.h = h, .hist = &c->hiccups, .per_ns = 1};
	if (has_lengths(c))
		a->lengths = &c->lengths;
	fputs("<figure><figcaption><h3>", h->out);
	html_one_of(h->out, h->view, index);
	fputs("</h3> ", h->out);
	html_count(h->out, c->hiccups.count);
	fprintf(h->out, " %s%s</figcaption>", html_windows(h->view) ? "window" : "hiccup",
		plural(c->hiccups.count));
	write_chart(a, index, "how many were how long");
}

static void write_series(const struct html *h, uint32_t index, const struct series *s,
			 struct axes *a)
{
	*a = (struct axes){.h = h, .hist = &s->hist, .per_ns = s->fine ? 1000 : 1};
	a->beyond = s->threshold_ns * a->per_ns;
	fputs("<figure><figcaption><h3>", h->out);
	html_name_n(h->out, s->name, sizeof(s->name));
	fputs("</h3> ", h->out);
	html_lane(h->out, h->view, index);
	fputs(", ", h->out);
	html_count(h->out, s->hist.count);
	fprintf(h->out, " value%s</figcaption>", plural(s->hist.count));
	write_chart(a, index, "how many values were how large");
}

/* All series of a CPU as lines. */
static void series_percentiles(const struct html *h, uint32_t index)
{
	const struct cpu *c = &h->view->cpu[index];
	struct html_line *line = calloc(c->nseries + 1, sizeof(*line));
	uint32_t n = 0;

	for (uint32_t k = 0; line && k < c->nseries; k++) {
		const struct series *s = &c->series[k];

		if (!s->hist.count)
			continue;
		line[n].hist = &s->hist;
		line[n].fine = s->fine;
		escape_text(s->name, sizeof(s->name), line[n].name, sizeof(line[n].name));
		n++;
	}
	html_percentiles(h, index, line, n);
	free(line);
}

/* Hiccups of all CPUs as lines. */
static void hiccup_percentiles(const struct html *h)
{
	struct html_line *line = calloc(h->view->ncpus + 1, sizeof(*line));
	char lane[LANE_NAME];
	uint32_t n = 0;

	for (uint32_t i = 0; line && i < h->view->ncpus; i++) {
		if (!h->view->cpu[i].hiccups.count || !group_detailed(h->view, i))
			continue;
		line[n].hist = &h->view->cpu[i].hiccups;
		escape_text(view_lane(h->view, i, lane), SIZE_MAX, line[n].name,
			    sizeof(line[n].name));
		n++;
	}
	html_percentiles(h, h->view->ncpus, line, n);
	free(line);
}

/* Some values are outliers: those of processes that move are not. */
static bool has_outliers(const struct view *v)
{
	for (uint32_t i = 0; i < v->ncpus; i++)
		for (uint32_t k = 0; k < v->cpu[i].nseries; k++)
			if (v->cpu[i].series[k].hist.count && v->cpu[i].series[k].threshold_ns)
				return true;
	return false;
}

void html_series_histograms(const struct html *h)
{
	struct axes *a = malloc(sizeof(*a));

	if (!a)
		return;
	fprintf(h->out, "<p class=\"say\">All values, on two logarithmic axes.%s%s</p>\n",
		!has_outliers(h->view)
			? ""
			: " In another colour: from the threshold on, where a value is an outlier",
		!has_outliers(h->view) ? ""
		: h->view->run.traced  ? " and what follows explains it."
				       : ".");
	for (uint32_t i = 0; i < h->view->ncpus; i++) {
		const struct cpu *c = &h->view->cpu[i];

		if (!group_detailed(h->view, i) || !series_first(c->series, c->nseries))
			continue;
		fputs("<div class=\"histograms\">\n", h->out);
		for (uint32_t k = 0; k < c->nseries; k++)
			if (c->series[k].hist.count) {
				write_series(h, i, &c->series[k], a);
				html_course(h, i, &c->series[k]);
			}
		series_percentiles(h, i);
		fputs("</div>\n", h->out);
	}
	free(a);
}

void html_histograms(const struct html *h)
{
	struct axes *a = malloc(sizeof(*a));
	bool kinds = false;

	if (!a)
		return;
	for (uint32_t i = 0; i < h->view->ncpus; i++)
		kinds |= has_lengths(&h->view->cpu[i]) && group_detailed(h->view, i);
	fprintf(h->out,
		"<h2>How long %s were</h2>\n<p class=\"say\">How many were how long%s, on two "
		"logarithmic axes.",
		html_windows(h->view) ? "slow windows" : "hiccups",
		html_windows(h->view) ? ", of those above the threshold" : "");
	if (kinds && h->view->run.traced)
		fprintf(h->out,
			" The colours share a bar’s height as the kinds share the time of its %s: "
			"the tail shows who made it.",
			html_windows(h->view) ? "windows" : "hiccups");
	fputs("</p>\n", h->out);
	if (kinds)
		html_legend(h);
	fputs("<div class=\"histograms\">\n", h->out);
	for (uint32_t i = 0; i < h->view->ncpus; i++)
		if (h->view->cpu[i].hiccups.count && group_detailed(h->view, i))
			write_histogram(h, i, a);
	hiccup_percentiles(h);
	fputs("</div>\n", h->out);
	free(a);
}
