/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report of sleep as cyclictest's users know it (rt-tests, src/cyclictest/cyclictest.c): T is
 * the thread's number and pid, I the interval, C the count, Act the newest value.
 *
 *   T: 0 (  812) P:80 I:1000 C:  10000 Min:      2 Act:    3 Avg:    3 Max:      41
 *
 * With a histogram, a line for each us (or ns) with a column for each CPU, and then what it does
 * not say:
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

/* ns of a unit */
static uint64_t unit_of(const struct cyclictest_style *style)
{
	return style->nanoseconds ? 1 : NSEC_PER_USEC;
}

static uint64_t least(const struct series *s)
{
	return s->hist.count ? s->hist.min : 0;
}

static uint64_t mean(const struct series *s)
{
	return hist_mean(&s->hist);
}

static uint64_t largest(const struct series *s)
{
	return s->hist.max;
}

static void write_line(const struct view *v, uint32_t i, const struct cyclictest_style *style,
		       FILE *out)
{
	const struct series *s = latency(&v->cpu[i]);
	const struct hist *h = &s->hist;
	uint64_t unit = unit_of(style);
	int act = style->nanoseconds ? 8 : 5;

	fprintf(out,
		"T:%2" PRIu32 " (%5" PRIu32 ") P:%2d I:%" PRIu64 " C:%7" PRIu64 " Min:%7" PRIu64
		" Act:%*" PRIu64 " Avg:%*" PRIu64 " Max:%8" PRIu64 "\n",
		i, v->cpu[i].sampler_pid, style->priority,
		(uint64_t)(style->interval_ns / NSEC_PER_USEC), h->count, least(s) / unit, act,
		s->last / unit, act, mean(s) / unit, largest(s) / unit);
}

/* Writes a figure of each CPU behind a heading, and the largest where there is a total. */
static void write_figures(const struct view *v, const struct cyclictest_style *style,
			  const char *heading, uint64_t (*figure)(const struct series *s),
			  FILE *out)
{
	uint64_t most = 0;

	fputs(heading, out);
	for (uint32_t i = 0; i < v->ncpus; i++) {
		uint64_t one = figure(latency(&v->cpu[i])) / unit_of(style);

		fprintf(out, " %05" PRIu64, one);
		most = one > most ? one : most;
	}
	if (style->total && v->ncpus > 1 && figure == largest)
		fprintf(out, " %05" PRIu64, most);
	putc('\n', out);
}

/* The values of a CPU below `most`. */
static uint64_t count_shown(const uint64_t *count, uint32_t most)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < most; i++)
		n += count[i];
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

/* Writes the number of one value, or of what is longer than all that is shown. */
static void write_row(const struct view *v, const uint64_t *count, uint32_t most, uint32_t value,
		      bool total, FILE *out)
{
	bool over = value == most;
	uint64_t all = 0;

	for (uint32_t i = 0; i < v->ncpus; i++) {
		uint64_t n = count[(size_t)i * (most + 1) + value];

		fprintf(out, "%s%0*" PRIu64, over ? " " : i ? "\t" : "", over ? 5 : 6, n);
		all += n;
	}
	if (total)
		fprintf(out, "%s%0*" PRIu64, over ? " " : "\t", over ? 5 : 6, all);
	putc('\n', out);
}

/* Counts the values of each unit, those of a bucket by its middle; what is longer stands behind the
 * last. */
static void count_units(const struct hist *h, uint64_t unit, uint64_t *count, uint32_t most)
{
	for (uint32_t i = hist_next(h, 0); i < h->nbuckets; i = hist_next(h, i + 1)) {
		uint64_t middle = (hist_lowest(h, i) + hist_highest(h, i)) / 2;
		uint64_t value = (middle < h->min   ? h->min
				  : middle > h->max ? h->max
						    : middle) /
				 unit;

		count[value < most ? value : most] += hist_at(h, i);
	}
}

static int write_histogram(const struct view *v, const struct cyclictest_style *style, FILE *out)
{
	bool total = style->total && v->ncpus > 1;
	uint32_t most = style->histogram;
	uint64_t *count = calloc((size_t)v->ncpus * (most + 1), sizeof(*count));

	if (!count)
		return -ENOMEM;
	for (uint32_t i = 0; i < v->ncpus; i++)
		count_units(&latency(&v->cpu[i])->hist, unit_of(style),
			    count + (size_t)i * (most + 1), most);
	fputs("# Histogram\n", out);
	for (uint32_t value = 0; value < most; value++) {
		fprintf(out, "%06" PRIu32 " ", value);
		write_row(v, count, most, value, total, out);
	}
	write_shown(v, count, most, total, out);
	write_figures(v, style, "# Min Latencies:", least, out);
	write_figures(v, style, "# Avg Latencies:", mean, out);
	write_figures(v, style, "# Max Latencies:", largest, out);
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
	const struct series *s = latency(&v->cpu[i]);
	uint64_t unit = unit_of(style);
	char number[16];

	snprintf(number, sizeof(number), "%" PRIu32, i);
	json_object(j, number);
	rt_json_histogram(j, count, style->histogram, 0);
	json_u64(j, "cycles", s->hist.count);
	json_u64(j, "min", least(s) / unit);
	json_u64(j, "max", largest(s) / unit);
	json_double(j, "avg", hist_mean(&s->hist) / unit, 2);
	json_u64(j, "cpu", v->cpu[i].number);
	json_i64(j, "node", test->node(v->cpu[i].number));
	json_end(j);
}

int render_cyclictest_json(const struct view *v, const struct cyclictest_style *style,
			   const struct rt_test *test, FILE *out)
{
	uint32_t most = style->histogram;
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

		count_units(&latency(&v->cpu[i])->hist, unit_of(style), own, most);
		write_thread(&j, v, i, style, test, own);
	}
	json_end(&j);
	json_end(&j);
	free(count);
	return 0;
}

int render_cyclictest(const struct view *v, const struct cyclictest_style *style, FILE *out)
{
	int err = style->histogram ? write_histogram(v, style, out) : 0;

	for (uint32_t i = 0; i < v->ncpus && !style->histogram; i++)
		write_line(v, i, style, out);
	return err ? err : ferror(out) ? -EIO : 0;
}
