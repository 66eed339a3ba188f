/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/diff_series.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/diff.h"

#define ALPHA      0.05
#define NEGLIGIBLE 0.01
#define MANY       1e6 /* degrees of freedom: the normal distribution */

static const struct {
	const char *name;
	double percent;
} figures[DIFF_FIGURES] = {[FIGURE_P50] = {"median", 50},
			   [FIGURE_P90] = {"p90", 90},
			   [FIGURE_P99] = {"p99", 99},
			   [FIGURE_P999] = {"p99.9", 99.9},
			   [FIGURE_MAX] = {"max", 100}};

const char *diff_figure_name(enum diff_figure figure)
{
	return figures[figure].name;
}

/* The values of one side: those of each recording, and all together. */
struct side_values {
	struct hist all;
	struct hist one[DIFF_RECORDINGS];
	uint32_t n; /* recordings with values */
};

/* ---- what there is ---- */

static bool is_listed(const struct diff *d, const char *name)
{
	for (uint32_t i = 0; i < d->nseries; i++)
		if (!strncmp(d->series[i].name, name, SERIES_NAME))
			return true;
	return false;
}

/* Adds the series that the list lacks. */
static int add_names(struct diff *d, const struct cpu *c)
{
	for (uint32_t i = 0; i < c->nseries; i++) {
		struct diff_series *more;

		if (!c->series[i].hist.count || is_listed(d, c->series[i].name))
			continue;
		more = realloc(d->series, (d->nseries + 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		d->series = more;
		more += d->nseries;
		memset(more, 0, sizeof(*more));
		memcpy(more->name, c->series[i].name, SERIES_NAME);
		more->fine = c->series[i].fine;
		more->count = calloc(d->n, sizeof(*more->count));
		more->side = calloc(d->n, sizeof(*more->side));
		d->nseries++; /* diff_free_series() takes it from here */
		if (!more->count || !more->side)
			return -ENOMEM;
	}
	return 0;
}

static int list_names(struct diff *d)
{
	int err = 0;

	for (uint32_t k = 0; k < d->n; k++)
		for (uint32_t r = 0; r < d->side[k].n; r++)
			for (uint32_t i = 0; i < d->side[k].view[r]->ncpus && !err; i++)
				err = add_names(d, &d->side[k].view[r]->cpu[i]);
	return err;
}

static void free_values(struct side_values *v)
{
	for (uint32_t r = 0; r < DIFF_RECORDINGS; r++)
		hist_free(&v->one[r]);
	hist_free(&v->all);
}

static int take_values(struct side_values *v, const struct diff_side *side,
		       const struct diff_series *s)
{
	memset(v, 0, sizeof(*v));
	if (hist_init(&v->all, SERIES_BITS))
		return -ENOMEM;
	for (uint32_t r = 0; r < side->n; r++) {
		struct hist *one = &v->one[v->n];

		if (!one->bits && hist_init(one, SERIES_BITS))
			return -ENOMEM;
		for (uint32_t i = 0; i < side->view[r]->ncpus; i++) {
			bool fine;
			const struct hist *h = cpu_values(&side->view[r]->cpu[i], s->name, &fine);

			/* A series that another workload measures in another unit is another. */
			if (h && h != &side->view[r]->cpu[i].hiccups && fine == s->fine)
				hist_merge(one, h);
		}
		hist_merge(&v->all, one);
		v->n += one->count != 0;
	}
	return 0;
}

/* ---- two sides ---- */

/* The logarithm of a value; 0 counts as half of the unit. */
static double log_of(uint64_t value)
{
	return log(value ? value : 0.5);
}

static double log_percentile(const struct hist *h, double percent)
{
	return log_of(hist_percentile(h, percent));
}

/* The mean of the recordings' logarithms. */
struct logs {
	double mean, variance /* variance of the mean */, low, high;
	uint32_t n;
};

static struct logs logs_of(const struct side_values *v, double percent)
{
	/* Rounding by a bucket, as an even distribution. */
	double rounded = exp2(-2.0 * SERIES_BITS) / 12, squares = 0;
	struct logs l = {.low = INFINITY, .high = -INFINITY, .n = v->n};

	for (uint32_t i = 0; i < v->n; i++) {
		double x = log_percentile(&v->one[i], percent);

		l.mean += x / v->n;
		l.low = fmin(l.low, x);
		l.high = fmax(l.high, x);
	}
	for (uint32_t i = 0; i < v->n; i++)
		squares += pow(log_percentile(&v->one[i], percent) - l.mean, 2);
	l.variance = (squares / (v->n - 1) + rounded) / v->n;
	return l;
}

static struct ratio ratio_in_turn(const struct side_values *before, const struct side_values *after,
				  double percent, double alpha)
{
	struct logs a = logs_of(before, percent), b = logs_of(after, percent);
	double v = a.variance + b.variance;
	double df =
		v * v / (a.variance * a.variance / (a.n - 1) + b.variance * b.variance / (b.n - 1));
	double half = sqrt(v * df * beta_odds(1 - alpha, 0.5, df / 2)), by = b.mean - a.mean;
	struct ratio r = {exp(by), exp(by - half), exp(by + half)};

	if (a.high >= b.low && r.low > 1)
		r.low = 1;
	if (b.high >= a.low && r.high < 1)
		r.high = 1;
	return r;
}

/* Distance by which the logarithm of the percentile may lie below and above what was seen. */
static void rank_widths(const struct hist *h, double percent, double z, double *below,
			double *above)
{
	double n = h->count, p = percent / 100, off = z * sqrt(n * p * (1 - p));
	double low = floor(n * p - off), high = ceil(n * p + off) + 1;
	double at = log_percentile(h, percent);

	*below = low < 1 ? INFINITY : at - log_percentile(h, 100 * low / n);
	*above = high > n ? INFINITY : log_percentile(h, 100 * high / n) - at;
}

static struct ratio ratio_by_rank(const struct hist *before, const struct hist *after,
				  double percent, double alpha)
{
	double z = sqrt(MANY * beta_odds(1 - alpha, 0.5, MANY / 2)), a[2], b[2];
	double by = log_percentile(after, percent) - log_percentile(before, percent);

	rank_widths(before, percent, z, &a[0], &a[1]);
	rank_widths(after, percent, z, &b[0], &b[1]);
	return (struct ratio){exp(by), exp(by - hypot(b[0], a[1])), exp(by + hypot(b[1], a[0]))};
}

/* factor: what two windows may differ by; 1 where recordings in turn tell it. */
static struct ratio ratio_to(const struct side_values *before, const struct side_values *after,
			     enum diff_figure figure, double factor, double alpha)
{
	double percent = figures[figure].percent;
	struct ratio r;

	if (factor == 0)
		return ratio_in_turn(before, after, percent, alpha);
	r = ratio_by_rank(&before->all, &after->all, percent, alpha);
	r.low /= factor;
	r.high *= factor;
	return r;
}

static int way(struct ratio r)
{
	if (r.low > 1 && r.value >= 1 + NEGLIGIBLE)
		return DIFF_WORSE;
	return r.high < 1 && r.value <= 1 / (1 + NEGLIGIBLE) ? DIFF_BETTER : DIFF_SAME;
}

static struct diff_value compare(const struct diff *d, const struct side_values *before,
				 const struct side_values *after, uint32_t k,
				 enum diff_figure figure)
{
	struct diff_value v = {
		hist_percentile(&after->all, figures[figure].percent), {NAN, 0, INFINITY}, -1};
	bool in_turn = d->in_turn[k] && before->n > 1 && after->n > 1;
	double factor = in_turn ? 0 : d->between, alpha = ALPHA / (d->nseries * DIFF_FIGURES);

	if (!k || !before->all.count || !after->all.count)
		return v;
	v.ratio = ratio_to(before, after, figure, factor, ALPHA);
	if (figure == FIGURE_MAX && !in_turn)
		return v;
	v.verdict = way(ratio_to(before, after, figure, factor, alpha));
	if (v.verdict == DIFF_SAME && factor > 1 &&
	    way(ratio_to(before, after, figure, 1, alpha)) != DIFF_SAME)
		v.verdict = DIFF_UNCLEAR;
	return v;
}

static int compare_series(struct diff *d, struct diff_series *s, struct side_values *before,
			  struct side_values *after)
{
	int err = take_values(before, &d->side[0], s);

	for (uint32_t k = 0; k < d->n && !err; k++) {
		err = take_values(after, &d->side[k], s);
		s->count[k] = after->all.count;
		for (int i = 0; i < DIFF_FIGURES && !err; i++)
			s->side[k][i] = compare(d, before, after, k, i);
		free_values(after);
	}
	free_values(before);
	return err;
}

int diff_take_series(struct diff *d)
{
	struct side_values *values = calloc(2, sizeof(*values));
	int err = values ? list_names(d) : -ENOMEM;

	for (uint32_t i = 0; i < d->nseries && !err; i++)
		err = compare_series(d, &d->series[i], &values[0], &values[1]);
	free(values);
	return err;
}

void diff_free_series(struct diff *d)
{
	for (uint32_t i = 0; i < d->nseries; i++) {
		free(d->series[i].count);
		free(d->series[i].side);
	}
	free(d->series);
}

bool diff_value_not_judged(const struct diff_value *v, double percent)
{
	return v->verdict < 0 && v->ratio.value > 1 + percent / 100;
}

bool diff_value_worse_by(const struct diff_value *v, double percent)
{
	return v->verdict == DIFF_WORSE && v->ratio.value > 1 + percent / 100;
}
