/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report of sleep as cyclictest's users know it (rt-tests, src/cyclictest/cyclictest.c): T is
 * the thread's number and pid, I the interval, C the count, Act the newest value.
 *
 *   T: 0 (  812) P:80 I:1000 C:  10000 Min:      2 Act:    3 Avg:    3 Max:      41
 *
 * With a histogram, a line for each us with a column for each CPU, and then what it does not say:
 *
 *   000002 004711
 *   # Total: 000009999
 *   # Min Latencies: 00002
 *   # Avg Latencies: 00003
 *   # Max Latencies: 00041
 *   # Histogram Overflows: 00001
 *   # Histogram Overflow at cycle number:
 *   # Thread 0:
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "render/rt_json.h"

#define LATENCY "latency"

static const struct series *latency(const struct cpu *c)
{
	static const struct series none;

	for (uint32_t i = 0; i < c->nseries; i++)
		if (!strncmp(c->series[i].name, LATENCY, SERIES_NAME))
			return &c->series[i];
	return &none;
}

static uint64_t min_us(const struct series *s)
{
	return s->hist.count ? s->hist.min / NSEC_PER_USEC : 0;
}

static uint64_t mean_us(const struct series *s)
{
	return hist_mean(&s->hist) / NSEC_PER_USEC;
}

static uint64_t max_us(const struct series *s)
{
	return s->hist.max / NSEC_PER_USEC;
}

static void write_line(const struct view *v, uint32_t i, const struct cyclictest_style *style,
		       FILE *out)
{
	const struct series *s = latency(&v->cpu[i]);
	const struct hist *h = &s->hist;
	uint64_t unit = style->nanoseconds ? 1 : NSEC_PER_USEC;
	int act = style->nanoseconds ? 8 : 5;

	fprintf(out,
		"T:%2" PRIu32 " (%5" PRIu32 ") P:%2d I:%" PRIu64 " C:%7" PRIu64 " Min:%7" PRIu64
		" Act:%*" PRIu64 " Avg:%*" PRIu64 " Max:%8" PRIu64 "\n",
		i, v->cpu[i].sampler_pid, style->priority,
		(uint64_t)(style->interval_ns / NSEC_PER_USEC), h->count,
		(h->count ? h->min : 0) / unit, act, s->last / unit, act,
		(uint64_t)hist_mean(h) / unit, h->max / unit);
}

/* Writes a figure of each CPU behind a heading, and the largest where that is wanted. */
static void write_figures(const struct view *v, const char *heading,
			  uint64_t (*figure)(const struct series *s), bool largest, FILE *out)
{
	uint64_t most = 0;

	fputs(heading, out);
	for (uint32_t i = 0; i < v->ncpus; i++) {
		uint64_t one = figure(latency(&v->cpu[i]));

		fprintf(out, " %05" PRIu64, one);
		most = one > most ? one : most;
	}
	if (largest)
		fprintf(out, " %05" PRIu64, most);
	putc('\n', out);
}

/* The values of a CPU below `most` us. */
static uint64_t count_shown(const uint64_t *count, uint32_t most)
{
	uint64_t n = 0;

	for (uint32_t us = 0; us < most; us++)
		n += count[us];
	return n;
}

static void write_shown(const struct view *v, const uint64_t *count, uint32_t most, bool total,
			FILE *out)
{
	uint64_t all = 0;

	fputs("# Total:", out);
	for (uint32_t i = 0; i < v->ncpus; i++) {
		uint64_t n = count_shown(count + (size_t)i * (most + 1), most);

		fprintf(out, " %09" PRIu64, n);
		all += n;
	}
	if (total)
		fprintf(out, " %09" PRIu64, all);
	putc('\n', out);
}

/* Writes the values of one us, or what is longer than all that is shown. */
static void write_row(const struct view *v, const uint64_t *count, uint32_t most, uint32_t us,
		      bool total, FILE *out)
{
	bool over = us == most;
	uint64_t all = 0;

	for (uint32_t i = 0; i < v->ncpus; i++) {
		uint64_t n = count[(size_t)i * (most + 1) + us];

		fprintf(out, "%s%0*" PRIu64, over ? " " : i ? "\t" : "", over ? 5 : 6, n);
		all += n;
	}
	if (total)
		fprintf(out, "%s%0*" PRIu64, over ? " " : "\t", over ? 5 : 6, all);
	putc('\n', out);
}

/* Counts the values of each us, those of a bucket by its middle; what is longer stands behind the
 * last. */
static void count_us(const struct hist *h, uint64_t *count, uint32_t most)
{
	for (uint32_t i = hist_next(h, 0); i < h->nbuckets; i = hist_next(h, i + 1)) {
		uint64_t middle = (hist_lowest(h, i) + hist_highest(h, i)) / 2;
		uint64_t us = (middle < h->min   ? h->min
			       : middle > h->max ? h->max
						 : middle) /
			      NSEC_PER_USEC;

		count[us < most ? us : most] += hist_at(h, i);
	}
}

static int write_histogram(const struct view *v, uint32_t most, bool total, FILE *out)
{
	uint64_t *count = calloc((size_t)v->ncpus * (most + 1), sizeof(*count));

	if (!count)
		return -ENOMEM;
	for (uint32_t i = 0; i < v->ncpus; i++)
		count_us(&latency(&v->cpu[i])->hist, count + (size_t)i * (most + 1), most);
	fputs("# Histogram\n", out);
	for (uint32_t us = 0; us < most; us++) {
		fprintf(out, "%06" PRIu32 " ", us);
		write_row(v, count, most, us, total, out);
	}
	write_shown(v, count, most, total, out);
	write_figures(v, "# Min Latencies:", min_us, false, out);
	write_figures(v, "# Avg Latencies:", mean_us, false, out);
	write_figures(v, "# Max Latencies:", max_us, total, out);
	fputs("# Histogram Overflows:", out);
	write_row(v, count, most, most, total, out);
	fputs("# Histogram Overflow at cycle number:\n", out);
	for (uint32_t i = 0; i < v->ncpus; i++) {
		fprintf(out, "# Thread %" PRIu32 ":", i);
		if (count[(size_t)i * (most + 1) + most])
			fprintf(out, " # %05" PRIu64 " others",
				count[(size_t)i * (most + 1) + most]);
		putc('\n', out);
	}
	free(count);
	return 0;
}

static void write_thread(struct json *j, const struct view *v, uint32_t i,
			 const struct cyclictest_style *style, const struct rt_test *test,
			 const uint64_t *count)
{
	const struct hist *h = &latency(&v->cpu[i])->hist;
	uint64_t unit = style->nanoseconds ? 1 : NSEC_PER_USEC;
	char number[16];

	snprintf(number, sizeof(number), "%" PRIu32, i);
	json_object(j, number);
	rt_json_histogram(j, count, style->histogram_us, 0);
	json_u64(j, "cycles", h->count);
	json_u64(j, "min", (h->count ? h->min : 0) / unit);
	json_u64(j, "max", h->max / unit);
	json_double(j, "avg", hist_mean(h) / unit, 2);
	json_u64(j, "cpu", v->cpu[i].number);
	json_i64(j, "node", test->node(v->cpu[i].number));
	json_end(j);
}

int render_cyclictest_json(const struct view *v, const struct cyclictest_style *style,
			   const struct rt_test *test, FILE *out)
{
	uint32_t most = style->histogram_us;
	uint64_t *count = calloc((size_t)v->ncpus * (most + 1), sizeof(*count));
	struct json j;

	if (!count)
		return -ENOMEM;
	json_init(&j, out);
	rt_json_head(&j, v, test);
	json_u64(&j, "resolution_in_ns", style->nanoseconds);
	json_object(&j, "thread");
	for (uint32_t i = 0; i < v->ncpus; i++) {
		uint64_t *own = count + (size_t)i * (most + 1);

		count_us(&latency(&v->cpu[i])->hist, own, most);
		write_thread(&j, v, i, style, test, own);
	}
	json_end(&j);
	json_end(&j);
	free(count);
	return 0;
}

int render_cyclictest(const struct view *v, const struct cyclictest_style *style, FILE *out)
{
	int err = style->histogram_us ? write_histogram(v, style->histogram_us,
							style->total && v->ncpus > 1, out)
				      : 0;

	for (uint32_t i = 0; i < v->ncpus && !style->histogram_us; i++)
		write_line(v, i, style, out);
	return err ? err : ferror(out) ? -EIO : 0;
}
