/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The readers of osnoise's and rtla's output: real files against numbers found without this parser
 * (the rows of TRACES are what tests/fixtures/osnoise/expect prints), then lines as no kernel or as
 * only a hostile one writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "model/osnoise.h"

#define FIXTURES "tests/fixtures/osnoise/"
#define US(n)    ((uint64_t)(n)*1000)

static struct osnoise_reader r;
static struct osnoise_event last;
static uint64_t handed_out;

static int begin(void **state)
{
	(void)state;
	handed_out = 0;
	return osnoise_init(&r);
}

static int end(void **state)
{
	(void)state;
	osnoise_free(&r);
	return 0;
}

static void again(void)
{
	osnoise_free(&r);
	begin(NULL);
}

static enum osnoise_got give_n(const char *line, size_t len)
{
	enum osnoise_got got = osnoise_line(&r, line, len);

	if (got == OSNOISE_EVENT) {
		last = r.event;
		handed_out++;
	}
	return got;
}

static enum osnoise_got give(const char *line)
{
	return give_n(line, strlen(line));
}

static char *load(const char *name, size_t *len)
{
	char path[256], *text = malloc(1 << 18);
	FILE *f;

	snprintf(path, sizeof(path), FIXTURES "%s", name);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(text);
	*len = fread(text, 1, 1 << 18, f);
	assert_true(*len && *len < 1 << 18);
	fclose(f);
	return text;
}

static void feed_n(const char *text, size_t left, size_t block)
{
	struct lines *l = calloc(1, sizeof(*l));

	assert_non_null(l);
	while (left) {
		size_t n = left < block ? left : block, rest = n;
		const char *p = text;

		while (lines_next(l, &p, &rest))
			give_n(l->text, l->len);
		text += n;
		left -= n;
	}
	if (lines_last(l))
		give_n(l->text, l->len);
	osnoise_finish(&r);
	free(l);
}

static void feed_file(const char *name)
{
	size_t len;
	char *text = load(name, &len);

	feed_n(text, len, 4096);
	free(text);
}

static const struct osnoise_cpu *cpu(unsigned number)
{
	assert_true(r.slot[number]);
	return r.cpu[r.slot[number] - 1];
}

static const struct source *source(unsigned number, enum source_kind kind, uint32_t id,
				   const char *name)
{
	const struct sources *t = &cpu(number)->sources;

	for (uint32_t i = 0; i < t->count; i++)
		if (t->row[i]->kind == kind && t->row[i]->id == id &&
		    !strcmp(t->row[i]->name, name))
			return t->row[i];
	fail_msg("no source %s %u %s", source_kind_name(kind), id, name);
	return NULL;
}

/* ---- real traces ---- */

static const struct {
	const char *file;
	uint64_t lines, noises, samples, periods, timerlat, since_boot, other, alone, complete;
	uint64_t nsources, net_ns, samples_ns, explained_ns, timerlat_ns;
	enum source_kind kind; /* the source with the most time */
	uint32_t id;
	const char *name;
	uint64_t count, total_ns, max_ns;
} traces[] = {
	{"6.1-rt-noworkload-all.trace",
	 300,
	 87,
	 0,
	 0,
	 0,
	 1,
	 199,
	 0,
	 0,
	 9,
	 1020190116,
	 0,
	 0,
	 0,
	 SOURCE_THREAD,
	 131,
	 "spin",
	 19,
	 969550792,
	 402792900},
	{"6.1-rt-noworkload.report",
	 38,
	 14,
	 0,
	 0,
	 0,
	 1,
	 23,
	 0,
	 0,
	 7,
	 2554999614,
	 0,
	 0,
	 0,
	 SOURCE_THREAD,
	 211,
	 "spin",
	 3,
	 2553959841,
	 2536210183},
	{"6.1-rt-noworkload.trace",
	 221,
	 208,
	 0,
	 0,
	 0,
	 0,
	 0,
	 0,
	 0,
	 15,
	 1907689415,
	 0,
	 0,
	 0,
	 SOURCE_THREAD,
	 122,
	 "spin",
	 41,
	 1815320842,
	 1231724376},
	{"6.1-rt-stop.trace",
	 23,
	 1,
	 8,
	 0,
	 0,
	 0,
	 0,
	 7,
	 1,
	 2,
	 245508,
	 602194,
	 15303,
	 0,
	 SOURCE_OUTSIDE,
	 0,
	 "hardware or hypervisor",
	 7,
	 230205,
	 67271},
	{"6.1-rt-timerlat.trace",
	 200,
	 93,
	 0,
	 0,
	 94,
	 0,
	 0,
	 0,
	 0,
	 3,
	 1148723,
	 0,
	 0,
	 8527981,
	 SOURCE_VECTOR,
	 236,
	 "local_timer",
	 46,
	 593571,
	 33720},
	{"6.1-rt.report",
	 60,
	 0,
	 59,
	 1,
	 0,
	 0,
	 0,
	 59,
	 0,
	 1,
	 1505432,
	 1505432,
	 0,
	 0,
	 SOURCE_OUTSIDE,
	 0,
	 "hardware or hypervisor",
	 59,
	 1505432,
	 70396},
	{"6.12-noworkload.report",
	 250,
	 80,
	 0,
	 0,
	 0,
	 1,
	 169,
	 0,
	 0,
	 5,
	 1641248,
	 0,
	 0,
	 0,
	 SOURCE_VECTOR,
	 236,
	 "local_timer",
	 64,
	 1374500,
	 565170},
	{"6.12-rt-noworkload-x86-tsc.trace",
	 250,
	 52,
	 0,
	 0,
	 0,
	 1,
	 184,
	 0,
	 0,
	 4,
	 48340392,
	 0,
	 0,
	 0,
	 SOURCE_THREAD,
	 202,
	 "spin",
	 5,
	 46293845,
	 23796348},
	{"6.12-rt-noworkload.report",
	 40,
	 15,
	 0,
	 0,
	 0,
	 1,
	 24,
	 0,
	 0,
	 6,
	 2547731401,
	 0,
	 0,
	 0,
	 SOURCE_THREAD,
	 260,
	 "spin",
	 3,
	 2546893393,
	 2526798812},
	{"6.12-rt-noworkload.trace",
	 187,
	 173,
	 0,
	 0,
	 0,
	 0,
	 0,
	 0,
	 0,
	 6,
	 609171555,
	 0,
	 0,
	 0,
	 SOURCE_THREAD,
	 157,
	 "spin",
	 8,
	 607741529,
	 543208590},
	{"6.12-rt-stop.trace",
	 131,
	 2,
	 115,
	 0,
	 0,
	 0,
	 0,
	 114,
	 1,
	 3,
	 593730,
	 884989,
	 201872,
	 0,
	 SOURCE_OUTSIDE,
	 0,
	 "hardware or hypervisor",
	 114,
	 391858,
	 133180},
	{"6.12-rt.trace",
	 295,
	 176,
	 104,
	 2,
	 0,
	 0,
	 0,
	 5,
	 97,
	 11,
	 59672071,
	 60392489,
	 59454867,
	 0,
	 SOURCE_THREAD,
	 215,
	 "inject",
	 9,
	 50719043,
	 7991902},
	{"6.12-timerlat.trace",
	 150,
	 74,
	 0,
	 0,
	 65,
	 0,
	 0,
	 0,
	 0,
	 3,
	 363390,
	 0,
	 0,
	 373278,
	 SOURCE_VECTOR,
	 236,
	 "local_timer",
	 39,
	 242306,
	 20630},
	{"6.12.trace",
	 403,
	 232,
	 159,
	 2,
	 0,
	 0,
	 0,
	 5,
	 151,
	 11,
	 68485418,
	 69922150,
	 68372914,
	 0,
	 SOURCE_THREAD,
	 117,
	 "inject",
	 16,
	 59855056,
	 3997604},
	{"rtla-6.1-timerlat_trace.txt",
	 32,
	 3,
	 0,
	 0,
	 2,
	 0,
	 0,
	 0,
	 0,
	 3,
	 124777,
	 0,
	 0,
	 230425,
	 SOURCE_THREAD,
	 0,
	 "swapper/1",
	 1,
	 58417,
	 58417},
	{"rtla-6.12-timerlat_trace.txt",
	 32,
	 3,
	 0,
	 0,
	 2,
	 0,
	 0,
	 0,
	 0,
	 3,
	 1596208,
	 0,
	 0,
	 2125577,
	 SOURCE_VECTOR,
	 236,
	 "local_timer",
	 1,
	 1238200,
	 1238200},
};

static void test_traces(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
		const struct osnoise_cpu *c;
		const struct source *top;
		uint64_t net = 0;

		again();
		feed_file(traces[i].file);
		print_message("%s\n", traces[i].file);
		assert_int_equal(r.ncpus, 1);
		c = cpu(1);
		assert_int_equal(r.lines, traces[i].lines);
		assert_int_equal(r.unknown, 0);
		assert_int_equal(r.events[OSNOISE_NOISE], traces[i].noises);
		assert_int_equal(r.events[OSNOISE_SAMPLE], traces[i].samples);
		assert_int_equal(r.events[OSNOISE_PERIOD], traces[i].periods);
		assert_int_equal(r.events[OSNOISE_TIMERLAT], traces[i].timerlat);
		assert_int_equal(handed_out, traces[i].noises + traces[i].samples +
						     traces[i].periods + traces[i].timerlat);
		assert_int_equal(r.left_out_first, traces[i].since_boot);
		assert_int_equal(r.other_events, traces[i].other);
		assert_int_equal(c->samples.sum, traces[i].samples_ns);
		assert_int_equal(c->samples_alone, traces[i].alone);
		assert_int_equal(c->samples_complete, traces[i].complete);
		assert_int_equal(c->samples_explained_ns, traces[i].explained_ns);
		assert_int_equal(c->latency[TIMERLAT_IRQ].sum + c->latency[TIMERLAT_THREAD].sum,
				 traces[i].timerlat_ns);
		assert_int_equal(c->sources.count, traces[i].nsources);
		for (uint32_t k = 0; k < c->sources.count; k++)
			net += c->sources.row[k]->net.sum;
		assert_int_equal(net, traces[i].net_ns);
		top = source(1, traces[i].kind, traces[i].id, traces[i].name);
		assert_int_equal(top->net.count, traces[i].count);
		assert_int_equal(top->net.sum, traces[i].total_ns);
		assert_int_equal(top->net.max, traces[i].max_ns);
	}
}

/* The two lines in the file: 1000000 41636 95.83640 8043 2 0 262 0 39 and 1000000 35556 96.44440
 * 8017 4 2 284 0 73. */
static void test_periods(void **state)
{
	const struct osnoise_period *p;

	(void)state;
	feed_file("6.12-rt.trace");
	p = &cpu(1)->traced;
	assert_int_equal(p->count, 2);
	assert_int_equal(p->runtime_ns, US(2000000));
	assert_int_equal(p->noise_ns, US(77192));
	assert_int_equal(p->max_noise_ns, US(41636));
	assert_int_equal(p->max_single_ns, US(8043));
	assert_int_equal(p->hw, 6);
	assert_int_equal(p->nmi, 2);
	assert_int_equal(p->irq, 546);
	assert_int_equal(p->softirq, 0);
	assert_int_equal(p->thread, 112);
	again();
	feed_file("6.1-rt.report"); /* trace-cmd does not print the run time */
	p = &cpu(1)->traced;
	assert_int_equal(p->runtime_ns, UINT64_MAX);
	assert_int_equal(p->noise_ns, US(23826));
	assert_int_equal(p->max_single_ns, US(175));
	assert_int_equal(p->hw, 766);
}

static void test_stamps(void **state)
{
	(void)state;
	give("          <idle>-0       [001] dNh2.    70.957150: irq_noise: local_timer:236 start "
	     "70.955792385 duration 1238200 ns");
	assert_int_equal(last.type, OSNOISE_NOISE);
	assert_int_equal(last.kind, SOURCE_VECTOR);
	assert_int_equal(last.cpu, 1);
	assert_int_equal(last.task, 0);
	assert_true(last.stamp_ns);
	assert_int_equal(last.stamp, 70957150000);
	assert_int_equal(last.start_ns, 70955792385);
	assert_int_equal(last.duration_ns, 1238200);
	/* x86-tsc: the stamp is a counter, the start is not. */
	give("          <idle>-0       [001] dNh2.  17906424794: irq_noise: reschedule:253 start "
	     "17.802320917 duration 1350 ns");
	assert_false(last.stamp_ns);
	assert_int_equal(last.stamp, 17906424794);
	assert_int_equal(last.start_ns, 17802320917);
	/* trace-cmd report -t */
	give("            spin-211   [001]    40.760388123: irq_noise:            ttyS0:4 start "
	     "40.845946299 duration 210667 ns");
	assert_int_equal(last.kind, SOURCE_IRQ);
	assert_int_equal(last.stamp, 40760388123);
	assert_int_equal(last.task, 211);
	assert_int_equal(r.unknown, 0);
}

/* ---- rtla ---- */

static void test_osnoise_top(void **state)
{
	static const struct {
		const char *file;
		unsigned cpu;
		struct osnoise_period p;
	} rows[] = {
		{"rtla-6.12-osnoise-top.txt",
		 1,
		 {9, US(9000000), US(470604), US(198513), US(12800), 7380, 0, 20, 0, 7, false}},
		{"rtla-6.1-osnoise-top.txt",
		 1,
		 {9, US(9000000), US(106332), US(17127), US(4110), 5405, 0, 22, 0, 8, false}},
		{"rtla-6.1-osnoise-top-2cpu.txt",
		 0,
		 {4, US(4010887), US(2299300), US(606017), US(20086), 1028, 0, 874, 0, 144, false}},
		{"rtla-6.1-osnoise-top-2cpu.txt",
		 1,
		 {4, US(4014297), US(1668481), US(559414), US(17331), 2316, 0, 7, 0, 3, false}},
		{"rtla-6.12-hwnoise.txt",
		 1,
		 {5, US(3750000), US(78150), US(20377), US(301), 2868, 0, 0, 0, 0, true}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct osnoise_period *p, *want = &rows[i].p;

		again();
		feed_file(rows[i].file);
		assert_int_equal(r.unknown, 0);
		p = &cpu(rows[i].cpu)->top;
		assert_int_equal(p->count, want->count);
		assert_int_equal(p->runtime_ns, want->runtime_ns);
		assert_int_equal(p->noise_ns, want->noise_ns);
		assert_int_equal(p->max_noise_ns, want->max_noise_ns);
		assert_int_equal(p->max_single_ns, want->max_single_ns);
		assert_int_equal(p->hw, want->hw);
		assert_int_equal(p->irq, want->irq);
		assert_int_equal(p->thread, want->thread);
		assert_int_equal(p->irqs_off, want->irqs_off);
	}
	feed_file("rtla-6.1-osnoise-top-stop.txt");
	assert_true(r.stopped);
	assert_string_equal(r.saved_to, "osnoise_trace.txt");
	assert_int_equal(r.unknown, 0);
}

static void check_latency(const struct osnoise_latency *l, uint64_t count, uint64_t cur,
			  uint64_t min, uint64_t avg, uint64_t max)
{
	assert_true(l->known);
	assert_int_equal(l->count, count);
	assert_int_equal(l->cur_ns, US(cur));
	assert_int_equal(l->min_ns, US(min));
	assert_int_equal(l->avg_ns, US(avg));
	assert_int_equal(l->max_ns, US(max));
}

static void test_timerlat_top(void **state)
{
	(void)state;
	feed_file("rtla-6.1-timerlat-top.txt");
	assert_int_equal(r.unknown, 0);
	assert_int_equal(r.rtla_duration_ns, 10 * NSEC_PER_SEC);
	check_latency(&cpu(1)->rtla[TIMERLAT_IRQ], 9932, 70, 21, 91, 4682);
	check_latency(&cpu(1)->rtla[TIMERLAT_THREAD], 9932, 93, 40, 129, 4958);
	assert_false(cpu(1)->rtla[TIMERLAT_USER].known);
	again();
	feed_file("rtla-6.12-timerlat-top-user.txt");
	assert_int_equal(r.unknown, 0);
	check_latency(&cpu(1)->rtla[TIMERLAT_IRQ], 5927, 112, 34, 99, 8403);
	check_latency(&cpu(1)->rtla[TIMERLAT_USER], 5927, 194, 57, 159, 8575);
	check_latency(&r.all[TIMERLAT_USER], 5927, 0, 57, 159, 8575);
	/* One line, and no more: found by the fuzzer. */
	again();
	assert_int_equal(give("ALL #1 e0 | 1 2 3 | 1 2 3 | - - - |  Saving trace to x"),
			 OSNOISE_TAKEN);
	assert_int_equal(r.known, 1);
	assert_string_equal(r.saved_to, "x");
}

static void test_nanoseconds(void **state)
{
	(void)state;
	give("  0 00:00:02   |          IRQ Timer Latency (ns)        |         Thread Timer "
	     "Latency (ns)");
	give("  3 #17        |      100       100       100       101 |     1013      1013      "
	     "1013      1014");
	assert_int_equal(cpu(3)->rtla[TIMERLAT_THREAD].max_ns, 1014);
	give("# Time unit is nanoseconds (ns)");
	give("Index   CPU-007");
	give("250           4 ");
	assert_int_equal(r.column[0].h.count, 4);
	assert_int_equal(r.column[0].h.min, 250);
	assert_int_equal(r.unknown, 0);
}

/* Counts that nobody measured are not added up to something that looks measured. */
static void test_counts_that_do_not_fit(void **state)
{
	(void)state;
	give("# Time unit is nanoseconds (ns)");
	give("Index   CPU-007");
	assert_int_equal(give("2   18446744073709551615"), OSNOISE_UNKNOWN);
	assert_int_equal(give("1   18446744073709551614"), OSNOISE_TAKEN);
	assert_int_equal(give("0   2"), OSNOISE_UNKNOWN);
	assert_int_equal(give("0   1"), OSNOISE_TAKEN);
	assert_int_equal(give("2   1"), OSNOISE_UNKNOWN);
	assert_true(r.column[0].h.count == UINT64_MAX);
	assert_true(r.column[0].h.sum == UINT64_MAX - 1);
}

static void test_histograms(void **state)
{
	(void)state;
	feed_file("rtla-6.12-osnoise-hist.txt");
	assert_int_equal(r.unknown, 0);
	assert_int_equal(r.ncolumns, 1);
	assert_int_equal(r.column[0].cpu, 1);
	assert_int_equal(r.column[0].over, 54);
	assert_int_equal(r.column[0].h.count, 7081881 - 54);
	assert_int_equal(r.column[0].h.max, US(253));
	assert_int_equal(r.column[0].summary.count, 7081881);
	assert_int_equal(r.column[0].summary.avg_ns, 1030);
	assert_int_equal(r.column[0].summary.max_ns, US(45483));
	again();
	feed_file("rtla-6.12-timerlat-hist.txt");
	assert_int_equal(r.unknown, 0);
	assert_int_equal(r.ncolumns, 3);
	assert_string_equal(r.column[2].what, "Usr");
	assert_int_equal(r.column[0].summary.count, 9916);
	for (uint32_t i = 0; i < r.ncolumns; i++) /* rtla's summary is that of its rows */
		assert_int_equal(r.column[i].h.count + r.column[i].over, r.column[i].summary.count);
	assert_int_equal(r.all[TIMERLAT_THREAD].count, 9916);
	assert_int_equal(r.all[TIMERLAT_THREAD].avg_ns, US(164));
	again();
	feed_file("rtla-6.1-timerlat-hist.txt");
	assert_int_equal(r.unknown, 0);
	assert_int_equal(r.column[1].over, 541);
	assert_int_equal(r.column[1].h.count, 9924 - 541);
}

/* As of --no-irq: the other contexts are not taken for it. */
static void test_contexts_left_out(void **state)
{
	(void)state;
	give("Index   Thr-001   Usr-001");
	give("44            1         0 ");
	give("ALL:        Thr       Usr");
	give("count:     9916      9915 ");
	give("min:         44        57 ");
	give("avg:        164       193 ");
	assert_int_equal(give("max:       4576      4676 "), OSNOISE_TAKEN);
	assert_false(r.all[TIMERLAT_IRQ].known);
	check_latency(&r.all[TIMERLAT_THREAD], 9916, 0, 44, 164, 4576);
	check_latency(&r.all[TIMERLAT_USER], 9915, 0, 57, 193, 4676);
	assert_int_equal(give("max:  1  2  3"), OSNOISE_UNKNOWN);
	assert_int_equal(give("ALL:"), OSNOISE_UNKNOWN);
	assert_int_equal(give("ALL:  Usr  Thr"), OSNOISE_UNKNOWN);
}

static void test_buckets(void **state)
{
	(void)state;
	give("Index   IRQ-001");
	give("0      1");
	assert_int_equal(r.bucket_ns, 0);
	give("300    1");
	give("500    0");
	assert_int_equal(r.bucket_ns, US(100));
	assert_false(r.column[0].over_known);
	give("over:  2");
	assert_true(r.column[0].over_known);
	assert_int_equal(osnoise_column_count(&r.column[0]), 4);
}

/* Rows that nothing names are no buckets. */
static void test_no_index(void **state)
{
	static const char *const lines[] = {
		"   IRQ-001   Thr-001",      "       1         0 ", "     122       565 ",
		"    9916      9916 ",       "       -        44 ", "     115    164.12 ",
		"            IRQ       Thr", "    4393      4576 ",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_int_equal(give(lines[i]), OSNOISE_TAKEN);
	assert_true(r.no_index);
	assert_int_equal(r.ncolumns, 0);
	assert_int_equal(give("    4393      hello "), OSNOISE_UNKNOWN);
	give("Index   IRQ-001");
	assert_false(r.no_index);
	assert_int_equal(r.ncolumns, 1);
}

static void test_analysis(void **state)
{
	const struct osnoise_analysis *a;

	(void)state;
	feed_file("rtla-6.12-timerlat-auto.txt");
	assert_int_equal(r.unknown, 0);
	assert_true(r.stopped);
	check_latency(&r.all[TIMERLAT_THREAD], 1, 0, 1929, 1929, 1929);
	assert_int_equal(r.nanalyses, 1);
	a = r.analysis[0];
	assert_int_equal(a->cpu, 1);
	assert_int_equal(a->nparts, 6);
	assert_string_equal(a->part[0].label, "IRQ handler delay");
	assert_int_equal(a->part[0].ns, 139920);
	assert_int_equal(a->part[0].hundredths, 725);
	assert_string_equal(a->part[4].who, "swapper/1:0");
	assert_string_equal(a->part[4].label, "Blocking thread");
	assert_int_equal(a->part[4].ns, 332940);
	assert_string_equal(a->part[5].label, "Thread latency");
	assert_int_equal(a->part[5].ns, 1929170);
	assert_int_equal(a->part[5].hundredths, 10000);
	assert_int_equal(a->nframes, 13);
	assert_string_equal(a->frame[12], "common_startup_64");
	assert_int_equal(r.idle_latency_ns, 196410);
	assert_string_equal(r.saved_to, "timerlat_trace.txt");
}

/* As rtla's source prints them; no file has them all. */
static void test_analysis_of_everything(void **state)
{
	static const char *const lines[] = {
		"## CPU 12 hit stop tracing, analyzing it ##",
		"  Previous IRQ interference:                  up to       8.93 us",
		"  IRQ handler delay:                                        0.98 us (0.00 %)",
		"  NMI interference                                         10.00 us (0.10 %)",
		"  IRQ interference                                         20.00 us (0.20 %)",
		"                  local timer:x:236                        20.00 us",
		"  Softirq interference                                     30.50 us (0.30 %)",
		"                             TIMER:1                       30.50 us",
		"  Thread interference                                      40.00 us (0.40 %)",
		"                     a us (1 %) b:77                       40.00 us",
		"------------------------------------------------------------------------",
		"     IRQ latency:                                         100.00 us (100%)",
		"",
		"Printing CPU tasks:",
		"    [000]                swapper/0:0",
		"    [001]             kworker/1:1:77 kworker:vmstat_update:x",
	};
	const struct osnoise_analysis *a;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_int_equal(give(lines[i]), OSNOISE_TAKEN);
	a = r.analysis[0];
	assert_int_equal(a->nparts, 10);
	assert_int_equal(a->part[0].ns, 8930);
	assert_string_equal(a->part[4].who, "local timer:x:236");
	assert_string_equal(a->part[4].label, "IRQ interference");
	assert_string_equal(a->part[8].who, "a us (1 %) b:77");
	assert_int_equal(a->part[8].ns, 40000);
	assert_int_equal(a->part[9].ns, 100000);
}

/* ---- the traps ---- */

#define FRONT "            spin-131     [003] d...3..     6.829734: "

static void check_name(const char *payload, enum source_kind kind, uint32_t id, const char *name)
{
	char line[512];

	snprintf(line, sizeof(line), FRONT "%s start 6.829000001 duration 730 ns", payload);
	assert_int_equal(give(line), OSNOISE_EVENT);
	assert_int_equal(last.type, OSNOISE_NOISE);
	assert_int_equal(last.kind, kind);
	assert_int_equal(last.id, id);
	assert_string_equal(last.name, name);
	assert_int_equal(last.start_ns, 6829000001);
	assert_int_equal(last.duration_ns, 730);
}

static void test_names(void **state)
{
	(void)state;
	check_name("irq_noise: i8042: a b:1", SOURCE_IRQ, 1, "i8042: a b");
	check_name("irq_noise: :1", SOURCE_IRQ, 1, "");
	check_name("irq_noise: local_timer:23", SOURCE_IRQ, 23,
		   "local_timer"); /* a driver that calls itself so */
	check_name("irq_noise: nvme0q1:236", SOURCE_IRQ, 236, "nvme0q1");
	check_name("irq_noise: deferred_error:244", SOURCE_VECTOR, 244, "deferred_error_apic");
	check_name("irq_noise: x start 1.000000000 duration 1 ns:9", SOURCE_IRQ, 9,
		   "x start 1.000000000 duration 1 ns");
	check_name("irq_noise: "
		   "0123456789012345678901234567890123456789012345678901234567890123456789:5",
		   SOURCE_IRQ, 5,
		   "012345678901234567890123456789012345678901234567890123456789012");
	check_name("thread_noise:     spin:131", SOURCE_THREAD, 131, "spin");
	check_name("thread_noise: kworker/1:1:53", SOURCE_THREAD, 53, "kworker/1:1");
	check_name("thread_noise:  a: start 1:53", SOURCE_THREAD, 53,
		   " a: start 1"); /* too long to be padded */
	check_name("thread_noise:             spin:131", SOURCE_THREAD, 131,
		   "spin"); /* trace-cmd */
	check_name("thread_noise: \033[31m\xff\n:7", SOURCE_THREAD, 7, "\033[31m\xff\n");
	check_name("softirq_noise:      RCU:9", SOURCE_SOFTIRQ, 9, "RCU");
	check_name("nmi_noise:", SOURCE_NMI, 0, "NMI");
	assert_int_equal(r.unknown, 0);
}

static void test_front(void **state)
{
	static const char *const noise = "nmi_noise: start 1.000000000 duration 5 ns";
	static const struct {
		const char *front;
		uint32_t task;
		unsigned cpu;
	} good[] = {
		{"      -1 [1] 1:x-42      [002] d..h1..     1.000007: ", 42,
		 2}, /* a comm that looks like the rest */
		{"     a-9 [000] 1-43      [4095] .......     1.000007: ", 43, 4095},
		{"           <...>-4194304 [002] d..h1..     1.000007: ", 4194304, 2},
		{"            bash-44      (     44) [002] d..h1..     1.000007: ", 44, 2},
		{"bash-45 [002] d..h1.. 1.000007: ", 45, 2}, /* leading blanks lost */
		{"buffer:           bash-46    [002]     1.000007: ", 46, 2},
	};
	static const char *const bad[] = {
		"            bash-44      [8192] d..h1..     1.000007: ",
		"            bash-44      [002] d..h1..     1.000007 ",
		"            bash-44      [] d..h1..     1.000007: ",
		"            bash-x      [002] d..h1..     1.000007: ",
		"            bash-44      [002] d..h1..     x1: ",
		"            bash-99999999999 [002] d..h1..   1.000007: ",
		"            bash-44      [002] d..h1..     99999999999.000007: ",
	};
	char line[512];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		snprintf(line, sizeof(line), "%s%s", good[i].front, noise);
		assert_int_equal(give(line), OSNOISE_EVENT);
		assert_int_equal(last.task, good[i].task);
		assert_int_equal(last.cpu, good[i].cpu);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(line, sizeof(line), "%s%s", bad[i], noise);
		assert_int_equal(give(line), OSNOISE_UNKNOWN);
	}
}

static void test_numbers_that_do_not_fit(void **state)
{
	static const char *const lines[] = {
		FRONT "nmi_noise: start 1.000000000 duration 18446744073709551616 ns",
		FRONT "nmi_noise: start 18446744073.709551616 duration 1 ns",
		FRONT
		"nmi_noise: start 1.000000000 duration 18446744073709551615 ns", /* 584 years */
		FRONT "nmi_noise: start 1.000000000 duration -5 ns",
		FRONT "nmi_noise: start 1.000000000 duration 5 us",
		FRONT "nmi_noise: start 1.000000000 duration 5 ns and more",
		FRONT "irq_noise: x:99999999999 start 1.000000000 duration 5 ns",
		FRONT "irq_noise: x:-1 start 1.000000000 duration 5 ns",
		FRONT "irq_noise: start 1.000000000 duration 5 ns",
		FRONT "sample_threshold: start 1.000000000 duration 5 ns interference",
		FRONT "1000000      41636  95.83640    8043      2      0    262      0",
		FRONT "18446744073709551  1 99.0 18446744073709552      2      0    262      0 1",
		FRONT "#1  context  nobody timer_latency  1 ns",
		FRONT "osnoise: noise:1\tmax_sample:x\thw:1\tnmi:0\tirq:0\tsoftirq:0\tthread:0",
		"  9999 #9  9000000  470604  94.77106  198513  12800  7380  0  20  0  7",
		"  1 #9  9000000  470604  94.77106  198513  12800  7380  0  20",
		"  1 #9  |  1 2 3 |",
		"CPU:1 [LOST 12",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_int_equal(give(lines[i]), OSNOISE_UNKNOWN);
	assert_int_equal(r.unknown, sizeof(lines) / sizeof(lines[0]));
	assert_int_equal(r.nunknowns, OSNOISE_UNKNOWNS);
	assert_int_equal(r.unknowns[7].line, 8);
	assert_memory_equal(r.unknowns[0].text, lines[0], strlen(lines[0]));
	assert_int_equal(r.ncpus, 0);
}

static void test_left_out(void **state)
{
	(void)state;
	r.workload = 131;
	assert_int_equal(
		give(FRONT "thread_noise: swapper/1:0 start 0.000000000 duration 6829718301 ns"),
		OSNOISE_EVENT);
	assert_true(last.left_out);
	assert_int_equal(
		give(FRONT "thread_noise:     spin:131 start 6.100000000 duration 700000000 ns"),
		OSNOISE_EVENT);
	assert_true(last.left_out);
	assert_int_equal(give(FRONT "thread_noise:     spin:132 start 6.100000000 duration 7 ns"),
			 OSNOISE_EVENT);
	assert_false(last.left_out);
	assert_int_equal(r.left_out_first, 1);
	assert_int_equal(r.left_out_workload, 1);
	assert_int_equal(r.nlongest, 1);
	assert_int_equal(r.min_start_ns, 6100000000);
	assert_int_equal(r.max_end_ns, 6100000007);
	assert_int_equal(cpu(3)->sources.count, 1);
}

/* A gap is explained only by noises that began in it, and only when none is missing. */
static void test_explained(void **state)
{
	(void)state;
	give(FRONT "irq_noise: ttyS0:4 start 1.000000000 duration 100 ns"); /* before */
	give(FRONT "irq_noise: ttyS0:4 start 2.000000100 duration 200 ns");
	give(FRONT "thread_noise: rcuc/1:32 start 2.000000400 duration 300 ns");
	give(FRONT "sample_threshold: start 2.000000000 duration 1000 ns interference 2");
	assert_int_equal(cpu(3)->samples_explained_ns, 500);
	assert_int_equal(cpu(3)->samples_rest_ns, 500);
	give(FRONT "irq_noise: ttyS0:4 start 3.000000100 duration 200 ns");
	/* One interference is missing. */
	give(FRONT "sample_threshold: start 3.000000000 duration 1000 ns interference 2");
	give(FRONT "sample_threshold: start 4.000000000 duration 70 ns interference 0");
	assert_int_equal(cpu(3)->samples_complete, 1);
	assert_int_equal(cpu(3)->samples.count, 3);
	assert_int_equal(cpu(3)->samples_alone, 1);
	assert_int_equal(source(3, SOURCE_OUTSIDE, 0, "hardware or hypervisor")->net.sum, 70);
	assert_int_equal(r.ngaps, 3);
	assert_int_equal(r.gaps[2].duration_ns, 70);
}

/* Kernels from 6.18 on say each period and latency twice when all events are on. */
static void test_twice(void **state)
{
	(void)state;
	assert_int_equal(give(FRONT "osnoise_sample: runtime=1000000 noise=41636 max_sample=8043 "
				    "hw_count=2 irq_count=262 "
				    "nmi_count=0 softirq_count=1 thread_count=39"),
			 OSNOISE_EVENT);
	assert_int_equal(last.period.runtime_ns, US(1000000));
	assert_int_equal(last.period.softirq, 1);
	assert_int_equal(
		give(FRONT
		     "1000000      41636  95.83640    8043      2      0    262      1     39"),
		OSNOISE_TAKEN);
	assert_int_equal(
		give(FRONT
		     "1000000      41636  95.83640    8043      2      0    262      1     39"),
		OSNOISE_EVENT);
	assert_int_equal(give(FRONT "timerlat_sample: timer_latency=1215 seqnum=1 context=0"),
			 OSNOISE_EVENT);
	assert_int_equal(give(FRONT "#1     context    irq timer_latency      1215 ns"),
			 OSNOISE_TAKEN);
	assert_int_equal(give(FRONT "#1     context thread timer_latency      1215 ns"),
			 OSNOISE_EVENT);
	assert_int_equal(give(FRONT "timerlat: seq:1\tcontext:2\ttimer_latency:1300"),
			 OSNOISE_EVENT);
	assert_int_equal(last.context, TIMERLAT_USER);
	assert_int_equal(cpu(3)->traced.count, 2);
	assert_int_equal(cpu(3)->latency[TIMERLAT_IRQ].count, 1);
	assert_int_equal(r.unknown, 0);
}

/* A comm may hold newlines, and the kernel prints them. */
static void test_newlines(void **state)
{
	(void)state;
	assert_int_equal(give(FRONT "thread_noise: a b"), OSNOISE_TAKEN);
	assert_int_equal(give(""), OSNOISE_TAKEN);
	assert_int_equal(give("# c:77 start 6.100000000 duration 7 ns"), OSNOISE_EVENT);
	assert_string_equal(last.name, "a b\n\n# c");
	assert_int_equal(last.id, 77);
	assert_int_equal(r.unknown, 0);
	/* Cut by something else: the next record is its own, and the cut one unknown. */
	assert_int_equal(give(FRONT "thread_noise: spi"), OSNOISE_TAKEN);
	assert_int_equal(give(FRONT "thread_noise: x:1 start 6.100000000 duration 7 ns"),
			 OSNOISE_EVENT);
	assert_string_equal(last.name, "x");
	assert_int_equal(r.unknown, 1);
	/* The end of the text comes first. */
	assert_int_equal(give(FRONT "thread_noise: spi"), OSNOISE_TAKEN);
	for (int i = 0; i < 3; i++)
		give("what is this");
	osnoise_finish(&r);
	assert_int_equal(r.unknown, 5);
	assert_int_equal(r.unknowns[1].line, 6);
	assert_int_equal(r.lines, 9);
}

static void test_asides(void **state)
{
	(void)state;
	assert_int_equal(give("CPU:1 [LOST 123 EVENTS]"), OSNOISE_TAKEN);
	assert_int_equal(give("CPU:0 [7 EVENTS DROPPED]"), OSNOISE_TAKEN);
	assert_int_equal(give("##### CPU 2 buffer started ####"), OSNOISE_TAKEN);
	assert_int_equal(give("# osnoise is tainted!"), OSNOISE_TAKEN);
	assert_int_equal(give("CPU 0 is empty"), OSNOISE_TAKEN);
	assert_int_equal(give("# tracer: osnoise\r"), OSNOISE_TAKEN);
	assert_int_equal(give(FRONT "sched_wakeup: comm=rcuog/0 pid=18 prio=98 target_cpu=000"),
			 OSNOISE_TAKEN);
	assert_int_equal(give(FRONT "osnoise_main: stop tracing hit on cpu 1"), OSNOISE_TAKEN);
	assert_int_equal(give(FRONT "sched_wakeup: comm=a pid=18 prio=98 target_cpu=000"),
			 OSNOISE_TAKEN);
	assert_int_equal(give(FRONT "vfs_read <-ksys_read"), OSNOISE_UNKNOWN);
	assert_int_equal(r.lost, 130);
	assert_true(r.tainted);
	assert_int_equal(r.nother, 2);
	assert_int_equal(r.other[0].count, 2);
}

/* Two tables and a trace in one text, as `rtla ...; cat osnoise_trace.txt` writes them; the second
 * table replaces the first. */
static void test_interleaved(void **state)
{
	(void)state;
	feed_file("rtla-6.1-osnoise-top.txt");
	feed_file("rtla-6.12-osnoise-top.txt");
	feed_file("6.12-rt-stop.trace");
	feed_file("rtla-6.12-osnoise-hist.txt");
	feed_file("rtla-6.12-timerlat-auto.txt");
	feed_file("rtla-6.12-timerlat_trace.txt");
	assert_int_equal(r.unknown, 0);
	assert_int_equal(cpu(1)->top.noise_ns, US(470604));
	assert_int_equal(r.events[OSNOISE_SAMPLE], 115);
	assert_int_equal(r.column[0].summary.count, 7081881);
	assert_int_equal(r.nanalyses, 1);
	assert_int_equal(r.events[OSNOISE_TIMERLAT], 2);
}

/* Whatever is cut off: never more events than in the whole, and every line is accounted for. In
 * blocks of a size that changes. */
static void test_truncated_everywhere(void **state)
{
	static const char *const files[] = {
		"6.1-rt-stop.trace", "rtla-6.12-timerlat-auto.txt", "rtla-6.12-timerlat-top.txt",
		"6.1-rt-noworkload.report", "rtla-6.1-osnoise-top-2cpu.txt"};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		size_t len;
		char *text = load(files[i], &len), *cut;

		for (size_t n = 0; n <= len; n++) {
			again();
			cut = malloc(n + 1); /* exactly as long, for the sanitizer */
			assert_non_null(cut);
			memcpy(cut, text, n);
			feed_n(cut, n, 1 + n % 97);
			free(cut);
			assert_true(r.unknown <= 1);
			assert_true(handed_out <= 17);
		}
		free(text);
	}
}

static void test_bounds(void **state)
{
	char line[256];
	uint32_t rows = 0;

	(void)state;
	for (unsigned i = 0; i < 6000; i++) {
		snprintf(line, sizeof(line),
			 "            x-1      [%03u] d 1.0: irq_noise: name%u:%u start "
			 "1.000000000 duration %u ns",
			 i % 1200, i, i, i + 1);
		assert_int_equal(give(line), OSNOISE_EVENT);
		snprintf(line, sizeof(line), FRONT "event_%u: x", i);
		give(line);
	}
	for (uint32_t i = 0; i < r.ncpus; i++)
		rows += r.cpu[i]->sources.count;
	assert_int_equal(r.ncpus, OSNOISE_CPUS);
	assert_int_equal(r.cpus_beyond, 6000 / 1200 * (1200 - OSNOISE_CPUS));
	assert_true(rows <= OSNOISE_ROWS + OSNOISE_CPUS);
	assert_int_equal(r.nother, OSNOISE_NAMES);
	assert_int_equal(r.other_events, 6000);
	assert_int_equal(r.nlongest, OSNOISE_LONGEST);
	assert_true(r.longest[0].duration_ns > r.longest[OSNOISE_LONGEST - 1].duration_ns);
	for (unsigned i = 0; i < 100; i++) {
		give("## CPU 1 hit stop tracing, analyzing it ##");
		for (unsigned k = 0; k < 100; k++) {
			give("  IRQ latency:   1.00 us");
			give("       -> function");
		}
	}
	assert_int_equal(r.nanalyses, OSNOISE_ANALYSES);
	assert_int_equal(r.analyses_beyond, 100 - OSNOISE_ANALYSES);
	assert_int_equal(r.unknown, 0);
}

static void test_long_lines(void **state)
{
	static struct lines l;
	size_t size = 3 * LINE_BYTES, left = size;
	char *text = malloc(size), *at = text;
	const char *p = text;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', size);
	text[size - 10] = '\n';
	at[0] = '\0';
	assert_true(lines_next(&l, &p, &left));
	assert_int_equal(l.len, LINE_BYTES);
	assert_int_equal(l.ncut, 1);
	assert_int_equal(give_n(l.text, l.len), OSNOISE_UNKNOWN);
	assert_int_equal(r.unknowns[0].len, OSNOISE_TEXT);
	assert_false(lines_next(&l, &p, &left));
	assert_true(lines_last(&l));
	assert_int_equal(l.len, 9);
	assert_false(lines_last(&l));
	free(text);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_traces),
		TEST(test_periods),
		TEST(test_stamps),
		TEST(test_osnoise_top),
		TEST(test_timerlat_top),
		TEST(test_counts_that_do_not_fit),
		TEST(test_nanoseconds),
		TEST(test_histograms),
		TEST(test_contexts_left_out),
		TEST(test_buckets),
		TEST(test_no_index),
		TEST(test_analysis),
		TEST(test_analysis_of_everything),
		TEST(test_names),
		TEST(test_front),
		TEST(test_numbers_that_do_not_fit),
		TEST(test_left_out),
		TEST(test_explained),
		TEST(test_twice),
		TEST(test_newlines),
		TEST(test_asides),
		TEST(test_interleaved),
		TEST(test_truncated_everywhere),
		TEST(test_bounds),
		TEST(test_long_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
