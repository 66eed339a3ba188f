/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text report's lines: the worst hiccups fit the width, whatever their pieces are called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "model/report.h"
#include "render/render.h"
#include "render/text.h"
#include "../world/made.h"

static struct report report;

/* The lines below "worst hiccups", up to the end of the report. */
static char *worst_lines(unsigned width)
{
	const struct render_options options = {.width = width};
	const struct view *views[] = {&report.view};
	char *text = NULL, *from, *worst;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(render_text(views, 1, &options, out), 0);
	fclose(out);
	from = strstr(text, "\nworst hiccups\n");
	assert_non_null(from);
	from += strlen("\nworst hiccups\n");
	worst = strdup(from);
	free(text);
	assert_non_null(worst);
	return worst;
}

static void check(unsigned width, const char *want)
{
	char *got = worst_lines(width);

	assert_string_equal(got, want);
	free(got);
}

static void init(void)
{
	static const unsigned cpus[] = {1};

	report_init(&report, "web-07", cpus, 1);
}

static void kworker(uint32_t tid, const char *name, const char *function, uint64_t ns)
{
	report_key(&report, &(struct source_key){SOURCE_THREAD, tid, name, function, true, tid},
		   ns);
}

static void test_one_piece(void **state)
{
	static const char *const broken = "  +0.408044 s  cpu 1   30.3 us = [kworker/1:1] [27928]\n"
					  "          > update_balloon_stats_func 30.3 us\n";

	(void)state;
	init();
	report_hiccup(&report, 0, 408044000, 0, 0);
	kworker(27928, "kworker/1:1", "update_balloon_stats_func", 30300);
	report_end(&report, NULL);
	check(60, broken);
	check(80, broken);
	check(89, broken);
	check(90, "  +0.408044 s  cpu 1   30.3 us = [kworker/1:1] [27928] > "
		  "update_balloon_stats_func 30.3 us\n");
	report_free(&report);
}

static void test_pieces(void **state)
{
	(void)state;
	init();
	report_hiccup(&report, 0, 408044000, 500, 0);
	kworker(27928, "kworker/u16:3-ev", "mlx5e_health_update_statistics [mlx5_core]", 30300);
	kworker(31, "ksoftirqd/1", "a_function_with_a_name_that_is_nearly_as_long_as_a_line", 2000);
	report_piece(&report, SOURCE_VECTOR, VECTOR_LOCAL_TIMER, "local_timer", "tick_nohz_handler",
		     1800);
	report_end(&report, NULL);
	check(60, "  +0.408044 s  cpu 1   34.6 us = [kworker/u16:3-ev] [27928]\n"
		  "          > mlx5e_health_update_statistics [mlx5_core]\n"
		  "          30.3 us + [ksoftirqd/1] [31]\n"
		  "   > a_function_with_a_name_that_is_nearly_as_long_as_a_line\n"
		  "          2.00 us + local_timer > tick_nohz_handler 1.80 us\n"
		  "        + edge 500 ns\n");
	check(80, "  +0.408044 s  cpu 1   34.6 us = [kworker/u16:3-ev] [27928]\n"
		  "          > mlx5e_health_update_statistics [mlx5_core] 30.3 us\n"
		  "        + [ksoftirqd/1] [31]\n"
		  "          > a_function_with_a_name_that_is_nearly_as_long_as_a_line 2.00 us\n"
		  "        + local_timer > tick_nohz_handler 1.80 us + edge 500 ns\n");
	check(100, "  +0.408044 s  cpu 1   34.6 us = [kworker/u16:3-ev] [27928]\n"
		   "          > mlx5e_health_update_statistics [mlx5_core] 30.3 us\n"
		   "        + [ksoftirqd/1] [31] > "
		   "a_function_with_a_name_that_is_nearly_as_long_as_a_line 2.00 us\n"
		   "        + local_timer > tick_nohz_handler 1.80 us + edge 500 ns\n");
	report_free(&report);
}

/* The same words with a blank between them. */
static char *one_line(char *text)
{
	char *to = text, *from = text;

	while (*(from += strspn(from, " \n"))) {
		size_t len = strcspn(from, " \n");

		memmove(to, from, len);
		to += len;
		from += len;
		*to++ = ' ';
	}
	*to = '\0';
	return text;
}

/* At any width no line is longer, but for one that is a single word; and no word is lost. */
static void check_widths(void)
{
	char *all = one_line(worst_lines(10000));

	for (unsigned width = 60; width <= 140; width++) {
		char *text = worst_lines(width), *lines = strdup(text), *save = NULL;

		assert_non_null(lines);
		for (char *line = strtok_r(lines, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save)) {
			const char *word = line + strspn(line, " +>");

			if (text_columns(line) > width && strchr(word, ' '))
				fail_msg("wider than %u: %s", width, line);
			assert_int_not_equal(line[strlen(line) - 1], ' ');
		}
		assert_string_equal(one_line(text), all);
		free(lines);
		free(text);
	}
	free(all);
}

static void test_any_width(void **state)
{
	char functions[5][64]; /* the report borrows them */

	(void)state;
	init();
	for (uint32_t i = 0; i < 5; i++) {
		char name[16], *function = functions[i];

		snprintf(name, sizeof(name), "%.*s", 3 * (int)i + 3, "CPU 0/KVM 123456");
		snprintf(function, sizeof(functions[i]), "%.*s", 12 * (int)i + 12,
			 "a_rather_long_function_name_without_any_blank_in_its_name_at_all");
		report_hiccup(&report, 0, 408044000ULL * (i + 1), i * 300, i * 4000);
		report_asked(&report,
			     report_piece(&report, SOURCE_THREAD, 2792800 + i, name, function,
					  30300 + i),
			     4414000, name, 0, 2);
		kworker(31 + i, "kworker/u16:3-ev", function, 12000);
		report_piece(&report, SOURCE_IRQ, 36, "virtio1-req.0", NULL, 7000);
		report_end(&report, "hardware or hypervisor");
	}
	check_widths();
	report_free(&report);
}

/* A slow counter's tick is said: 24 MHz of an arm64 machine; that of a fast one shows nowhere. */
static void test_slow_counter(void **state)
{
	static const struct {
		uint64_t khz;
		const char *says;
	} counters[] = {{24000, " · loop 45.0 ns · a tick of the counter 41.7 ns"},
			{1000000, " · loop 45.0 ns\n"},
			{0, " · loop 45.0 ns\n"}};

	(void)state;
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		const struct view *views[] = {&report.view};
		char *text = NULL;
		size_t len = 0;
		FILE *out = open_memstream(&text, &len);

		init();
		report_hiccup(&report, 0, 408044000, 0, 0);
		kworker(27928, "kworker/1:1", NULL, 30300);
		report_end(&report, NULL);
		report.view.host.tsc_khz = counters[i].khz;
		report.view.run.traced = false;
		report.view.cpu[0].loop_count = 1;
		report.view.cpu[0].loop_mean_ns = 45;
		assert_int_equal(render_text(views, 1, &(struct render_options){.width = 100}, out),
				 0);
		fclose(out);
		if (!strstr(text, counters[i].says))
			fail_msg("%s", text);
		free(text);
		report_free(&report);
	}
}

/* A far percentile stands where a value at least lies beyond it: with 10,000 the 99.99th does, the
 * 99.999th would be the longest again. */
static void test_few_values(void **state)
{
	static struct series s = {.name = "latency"};
	struct cpu c = {.series = &s, .nseries = 1};
	struct page p = {.width = 80, .series = SERIES_LONG};
	char *text = NULL, *line;
	size_t len = 0;

	(void)state;
	assert_int_equal(hist_init(&s.hist, SERIES_BITS), 0);
	for (int i = 1; i <= 10000; i++)
		hist_add(&s.hist, i <= 9999 ? 100 : 5000);
	p.out = open_memstream(&text, &len);
	assert_non_null(p.out);
	text_series(&p, &c);
	fclose(p.out);
	hist_free(&s.hist);
	line = strstr(text, "99.99 ");
	assert_non_null(line);
	assert_non_null(strstr(text, "99.9      100 ns\n"));
	assert_memory_equal(line, "99.99     100 ns\n", strlen("99.99     100 ns\n"));
	assert_non_null(strstr(text, "99.999         -\n"));
	assert_non_null(strstr(text, "99.9999        -\n"));
	free(text);
}

/* Checks that a chart of the report has this heading. */
static void check_heading(const char *heading)
{
	const struct render_options options = {.width = 80, .chart = true};
	const struct view *views[] = {&report.view};
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(render_text(views, 1, &options, out), 0);
	fclose(out);
	assert_non_null(strstr(text, heading));
	free(text);
}

/* Sums know no hiccups, but how often the scheduler ran something else. */
static void test_heading_of_charts(void **state)
{
	(void)state;
	init();
	report_hiccup(&report, 0, 408044000, 500, 0);
	kworker(27928, "kworker/1:1", "vmstat_update", 30300);
	report_end(&report, NULL);
	check_heading("\nhiccups by percentile, and how many were how long\n");
	report.view.run.sums = true;
	check_heading("\nruns by percentile, and how many were how long\n");
	report_free(&report);
}

/* A name is one, on however many CPUs it ran, also beyond those that are listed. */
static void test_not_in_book(void **state)
{
	static const unsigned cpus[] = {1, 2, 3, 4};
	static char function[14][8];
	char *text = NULL;
	struct view v;
	struct page p = {.width = 400, .view = &v};
	size_t len = 0;

	(void)state;
	run_init(&v, cpus, 4, 10);
	v.advised = true;
	for (uint32_t i = 0; i < 4; i++)
		for (unsigned k = 0; k < 14; k++) {
			snprintf(function[k], sizeof(function[k]), "fn_%02u", k);
			run_add(&v, i, 1, SOURCE_IRQ, 36, "eth0", function[k], 1000);
		}
	p.out = open_memstream(&text, &len);
	assert_non_null(p.out);
	text_not_in_book(&p);
	fclose(p.out);
	assert_string_equal(text,
			    "\nnot in the book: fn_00, fn_01, fn_02, fn_03, fn_04, fn_05, "
			    "fn_06, fn_07, fn_08, fn_09, fn_10, fn_11, 2 more, worth adding\n");
	free(text);
	view_free(&v);
}

/* One is one: of losses, of SMIs, and of what the bounds of edges are learned from. */
static void test_one(void **state)
{
	static const char *const says[] = {
		"\n  1 more hiccup was not recorded, 900 us: ", "; 1 SMI\n",
		" a default: 1 interruption was too few to learn it from\n"};
	const struct view *views[] = {&report.view};
	struct cpu *c;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	assert_non_null(out);
	init();
	report_hiccup(&report, 0, 408044000, 0, 30300);
	report_end(&report, "hardware or hypervisor");
	c = &report.view.cpu[0];
	c->hiccups_lost = c->edge_seen.samples = c->smi_count = 1;
	c->hiccups_lost_ns = 900000;
	c->smi_known = true;
	assert_int_equal(render_text(views, 1, &(struct render_options){.width = 200}, out), 0);
	fclose(out);
	for (size_t i = 0; i < sizeof(says) / sizeof(says[0]); i++)
		if (!strstr(text, says[i]))
			fail_msg("%s: %s", says[i], text);
	free(text);
	report_free(&report);
}

/* Reports that nobody read are of any length. */
static void test_lost_reports(void **state)
{
	static const unsigned cpus[] = {1};
	struct report_cautions c;
	struct view v;

	(void)state;
	run_init(&v, cpus, 1, 10);
	v.run.watch = true;
	v.run.reports_lost = 12;
	assert_int_equal(report_cautions(&v, &c), 1);
	assert_string_equal(c.fact->text, "12 reports of watched programs, of any length, were not "
					  "read: too many came at once, or one was not finished");
	v.run.reports_lost = 1;
	assert_int_equal(report_cautions(&v, &c), 1);
	assert_string_equal(c.fact->text, "1 report of watched programs, of any length, was not "
					  "read: too many came at once, or one was not finished");
	view_free(&v);
}

/* A finding is here because it cost time, however little a second. */
static void test_little_cost(void **state)
{
	static const unsigned cpus[] = {1};
	struct view v;
	struct page p = {.width = 100, .view = &v};
	struct finding *x;
	char *text = NULL;
	size_t len = 0;

	(void)state;
	run_init(&v, cpus, 1, 1200);
	x = findings_add(&v.findings, "vmstat", FINDING_WARN);
	assert_non_null(x);
	x->title = strdup("statistics are updated often");
	x->fix = strdup("sysctl vm.stat_interval=120");
	x->cost_ns = 1000;
	p.out = open_memstream(&text, &len);
	assert_non_null(p.out);
	text_audit(&p);
	fclose(p.out);
	assert_non_null(strstr(text, " 0.83 ns/s "));
	free(text);
	view_free(&v);
}

static void check_verdict(unsigned width, const char *verdict, const char *want)
{
	static const unsigned cpus[] = {1};
	struct view v;
	struct page p = {.width = width, .view = &v};
	char *text = NULL;
	size_t len = 0;

	run_init(&v, cpus, 1, 10);
	snprintf(v.cpu[0].verdict, sizeof(v.cpu[0].verdict), "%s", verdict);
	p.out = open_memstream(&text, &len);
	assert_non_null(p.out);
	text_verdict(&p, false);
	fclose(p.out);
	assert_string_equal(text, want);
	free(text);
	view_free(&v);
}

/* A command stands on one line, or on several that a shell reads as one. */
static void test_command_of_verdict(void **state)
{
	static const char
		thread[] = "cpu 1 loses 8.09 % to hiccups; 99.1 % of that went to the "
			   "thread ALL CPUs/TCG [26198]: taskset -pc 0 26198",
		loop[] = "cpu 1 loses 8.09 % to IRQ 36 (a\\b): for i in 24 25 36 37; do echo 0 > "
			 "'/proc/of a/$i\\x2d3'; done",
		two[] = "cpu 1 loses 8.09 % to the softirq NET_RX: echo 0 > /sys/a; echo 0 > "
			"/sys/the/other/queue/of/the/device/rps_cpus";

	(void)state;
	check_verdict(60, thread,
		      "\ncpu 1 loses 8.09 % to hiccups; 99.1 % of that went to the\n"
		      "  thread ALL CPUs/TCG [26198]: taskset -pc 0 26198\n");
	check_verdict(100, thread,
		      "\ncpu 1 loses 8.09 % to hiccups; 99.1 % of that went to the thread ALL "
		      "CPUs/TCG [26198]:\n  taskset -pc 0 26198\n");
	check_verdict(60, loop,
		      "\ncpu 1 loses 8.09 % to IRQ 36 (a\\\\b):\n"
		      "  for i in 24 25 36 37; do echo 0 > '/proc/of a/$i\\x2d3'; \\\n  done\n");
	check_verdict(80, loop,
		      "\ncpu 1 loses 8.09 % to IRQ 36 (a\\\\b):\n"
		      "  for i in 24 25 36 37; do echo 0 > '/proc/of a/$i\\x2d3'; done\n");
	check_verdict(120, loop,
		      "\ncpu 1 loses 8.09 % to IRQ 36 (a\\\\b): "
		      "for i in 24 25 36 37; do echo 0 > '/proc/of a/$i\\x2d3'; done\n");
	check_verdict(60, "cpu 1 is quiet", "\ncpu 1 is quiet\n");
	/* The second of two commands does not stand alone, as if it were the whole of it. */
	check_verdict(60, two,
		      "\ncpu 1 loses 8.09 % to the softirq NET_RX: echo 0 > /sys/a;\n"
		      "  echo 0 > /sys/the/other/queue/of/the/device/rps_cpus\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slow_counter),
		cmocka_unit_test(test_one_piece),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_any_width),
		cmocka_unit_test(test_few_values),
		cmocka_unit_test(test_heading_of_charts),
		cmocka_unit_test(test_not_in_book),
		cmocka_unit_test(test_little_cost),
		cmocka_unit_test(test_one),
		cmocka_unit_test(test_lost_reports),
		cmocka_unit_test(test_command_of_verdict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
