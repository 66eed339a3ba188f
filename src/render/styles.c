/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render/styles.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

const struct opt_choice style_names[] = {
	{"culprit", "its own report"},
	{"osjitter", "a row a CPU, percentiles less the loop's own length"},
	{"hiccups", "a row a CPU"},
	{"sysjitter", "a column a CPU"},
	{"oslat", "all loops in buckets of 1 us"},
	{"osnoise", "the kernel tracer's: a line a second"},
	{0},
};

uint64_t style_threshold(enum style style)
{
	switch (style) {
	case STYLE_OSJITTER:
		return 100;
	case STYLE_OSLAT:
	case STYLE_OSNOISE:
		return 1000;
	default:
		return 0;
	}
}

static uint64_t less(uint64_t value, uint64_t loop)
{
	return value > loop ? value - loop : 0;
}

/* The length of osjitter's loop: its own takes a step of the counter at least; ours may lie within
 * one step, and then counts as long as it is on the average. */
static uint64_t osjitter_loop(const struct cpu *c)
{
	uint64_t loop = (c->loop_min_ns < 1 ? c->loop_mean_ns : c->loop_min_ns) + 0.5;

	return loop ? loop : 1;
}

/* Involuntary context switches; "-": the sampler was killed. */
static const char *switches(const struct cpu *c, char *buf, size_t len)
{
	snprintf(buf, len, "-");
	if (c->preempted_known)
		snprintf(buf, len, "%" PRIu64, c->preempted);
	return buf;
}

static void osjitter(const struct view *v, FILE *out)
{
	static const double percentiles[] = {50, 20, 80, 90, 99, 99.9};
	char text[32];

	fprintf(out, "%4s %8s %8s %8s %8s %9s %12s %10s %5s %8s %9s %9s %9s %9s %9s %9s %9s %9s\n",
		"CPU", "TSC_khz", "#intr", "#delta", "ovfl_ns", "invol_ctx", "sum_intr_ns",
		"iratio", "rt_s", "loop_ns", "median_ns", "p20_ns", "p80_ns", "p90_ns", "p99_ns",
		"p99.9_ns", "max_ns", "mad_ns");
	for (uint32_t i = 0; i < v->ncpus; i++) {
		const struct hist *h = &v->cpu[i].hiccups;
		const struct cpu *c = &v->cpu[i];
		uint64_t loop = osjitter_loop(c);
		uint64_t sum = h->sum + c->hiccups_lost_ns, all = h->count + c->hiccups_lost;

		fprintf(out,
			"%4u %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8u %9s %12" PRIu64
			" %10.3f %5.0f %8" PRIu64,
			v->cpu[i].number, v->host.tsc_khz, all, h->count, 0,
			switches(c, text, sizeof(text)), less(sum, all * loop),
			c->observed_ns ? (double)less(sum, all * loop) / c->observed_ns : 0,
			c->observed_ns / 1e9, loop);
		for (size_t k = 0; k < sizeof(percentiles) / sizeof(percentiles[0]); k++)
			fprintf(out, " %9" PRIu64, less(hist_percentile(h, percentiles[k]), loop));
		fprintf(out, " %9" PRIu64 " %9" PRIu64 "\n", less(h->max, loop), hist_mad(h));
	}
}

static void hiccups(const struct view *v, FILE *out)
{
	fprintf(out, "%-4s %-12s %-8s %-8s %-8s %-8s\n", "cpu", "threshold_ns", "hiccups",
		"pct99_ns", "pct999_ns", "max_ns");
	for (uint32_t i = 0; i < v->ncpus; i++) {
		const struct hist *h = &v->cpu[i].hiccups;

		fprintf(out,
			"%-4u %-12" PRIu64 " %-8" PRIu64 " %-8" PRIu64 " %-9" PRIu64 " %-8" PRIu64
			"\n",
			v->cpu[i].number, v->cpu[i].threshold_ns, h->count + v->cpu[i].hiccups_lost,
			hist_percentile(h, 99), hist_percentile(h, 99.9), h->max);
	}
}

/* ---- sysjitter: a row for each figure, a column for each CPU ---- */

enum figure {
	CORE,
	THRESHOLD,
	MHZ,
	RUNTIME_NS,
	RUNTIME_S,
	COUNT,
	RATE,
	MIN,
	MEDIAN,
	MEAN,
	P90,
	P99,
	P999,
	P9999,
	P99999,
	MAX,
	TOTAL,
	SHARE,
};

static void sysjitter_cell(const struct view *v, uint32_t i, enum figure figure, FILE *out)
{
	const struct hist *h = &v->cpu[i].hiccups;
	const struct cpu *c = &v->cpu[i];
	double seconds = c->observed_ns / 1e9;
	uint64_t all = h->count + c->hiccups_lost, sum = h->sum + c->hiccups_lost_ns;

	switch (figure) {
	case CORE:
		fprintf(out, "%12u", v->cpu[i].number);
		break;
	case RUNTIME_S:
		fprintf(out, "%12.3f", seconds);
		break;
	case RATE:
		fprintf(out, "%12.3f", seconds > 0 ? all / seconds : 0);
		break;
	case SHARE:
		fprintf(out, "%12.3f", c->observed_ns ? 100.0 * sum / c->observed_ns : 0);
		break;
	default: {
		const uint64_t value[] = {[THRESHOLD] = c->threshold_ns,
					  [MHZ] = v->host.tsc_khz / 1000,
					  [RUNTIME_NS] = c->observed_ns,
					  [COUNT] = all,
					  [MIN] = h->count ? h->min : 0,
					  [MEDIAN] = hist_percentile(h, 50),
					  [MEAN] = all ? (double)sum / all + 0.5 : 0,
					  [P90] = hist_percentile(h, 90),
					  [P99] = hist_percentile(h, 99),
					  [P999] = hist_percentile(h, 99.9),
					  [P9999] = hist_percentile(h, 99.99),
					  [P99999] = hist_percentile(h, 99.999),
					  [MAX] = h->max,
					  [TOTAL] = sum};

		fprintf(out, "%12" PRIu64, value[figure]);
	}
	}
}

static void sysjitter(const struct view *v, FILE *out)
{
	static const char *const rows[] = {
		"core_i",      "threshold(ns)", "cpu_mhz",     "runtime(ns)",    "runtime(s)",
		"int_n",       "int_n_per_sec", "int_min(ns)", "int_median(ns)", "int_mean(ns)",
		"int_90(ns)",  "int_99(ns)",    "int_999(ns)", "int_9999(ns)",   "int_99999(ns)",
		"int_max(ns)", "int_total(ns)", "int_total(%)"};

	for (int row = CORE; row <= SHARE; row++) {
		fprintf(out, "%s:%*s", rows[row], (int)(16 - strlen(rows[row])), "");
		for (uint32_t i = 0; i < v->ncpus; i++)
			sysjitter_cell(v, i, row, out);
		putc('\n', out);
	}
}

int render_style(enum style style, const struct view *v, const struct oslat_style *oslat, FILE *out)
{
	switch (style) {
	case STYLE_OSJITTER:
		osjitter(v, out);
		break;
	case STYLE_HICCUPS:
		hiccups(v, out);
		break;
	case STYLE_SYSJITTER:
		sysjitter(v, out);
		break;
	case STYLE_OSLAT:
		if (render_oslat(v, oslat, out))
			return -ENOMEM;
		break;
	default:
		break;
	}
	return ferror(out) ? -EIO : 0;
}

/* ---- osnoise ---- */

void render_period_head(FILE *out)
{
	fprintf(out, "%-5s %10s %10s %10s %10s %8s %8s %8s %8s %8s\n", "CPU", "RUNTIME", "NOISE",
		"%CPU-AVAIL", "MAX-SINGLE", "HW", "NMI", "IRQ", "SIRQ", "THREAD");
}

char *render_available(uint64_t noise_ns, uint64_t runtime_ns, char buf[AVAILABLE])
{
	uint64_t left_ns = noise_ns < runtime_ns ? runtime_ns - noise_ns : 0, part = 0;

	if (left_ns)
		part = (unsigned __int128)left_ns * 10000000 / runtime_ns;
	snprintf(buf, AVAILABLE, "%" PRIu64 ".%05" PRIu64, part / 100000, part % 100000);
	return buf;
}

void render_period(const struct view *v, uint32_t index, const struct osnoise_period *p, FILE *out)
{
	char left[AVAILABLE];

	fprintf(out,
		"%-5u %10" PRIu64 " %10" PRIu64 " %10s %10" PRIu64 " %8" PRIu64 " %8" PRIu64
		" %8" PRIu64 " %8" PRIu64 " %8" PRIu64 "\n",
		v->cpu[index].number, p->runtime_ns / 1000, p->noise_ns / 1000,
		render_available(p->noise_ns, p->runtime_ns, left), p->max_single_ns / 1000, p->hw,
		p->nmi, p->irq, p->softirq, p->thread);
}
