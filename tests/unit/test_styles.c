/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns, units and order of the field's small tools, from a run with known figures: 98
 * hiccups of 1.5 us, one of 40 us and one of 2.2 s on CPU 2; none on CPU 3. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/own_period.h"
#include "render/rt_json.h"
#include "render/styles.h"
#include "../world/made.h"

#define LONG_NS 2200000000ULL /* more than a 32-bit counter of cycles holds */

static struct report report;
static struct oslat_style oslat_style = {.buckets = 32, .brief = true};

static void hiccup(uint64_t at_ns, uint64_t net_ns)
{
	report_hiccup(&report, 0, at_ns, 0, 0);
	report_piece(&report, SOURCE_VECTOR, VECTOR_LOCAL_TIMER, "local_timer", "tick_nohz_handler",
		     net_ns);
	report_end(&report, NULL);
	report.hiccups = 0; /* sums that the summary has, and no more is asked of them */
	memset(&report.hiccup[0], 0, sizeof(report.hiccup[0]));
}

static void begin(void)
{
	static const unsigned cpus[] = {2, 3};

	report_init(&report, "host", cpus, 2);
	for (int i = 0; i < 98; i++)
		hiccup(1000000 * i, 1500);
	hiccup(200000000, 40000);
	hiccup(300000000, LONG_NS);
	for (int i = 0; i < 2; i++)
		report.view.cpu[i].observed_ns = 4000000000;
	report.view.cpu[0].preempted_known = true;
	report.view.cpu[0].preempted = 17;
}

static char *text_of(enum style style)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(render_style(style, &report.view, &oslat_style, out), 0);
	fclose(out);
	return text;
}

/* The n-th line's words, with one blank between them. */
static const char *words(const char *text, unsigned n)
{
	static char line[1024];
	size_t len = 0;

	while (n--) {
		text = strchr(text, '\n');
		assert_non_null(text);
		text++;
	}
	for (; *text && *text != '\n'; text++)
		if ((*text != ' ' && *text != '\t') || (len && line[len - 1] != ' '))
			line[len++] = *text == '\t' ? ' ' : *text;
	while (len && line[len - 1] == ' ')
		len--;
	line[len] = '\0';
	return line;
}

static void osjitter(void **state)
{
	char *text;

	(void)state;
	begin();
	report.view.cpu[1].loop_min_ns = 0.4; /* both readings within a step of the counter */
	text = text_of(STYLE_OSJITTER);
	assert_string_equal(
		words(text, 0),
		"CPU TSC_khz #intr #delta ovfl_ns invol_ctx sum_intr_ns iratio rt_s loop_ns "
		"median_ns p20_ns p80_ns p90_ns p99_ns p99.9_ns max_ns mad_ns");
	/* The loop's own 9 ns go off each gap; percentiles are a bucket's highest value. */
	assert_string_equal(words(text, 1),
			    "2 2400000 100 100 0 17 2200186100 0.550 4 9 1494 1494 1494 1494 40182 "
			    "2199999991 2199999991 0");
	assert_string_equal(words(text, 2), "3 2400000 0 0 0 - 0 0.000 4 10 0 0 0 0 0 0 0 0");
	free(text);
	report_free(&report);
}

static void hiccups(void **state)
{
	char *text;

	(void)state;
	begin();
	text = text_of(STYLE_HICCUPS);
	assert_string_equal(words(text, 0), "cpu threshold_ns hiccups pct99_ns pct999_ns max_ns");
	assert_string_equal(words(text, 1), "2 200 100 40191 2200000000 2200000000");
	assert_string_equal(words(text, 2), "3 200 0 0 0 0");
	free(text);
	report_free(&report);
}

static void sysjitter(void **state)
{
	static const char *const rows[] = {"core_i: 2 3",
					   "threshold(ns): 200 200",
					   "cpu_mhz: 2400 2400",
					   "runtime(ns): 4000000000 4000000000",
					   "runtime(s): 4.000 4.000",
					   "int_n: 100 0",
					   "int_n_per_sec: 25.000 0.000",
					   "int_min(ns): 1500 0",
					   "int_median(ns): 1503 0",
					   "int_mean(ns): 22001870 0",
					   "int_90(ns): 1503 0",
					   "int_99(ns): 40191 0",
					   "int_999(ns): 2200000000 0",
					   "int_9999(ns): 2200000000 0",
					   "int_99999(ns): 2200000000 0",
					   "int_max(ns): 2200000000 0",
					   "int_total(ns): 2200187000 0",
					   "int_total(%): 55.005 0.000"};
	char *text;

	(void)state;
	begin();
	text = text_of(STYLE_SYSJITTER);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(words(text, i), rows[i]);
	free(text);
	report_free(&report);
}

/* Hiccups that came faster than they could be read are in counts and sums, as osjitter's. */
static void lost(void **state)
{
	char *text;

	(void)state;
	begin();
	report.view.cpu[0].hiccups_lost = 100;
	report.view.cpu[0].hiccups_lost_ns = 1799813000;
	text = text_of(STYLE_SYSJITTER);
	assert_string_equal(words(text, 5), "int_n: 200 0");
	assert_string_equal(words(text, 6), "int_n_per_sec: 50.000 0.000");
	assert_string_equal(words(text, 9), "int_mean(ns): 20000000 0");
	assert_string_equal(words(text, 16), "int_total(ns): 4000000000 0");
	assert_string_equal(words(text, 17), "int_total(%): 100.000 0.000");
	free(text);
	report_free(&report);
}

static void raw(void **state)
{
	const struct account a = {.start_ns = WORLD_STARTED + 5000000, .duration_ns = 1500};
	struct raw_gap gap[] = {{8, 3000000000}, {70, 500}, {9, 500}};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	begin();
	assert_non_null(out);
	render_raw(&report.view, &a, 0, 2596000, out);
	render_raw(&report.view, &a, WORLD_STARTED + 1000000, 2596000, out);
	render_raw_sorted(gap, 3, 2000000, out);
	fclose(out);
	assert_string_equal(words(text, 0), "5000000 0 3894 1500");
	assert_string_equal(words(text, 1), "5000000 4000 3894 1500");
	assert_string_equal(words(text, 2), "9 1000 500");
	assert_string_equal(words(text, 3), "70 1000 500");
	assert_string_equal(words(text, 4), "8 6000000000 3000000000");
	free(text);
	report_free(&report);
}

/* The head's length does not depend on what is in it: it is written before the lines, and again at
 * the end. */
static void raw_head(void **state)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	long empty;

	(void)state;
	begin();
	assert_non_null(out);
	render_raw_head(&report.view, 1, false, out);
	empty = ftell(out);
	render_raw_head(&report.view, 0, false, out);
	assert_int_equal(ftell(out), 2 * empty);
	fclose(out);
	assert_string_equal(words(text, 2), "# n_interruptions: 0");
	assert_string_equal(words(text, 11), "# cpu_mhz: 2400");
	assert_string_equal(words(text, 12), "# threshold: 200ns");
	assert_string_equal(words(text, 13), "# n_interruptions: 100");
	assert_string_equal(words(text, 14), "# interruption: 55.004675%");
	assert_string_equal(words(text, 15), "# total_interruption: 5280448800 cycles");
	assert_string_equal(words(text, 16), "# total_runtime: 9600000000 cycles");
	assert_string_equal(words(text, 17), "# total_interruption: 2.200187000 seconds");
	assert_string_equal(words(text, 18), "# total_runtime: 4.000000000 seconds");
	assert_string_equal(words(text, 19), "#");
	assert_string_equal(words(text, 21), "# (nsec) (usec) (cycles) (nsec)");
	free(text);
	report_free(&report);
}

/* A begun us counts whole; the average is that of these numbers, as is oslat's. */
static void oslat(void **state)
{
	char *text;

	(void)state;
	begin();
	text = text_of(STYLE_OSLAT);
	assert_string_equal(words(text, 0), "Core: 2 3");
	assert_string_equal(words(text, 1), "Counter Freq: 2400 2400 (Mhz)");
	assert_string_equal(words(text, 2), "001 (us): 100000000 100000000");
	assert_string_equal(words(text, 3), "002 (us): 98 0");
	for (unsigned us = 3; us < 32; us++) {
		char want[32];

		snprintf(want, sizeof(want), "%03u (us): 0 0", us);
		assert_string_equal(words(text, us + 1), want);
	}
	assert_string_equal(words(text, 33), "032 (us): 2 0 (including overflows)");
	assert_string_equal(words(text, 34), "Minimum: 1 1 (us)");
	assert_string_equal(words(text, 36), "Maximum: 2200001 1 (us)");
	assert_string_equal(words(text, 37), "Max-Min: 2200000 0 (us)");
	assert_string_equal(words(text, 38), "Duration: 4.000 4.000 (sec)");
	free(text);
	report_free(&report);
}

/* Buckets that were asked for; a bias that takes 1 us off; empty ones left out. */
static void oslat_options(void **state)
{
	char *text;

	(void)state;
	begin();
	for (int i = 0; i < 2; i++)
		report.view.cpu[i].loop_min_ns = report.view.cpu[i].loop_mean_ns = 1200;
	strcpy(report.view.run.priority, "SCHED_FIFO 10");
	report.view.run.real_time = true;
	report.view.run.duration_ns = 4000000000;
	oslat_style = (struct oslat_style){.buckets = 5, .bias = true, .omit_zero = true};
	text = text_of(STYLE_OSLAT);
	oslat_style = (struct oslat_style){.buckets = 32, .brief = true};
	assert_string_equal(words(text, 1), "Total runtime: 4 seconds");
	assert_string_equal(words(text, 2), "Thread priority: SCHED_FIFO 10");
	assert_string_equal(words(text, 3), "CPU list: 2-3");
	assert_string_equal(words(text, 9), "Test starts...");
	assert_string_equal(words(text, 10), "Test completed.");
	assert_string_equal(words(text, 14), "001 (us): 100000098 100000000"); /* 2 less 1 */
	assert_string_equal(words(text, 15), "...");
	assert_string_equal(words(text, 16), "005 (us): 2 0 (including overflows)");
	assert_string_equal(words(text, 17), "Minimum: 1 1 (us)");
	assert_string_equal(words(text, 19), "Maximum: 2200000 1 (us)");
	assert_string_equal(words(text, 20), "Max-Min: 2199999 0 (us)");
	free(text);
	report_free(&report);
}

/* Adds a piece with which so many interruptions began. */
static void begun(struct account *a, enum source_kind kind, uint32_t id, const char *function,
		  uint64_t net_ns, uint32_t count)
{
	report_piece(&report, kind, id, "name", function, net_ns);
	a->pieces[a->npieces - 1].count = count;
}

/* Cut as the kernel does it: all of the time is available only where none was taken. */
static void available(void **state)
{
	static const struct {
		uint64_t noise_ns, runtime_ns;
		const char *text;
	} all[] = {{0, 1000000000, "100.00000"},
		   {40, 1000000000, "99.99999"},
		   {100, 1000000000, "99.99999"},
		   {1, UINT64_MAX, "99.99999"},
		   {1000000000, 1000000000, "0.00000"},
		   {2, 1, "0.00000"},
		   {0, 0, "0.00000"},
		   {500, 1000, "50.00000"}};
	char buf[AVAILABLE];

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_string_equal(render_available(all[i].noise_ns, all[i].runtime_ns, buf),
				    all[i].text);
}

static void period_takes(struct own_period *p, const struct account *a, FILE *out)
{
	struct osnoise_period done;

	while (own_period_over(p, a->start_ns, &done))
		render_period(&report.view, 0, &done, out);
	own_period_add(p, &report.view.cpu[0].sources, a);
}

/* A line a second; a hiccup that reaches into the next second counts there, too, but as one
 * hiccup. */
static void osnoise(void **state)
{
	struct own_period p;
	struct osnoise_period done;
	uint64_t end;
	struct account *a;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	static const unsigned cpus[] = {3};

	(void)state;
	assert_non_null(out);
	report_init(&report, "host", cpus, 1);
	report.view.cpu[0].observed_ns = 3500000000;
	own_period_begin(&p, report.view.run.started_ns);
	render_period_head(out);
	a = report_hiccup(&report, 0, 100000000, 0, 0);
	begun(a, SOURCE_VECTOR, VECTOR_LOCAL_TIMER, NULL, 4000, 1);
	/* One softirq that ran two functions is one; two threads that follow each other are two. */
	begun(a, SOURCE_SOFTIRQ, 1, "f", 2000, 1);
	begun(a, SOURCE_SOFTIRQ, 1, "g", 1000, 0);
	begun(a, SOURCE_THREAD, 7, NULL, 0, 1);
	begun(a, SOURCE_THREAD, 8, NULL, 0, 1);
	begun(a, SOURCE_NMI, 0, NULL, 0, 3);
	report_end(&report, NULL);
	period_takes(&p, a, out);
	a = report_hiccup(&report, 0, 900000000, 0, 1300000000); /* nothing was seen: hardware */
	report_end(&report, "hardware or hypervisor");
	period_takes(&p, a, out);
	end = report.view.run.started_ns + report.view.cpu[0].observed_ns;
	while (own_period_over(&p, end, &done))
		render_period(&report.view, 0, &done, out);
	assert_true(own_period_rest(&p, end, &done));
	render_period(&report.view, 0, &done, out);
	assert_false(own_period_rest(&p, end - 450000000, &done)); /* 50 ms are not worth a line */
	assert_true(own_period_rest(&p, end - 449999999, &done));
	fclose(out);
	assert_string_equal(words(text, 0),
			    "CPU RUNTIME NOISE %CPU-AVAIL MAX-SINGLE HW NMI IRQ SIRQ THREAD");
	assert_string_equal(words(text, 1), "3 1000000 100007 89.99930 1300000 1 3 1 1 2");
	assert_string_equal(words(text, 2), "3 1000000 1000000 0.00000 0 0 0 0 0 0");
	assert_string_equal(words(text, 3), "3 1000000 200000 80.00000 0 0 0 0 0 0");
	assert_string_equal(words(text, 4), "3 500000 0 100.00000 0 0 0 0 0 0");
	free(text);
	report_free(&report);
}

static void thresholds(void **state)
{
	(void)state;
	assert_int_equal(style_threshold(STYLE_OSJITTER), 100);
	assert_int_equal(style_threshold(STYLE_OSLAT), 1000); /* the width of its buckets */
	assert_int_equal(style_threshold(STYLE_OSNOISE), 1000);
	assert_int_equal(style_threshold(STYLE_SYSJITTER),
			 0); /* the threshold must be given there; here it is the loop's */
}

/* cyclictest's lines, and the histogram of its -h, of latencies on two CPUs. */
static void cyclictest(void **state)
{
	static const uint64_t latency[2][4] = {{1999, 2000, 2999, 41000},
					       {5000, 5999, 7100, 90000}};
	struct cyclictest_style style = {1000000, false, 0, 80};
	char *text = NULL;
	size_t len;
	FILE *out;

	(void)state;
	begin();
	for (int i = 0; i < 2; i++) {
		struct cpu *c = &report.view.cpu[i];

		c->series = calloc(1, sizeof(*c->series));
		assert_non_null(c->series);
		strcpy(c->series->name, "latency");
		assert_int_equal(hist_init(&c->series->hist, SERIES_BITS), 0);
		c->nseries = 1;
		c->sampler_pid = 811 + i;
		for (int k = 0; k < 4; k++)
			hist_add(&c->series->hist, c->series->last = latency[i][k]);
	}
	out = open_memstream(&text, &len);
	assert_int_equal(render_cyclictest(&report.view, &style, out), 0);
	style.histogram = 8;
	assert_int_equal(render_cyclictest(&report.view, &style, out), 0);
	style = (struct cyclictest_style){1000000, true, 0, 80};
	assert_int_equal(render_cyclictest(&report.view, &style, out), 0);
	style = (struct cyclictest_style){1000000, false, 6, 80, true};
	assert_int_equal(render_cyclictest(&report.view, &style, out), 0);
	fclose(out);
	assert_string_equal(
		text,
		"T: 0 (  811) P:80 I:1000 C:      4 Min:      1 Act:   41 Avg:   11 Max:      41\n"
		"T: 1 (  812) P:80 I:1000 C:      4 Min:      5 Act:   90 Avg:   27 Max:      90\n"
		"# Histogram\n000000 000000\t000000\n000001 000001\t000000\n"
		"000002 000002\t000000\n000003 000000\t000000\n000004 000000\t000000\n"
		"000005 000000\t000002\n000006 000000\t000000\n000007 000000\t000001\n"
		"# Total: 000000003 000000003\n# Min Latencies: 00001 00005\n"
		"# Avg Latencies: 00011 00027\n# Max Latencies: 00041 00090\n"
		"# Histogram Overflows: 00001 00001\n# Histogram Overflow at cycle number:\n"
		"# Thread 0: # 00001 others\n# Thread 1: # 00001 others\n"
		"T: 0 (  811) P:80 I:1000 C:      4 Min:   1999 Act:   41000 Avg:   11999 "
		"Max:   41000\n"
		"T: 1 (  812) P:80 I:1000 C:      4 Min:   5000 Act:   90000 Avg:   27024 "
		"Max:   90000\n"
		"# Histogram\n000000 000000\t000000\t000000\n"
		"000001 000001\t000000\t000001\n000002 000002\t000000\t000002\n"
		"000003 000000\t000000\t000000\n000004 000000\t000000\t000000\n"
		"000005 000000\t000002\t000002\n# Total: 000000003 000000002 000000005\n"
		"# Min Latencies: 00001 00005\n# Avg Latencies: 00011 00027\n"
		"# Max Latencies: 00041 00090 00090\n# Histogram Overflows: 00001 00002 00003\n"
		"# Histogram Overflow at cycle number:\n"
		"# Thread 0: # 00001 others\n# Thread 1: # 00002 others\n");
	free(text);
	report_free(&report);
}

static int no_node(unsigned cpu)
{
	(void)cpu;
	return 0;
}

/* The bins of rt-tests' JSON have the unit of all its values: with -N ns. */
static void cyclictest_json(void **state)
{
	struct cyclictest_style style = {.interval_ns = 1000000, .histogram = 3000};
	const struct rt_test test = {"", "", "", "", "", "", "", false, 0, no_node};
	char *text = NULL;
	size_t len;
	FILE *out;

	(void)state;
	begin();
	report.view.cpu[0].series = calloc(1, sizeof(*report.view.cpu[0].series));
	assert_non_null(report.view.cpu[0].series);
	strcpy(report.view.cpu[0].series->name, "latency");
	assert_int_equal(hist_init(&report.view.cpu[0].series->hist, SERIES_BITS), 0);
	report.view.cpu[0].nseries = 1;
	hist_add(&report.view.cpu[0].series->hist, 100);
	hist_add(&report.view.cpu[0].series->hist, 2999);
	hist_add(&report.view.cpu[0].series->hist, 41000);
	for (int ns = 0; ns < 2; ns++) {
		style.nanoseconds = ns;
		out = open_memstream(&text, &len);
		assert_int_equal(render_cyclictest_json(&report.view, &style, &test, out), 0);
		fclose(out);
		assert_non_null(
			strstr(text, ns ? "\"resolution_in_ns\": 1," : "\"resolution_in_ns\": 0,"));
		assert_non_null(strstr(text, ns ? "\"histogram\": {\n        \"100\": 1,\n"
						  "        \"2999\": 1\n      },"
						: "\"histogram\": {\n        \"0\": 1,\n"
						  "        \"2\": 1,\n        \"41\": 1\n"
						  "      },"));
		free(text);
	}
	report_free(&report);
}

/* A row for each side, the one that sends first above; with several methods their names, too. */
static void pingpong(void **state)
{
	static const unsigned cpu[2] = {3, 2};
	char *text = NULL;
	size_t len;
	FILE *out;

	(void)state;
	begin();
	for (unsigned i = 0; i < 2; i++) {
		struct cpu *c = &report.view.cpu[i];

		c->series = calloc(2, sizeof(*c->series));
		assert_non_null(c->series);
		c->nseries = 1;
		for (unsigned k = 0; k < 2; k++) {
			strcpy(c->series[k].name, k ? "pipe" : "spin");
			assert_int_equal(hist_init(&c->series[k].hist, SERIES_BITS), 0);
			for (unsigned n = 1; n <= 10; n++)
				hist_add(&c->series[k].hist, n * (i + 1) * (k ? 10 : 1));
		}
	}
	out = open_memstream(&text, &len);
	assert_non_null(out);
	assert_int_equal(render_pingpong(&report.view, cpu, out), 0);
	report.view.cpu[0].nseries = report.view.cpu[1].nseries = 2;
	assert_int_equal(render_pingpong(&report.view, cpu, out), 0);
	fclose(out);
	assert_string_equal(words(text, 0), "Thread TSC_khz #delta min_ns max_ns median_ns p20_ns "
					    "p80_ns p90_ns p99_ns p99.9_ns mad_ns");
	assert_string_equal(words(text, 1), "0 2400000 10 2 20 10 4 16 18 20 20 4");
	assert_string_equal(words(text, 2), "1 2400000 10 1 10 5 2 8 9 10 10 2");
	assert_string_equal(words(text, 5), "0 2400000 10 20 200 100 40 160 180 200 200 40 pipe");
	assert_string_equal(words(text, 7), "1 2400000 10 10 100 50 20 80 90 100 100 20 pipe");
	free(text);
	report_free(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(osjitter),   cmocka_unit_test(hiccups),
		cmocka_unit_test(sysjitter),  cmocka_unit_test(lost),
		cmocka_unit_test(raw),        cmocka_unit_test(raw_head),
		cmocka_unit_test(oslat),      cmocka_unit_test(oslat_options),
		cmocka_unit_test(osnoise),    cmocka_unit_test(available),
		cmocka_unit_test(cyclictest), cmocka_unit_test(cyclictest_json),
		cmocka_unit_test(pingpong),   cmocka_unit_test(thresholds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
