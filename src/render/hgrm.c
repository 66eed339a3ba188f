/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All values of one series, or the lengths of all hiccups, as HdrHistogram's tools print a
 * distribution (outputPercentileDistribution of its Java, 5 ticks per half distance), for the
 * plotters that read it. All CPUs and hosts together; values are us.
 *
 *          Value     Percentile TotalCount 1/(1-Percentile)
 *
 *          2.399 0.000000000000          1           1.00
 *          ...
 *         90.000 1.000000000000         13
 *   #[Mean    =       11.385, StdDeviation   =       23.934]
 *   #[Max     =       90.000, Total count    =           13]
 *   #[Buckets =           57, SubBuckets     =          256]
 *   #[Series  = latency]
 *
 * The last line is of workloads only; values of operations of few ns have six decimals. A value is
 * the highest of its bucket, at most 0.8 % more than measured.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "base/escape.h"
#include "base/units.h"
#include "render/render.h"

#define TICKS_PER_HALF 5

struct distribution {
	struct hist hist;
	double per_us; /* values per microsecond */
	int decimals;
	FILE *out;
};

static void write_line(const struct distribution *d, uint32_t bucket, double percent,
		       uint64_t count)
{
	uint64_t highest = hist_highest(&d->hist, bucket);
	uint64_t value = highest < d->hist.max ? highest : d->hist.max;
	FILE *out = d->out;

	fprintf(out, "%12.*f %2.12f %10" PRIu64, d->decimals, value / d->per_us, percent / 100,
		count);
	if (percent < 100)
		fprintf(out, " %14.2f", 1 / (1 - percent / 100));
	putc('\n', out);
}

/* Halves the steps with the distance to 100 %. */
static double next_percent(double percent)
{
	return percent + 100 / (TICKS_PER_HALF * exp2(floor(log2(100 / (100 - percent))) + 1));
}

static void write_percentiles(const struct distribution *d)
{
	const struct hist *h = &d->hist;
	uint64_t count = 0;
	double percent = 0;
	uint32_t last = 0;

	for (uint32_t i = hist_next(h, 0); i < h->nbuckets; i = hist_next(h, i + 1)) {
		last = i;
		count += hist_at(h, i);
		/* The last bucket has one line of its own level, then that of 100 %. */
		while (percent < 100 && 100.0 * count / h->count >= percent) {
			write_line(d, i, percent, count);
			percent = next_percent(percent);
			if (count == h->count)
				break;
		}
	}
	if (h->count)
		write_line(d, last, 100, count);
}

static double deviation(const struct hist *h)
{
	double mean = hist_mean(h), squares = 0;

	for (uint32_t i = hist_next(h, 0); i < h->nbuckets; i = hist_next(h, i + 1)) {
		double middle = ((double)hist_lowest(h, i) + hist_highest(h, i)) / 2;

		squares += hist_at(h, i) * (middle - mean) * (middle - mean);
	}
	return h->count ? sqrt(squares / h->count) : 0;
}

static void write_distribution(const struct distribution *d)
{
	const struct hist *h = &d->hist;

	fprintf(d->out, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount",
		"1/(1-Percentile)");
	write_percentiles(d);
	fprintf(d->out, "#[Mean    = %12.*f, StdDeviation   = %12.*f]\n", d->decimals,
		hist_mean(h) / d->per_us, d->decimals, deviation(h) / d->per_us);
	fprintf(d->out, "#[Max     = %12.*f, Total count    = %12" PRIu64 "]\n", d->decimals,
		h->max / d->per_us, h->count);
	fprintf(d->out, "#[Buckets = %12u, SubBuckets     = %12u]\n", 64 - HICCUP_BITS,
		2u << HICCUP_BITS);
}

int render_hgrm(const struct view *const *views, uint32_t n, const struct render_options *options,
		FILE *out)
{
	const char *name = options->values ? options->values : views_values(views, n);
	struct distribution d = {.per_us = NSEC_PER_USEC, .decimals = 3, .out = out};
	char safe[4 * SERIES_NAME + 8];
	bool workload = false;

	if (hist_init(&d.hist, HICCUP_BITS))
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < views[i]->ncpus; k++) {
			bool fine;
			const struct hist *from = cpu_values(&views[i]->cpu[k], name, &fine);

			workload |= views[i]->cpu[k].nseries;
			if (from && fine) {
				d.per_us = 1000.0 * NSEC_PER_USEC;
				d.decimals = 6;
			}
			if (from)
				hist_merge(&d.hist, from);
		}
	write_distribution(&d);
	if (workload)
		fprintf(out, "#[Series  = %s]\n",
			escape_text(name, SERIES_NAME, safe, sizeof(safe)));
	hist_free(&d.hist);
	return ferror(out) ? -EIO : 0;
}
