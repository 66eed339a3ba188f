/* The lengths of all hiccups as HdrHistogram's tools print a distribution
 * (outputPercentileDistribution of its Java, 5 ticks per half distance), for the plotters that read
 * it. All CPUs and hosts together; values are us.
 *
 *          Value     Percentile TotalCount 1/(1-Percentile)
 *
 *          2.399 0.000000000000          1           1.00
 *          ...
 *         90.000 1.000000000000         13
 *   #[Mean    =       11.385, StdDeviation   =       23.934]
 *   #[Max     =       90.000, Total count    =           13]
 *   #[Buckets =           57, SubBuckets     =          256]
 *
 * A value is the highest of its bucket, at most 0.8 % more than measured.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "base/units.h"
#include "render/render.h"

#define TICKS_PER_HALF 5

static void write_line(const struct hist *h, uint32_t bucket, double percent, uint64_t count,
		       FILE *out)
{
	uint64_t highest = hist_highest(h, bucket), ns = highest < h->max ? highest : h->max;

	fprintf(out, "%12.3f %2.12f %10" PRIu64, (double)ns / NSEC_PER_USEC, percent / 100, count);
	if (percent < 100)
		fprintf(out, " %14.2f", 1 / (1 - percent / 100));
	putc('\n', out);
}

/* Halves the steps with the distance to 100 %. */
static double next_percent(double percent)
{
	return percent + 100 / (TICKS_PER_HALF * exp2(floor(log2(100 / (100 - percent))) + 1));
}

static void write_percentiles(const struct hist *h, FILE *out)
{
	uint64_t count = 0;
	double percent = 0;
	uint32_t last = 0;

	for (uint32_t i = hist_next(h, 0); i < h->nbuckets; i = hist_next(h, i + 1)) {
		last = i;
		count += hist_at(h, i);
		/* The last bucket has one line of its own level, then that of 100 %. */
		while (percent < 100 && 100.0 * count / h->count >= percent) {
			write_line(h, i, percent, count, out);
			percent = next_percent(percent);
			if (count == h->count)
				break;
		}
	}
	if (h->count)
		write_line(h, last, 100, count, out);
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

int render_hgrm(const struct view *const *views, uint32_t n, const struct render_options *options,
		FILE *out)
{
	struct hist all;

	(void)options;
	if (hist_init(&all, HICCUP_BITS))
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < views[i]->ncpus; k++)
			hist_merge(&all, &views[i]->cpu[k].hiccups);
	fprintf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount",
		"1/(1-Percentile)");
	write_percentiles(&all, out);
	fprintf(out, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n",
		hist_mean(&all) / NSEC_PER_USEC, deviation(&all) / NSEC_PER_USEC);
	fprintf(out, "#[Max     = %12.3f, Total count    = %12" PRIu64 "]\n",
		(double)all.max / NSEC_PER_USEC, all.count);
	fprintf(out, "#[Buckets = %12u, SubBuckets     = %12u]\n", 64 - HICCUP_BITS,
		2u << HICCUP_BITS);
	hist_free(&all);
	return ferror(out) ? -EIO : 0;
}
