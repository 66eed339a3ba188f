/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report of run as oslat's users know it (rt-tests, src/oslat/oslat.c): first what was asked
 * for, then all loops by their length in us, rounded up: 1.5 us is in the bucket of 2.
 *
 *   Total runtime: 		1 seconds
 *   Thread priority: 	default
 *   CPU list: 		2,3
 *   ...
 *   Test completed.
 *
 *           Core:	 2 3
 *       001 (us):	 50000000 50000000
 *       ...
 *       032 (us):	 2 0 (including overflows)
 *        Minimum:	 1 1 (us)
 *
 * A bucket that is left out stands for all next to it: "...". With a bias, lengths are less the
 * shortest of all loops in whole us.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "render/rt_json.h"

static uint64_t whole_us(uint64_t ns)
{
	return ns / NSEC_PER_USEC + 1;
}

/* The time that goes off each length: the shortest of all, in us. */
static uint64_t bias(const struct view *v, const struct oslat_style *style)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < v->ncpus; i++)
		if (whole_us(v->cpu[i].loop_min_ns) < least)
			least = whole_us(v->cpu[i].loop_min_ns);
	return style->bias && v->ncpus ? least - 1 : 0;
}

/* Counts a CPU's loops; returns the average of these numbers. */
static double count_loops(const struct cpu *c, uint64_t less, uint32_t n, uint64_t *bucket)
{
	const struct hist *h = &c->hiccups;
	uint64_t all = c->loop_count, sum = all; /* loops below the threshold */

	bucket[0] = all;
	for (uint32_t k = hist_next(h, 0); k < h->nbuckets; k = hist_next(h, k + 1)) {
		uint64_t us = whole_us(hist_lowest(h, k));

		us = us > less ? us - less : 1;
		bucket[(us < n ? us : n) - 1] += hist_at(h, k);
		all += hist_at(h, k);
		sum += us * hist_at(h, k);
	}
	return all ? (double)sum / all : 0;
}

static void write_label(const char *label, FILE *out)
{
	fprintf(out, "%12s:\t", label);
}

static uint64_t min_us(const struct cpu *c, uint64_t less)
{
	return whole_us(c->loop_min_ns) - less;
}

static uint64_t max_us(const struct cpu *c, uint64_t less)
{
	return whole_us(c->hiccups.count ? c->hiccups.max : c->loop_mean_ns) - less;
}

static void write_asked(const struct view *v, FILE *out)
{
	struct cpus cpus = {0};
	char list[512], mains[512];

	for (uint32_t i = 0; i < v->ncpus; i++)
		cpus_add(&cpus, v->cpu[i].number);
	fprintf(out, "oslat of culprit %s\n", CULPRIT_VERSION);
	fprintf(out, "Total runtime: \t\t%.0f seconds\n", v->run.duration_ns / 1e9);
	fprintf(out, "Thread priority: \t%s\n", v->run.real_time ? v->run.priority : "default");
	fprintf(out, "CPU list: \t\t%s\n", cpus_format(&cpus, list, sizeof(list)));
	fprintf(out, "CPU for main thread: \t%s\n",
		cpus_format(&v->run.housekeeping, mains, sizeof(mains)));
	fputs("Workload: \t\tno\nWorkload mem: \t\t0 (KiB)\n", out);
	fprintf(out, "Preheat cores: \t\t%" PRIu32 "\n\n", v->ncpus);
	fputs("Test starts...\nTest completed.\n\n", out);
}

/* Writes the buckets; with omit_zero "..." for those that are empty. */
static void write_buckets(const struct view *v, const struct oslat_style *style,
			  const uint64_t *bucket, FILE *out)
{
	uint32_t n = style->buckets;
	bool left_out = false;
	char label[32];

	for (uint32_t us = 1; us <= n; us++) {
		uint64_t any = 0;

		for (uint32_t i = 0; i < v->ncpus; i++)
			any |= bucket[(size_t)i * n + us - 1];
		if (style->omit_zero && !any) {
			fputs(left_out ? "" : "    ...\n", out);
			left_out = true;
			continue;
		}
		left_out = false;
		snprintf(label, sizeof(label), "%03" PRIu32 " (us)", us);
		write_label(label, out);
		for (uint32_t i = 0; i < v->ncpus; i++)
			fprintf(out, " %" PRIu64, bucket[(size_t)i * n + us - 1]);
		fputs(us == n ? " (including overflows)\n" : "\n", out);
	}
}

static uint64_t spread_us(const struct cpu *c, uint64_t less)
{
	return max_us(c, less) - min_us(c, less);
}

/* A line of a figure of each CPU. */
static void write_each(const char *label, const struct view *v, uint64_t less,
		       uint64_t (*us)(const struct cpu *c, uint64_t less), FILE *out)
{
	write_label(label, out);
	for (uint32_t i = 0; i < v->ncpus; i++)
		fprintf(out, " %" PRIu64, us(&v->cpu[i], less));
	fputs(" (us)\n", out);
}

static void write_figures(const struct view *v, uint64_t less, const double *average, FILE *out)
{
	write_each("Minimum", v, less, min_us, out);
	write_label("Average", out);
	for (uint32_t i = 0; i < v->ncpus; i++)
		fprintf(out, " %.3f", average[i]);
	fputs(" (us)\n", out);
	write_each("Maximum", v, less, max_us, out);
	write_each("Max-Min", v, 0, spread_us, out);
	write_label("Duration", out);
	for (uint32_t i = 0; i < v->ncpus; i++)
		fprintf(out, " %.3f", v->cpu[i].observed_ns / 1e9);
	fputs(" (sec)\n\n", out);
}

int render_oslat_json(const struct view *v, const struct oslat_style *style,
		      const struct rt_test *test, FILE *out)
{
	uint64_t *bucket = calloc(style->buckets, sizeof(*bucket)), less = bias(v, style);
	struct json j;

	if (!bucket)
		return -ENOMEM;
	json_init(&j, out);
	rt_json_head(&j, v, test);
	json_object(&j, "thread");
	for (uint32_t i = 0; i < v->ncpus; i++) {
		const struct cpu *c = &v->cpu[i];
		char number[16];

		memset(bucket, 0, style->buckets * sizeof(*bucket));
		snprintf(number, sizeof(number), "%" PRIu32, i);
		json_object(&j, number);
		json_u64(&j, "cpu", c->number);
		json_u64(&j, "freq", v->host.tsc_khz / 1000);
		json_u64(&j, "min", min_us(c, less));
		json_double(&j, "avg", count_loops(c, less, style->buckets, bucket), 6);
		json_u64(&j, "max", max_us(c, less));
		json_double(&j, "duration", c->observed_ns / 1e9, 3);
		rt_json_histogram(&j, bucket, style->buckets, 1);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	free(bucket);
	return 0;
}

int render_oslat(const struct view *v, const struct oslat_style *style, FILE *out)
{
	uint64_t *bucket = calloc((size_t)v->ncpus * style->buckets + 1, sizeof(*bucket));
	double *average = calloc(v->ncpus + 1, sizeof(*average));
	uint64_t less = bias(v, style);

	if (!bucket || !average) {
		free(bucket);
		free(average);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < v->ncpus; i++)
		average[i] = count_loops(&v->cpu[i], less, style->buckets,
					 bucket + (size_t)i * style->buckets);
	if (!style->brief)
		write_asked(v, out);
	write_label("Core", out);
	for (uint32_t i = 0; i < v->ncpus; i++)
		fprintf(out, " %u", v->cpu[i].number);
	putc('\n', out);
	write_label("Counter Freq", out);
	for (uint32_t i = 0; i < v->ncpus; i++)
		fprintf(out, " %" PRIu64, v->host.tsc_khz / 1000);
	fputs(" (Mhz)\n", out);
	write_buckets(v, style, bucket, out);
	write_figures(v, less, average, out);
	free(bucket);
	free(average);
	return 0;
}
