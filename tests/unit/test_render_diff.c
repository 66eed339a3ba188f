/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The comparison as text, Markdown and JSON: one to the byte, and of runs with hostile names that
 * no line is wider than the page and no byte reaches a terminal that could drive it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "base/escape.h"
#include "render/diff.h"
#include "../world/made.h"

static const unsigned one_cpu[] = {3}, two_cpus[] = {3, 4};
static double between = 1;
static const char *const names[DIFF_FILES] = {"before.rec", "after.rec", "later.rec", "d.rec",
					      "e.rec",      "f.rec",     "g.rec",     "h.rec"};

/* The printed text, owned by the caller. */
static char *print(const struct view *const *views, uint32_t n, enum diff_format format,
		   unsigned width)
{
	const struct render_options options = {.width = width};
	struct diff d;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(diff_of(&d, views, n, between), 0);
	assert_int_equal(render_diff(&d, names, format, &options, out), 0);
	diff_free(&d);
	fclose(out);
	return text;
}

/* A tick in both; a worker that is gone, and 2 ms a second of poke that is new. */
static void make_two(struct view *a, struct view *b)
{
	run_init(a, one_cpu, 1, 10);
	run_init(b, one_cpu, 1, 10);
	for (unsigned i = 0; i < 100; i++) {
		run_add(a, 0, 0.05 + 0.1 * i, SOURCE_VECTOR, 236, "local_timer",
			"tick_nohz_handler", 2000);
		run_add(b, 0, 0.05 + 0.1 * i, SOURCE_VECTOR, 236, "local_timer",
			"tick_nohz_handler", 2000);
		run_add(b, 0, 0.03 + 0.1 * i, SOURCE_THREAD, 4711, "poke", NULL, 200000);
	}
	for (unsigned i = 0; i < 1200; i++)
		run_add(a, 0, 0.001 + 0.008 * i, SOURCE_THREAD, 812, "kworker/3:1", "vmstat_update",
			1000);
	cpus_add(&b->host.isolated, 3);
	strcpy(a->host.cmdline, "quiet");
	strcpy(b->host.cmdline, "quiet isolcpus=3");
	strcpy(b->run.started, "2026-03-01T12:10:00.000000007Z");
}

static const char text_wanted[] =
	"culprit " CULPRIT_VERSION " · 2 sides, compared with A\n"
	"\n"
	"  side  path        host  kernel  cpu  observed  started\n"
	"  A     before.rec  host  6.12.9  3      10.0 s  2026-03-01T12:00:00Z\n"
	"  B     after.rec   host  6.12.9  3      10.0 s  2026-03-01T12:10:00Z\n"
	"\n"
	"  nothing here tells how far two windows differ with nothing changed: up to a\n"
	"  factor of 3 is assumed (--between), and the intervals are wider by it. Several\n"
	"  recordings a side, made in turn, tell it\n"
	"\n"
	"not the same\n"
	"  what              A  B\n"
	"  isolated CPUs     -  3\n"
	"  cmdline isolcpus  -  isolcpus=3\n"
	"\n"
	"all hiccups, each second of a CPU\n"
	"                       A        B  ratio  95 % interval  verdict\n"
	"  time lost       140 us  2.02 ms   14.4      3.08 - 53  worse\n"
	"  hiccups            130       20  0.154  0.044 - 0.538\n"
	"  attributed      140 us  2.02 ms\n"
	"  edge              0 ns     0 ns\n"
	"  outside           0 ns     0 ns\n"
	"  median length  1.00 us  2.01 us\n"
	"  p99 length     2.00 us   200 us\n"
	"  p99.9 length   2.00 us   200 us\n"
	"  longest        2.00 us   200 us\n"
	"\n"
	"sources, time each second of a CPU\n"
	"  verdict        A        B  ratio  95 % interval  kind    who\n"
	"  gone      120 us        0      0      0 - 0.012  thread  kworker/3:* >\n"
	"                                                           vmstat_update\n"
	"  unclear        0  2.00 ms    inf     8.87 - inf  thread  poke\n"
	"  same     20.0 us  20.0 us      1       0.25 - 4  vector  local_timer >\n"
	"                                                           tick_nohz_handler\n"
	"  same: may be chance, with 3 sources to look at, or weighs little\n"
	"  where one side has none, the ratio is that of the counts\n"
	"  unclear: not chance within these windows, and yet not surely more than a\n"
	"  factor of 3 between them, or fewer than 1,000 intervals in each, as any\n"
	"  program makes that comes or goes\n"
	"  to tell, record each side three times, in turn, for 10.0 s or longer: a1, b1,\n"
	"  a2, b2, a3, b3; then culprit diff a1.rec a2.rec a3.rec -- b1.rec b2.rec b3.rec\n"
	"\n"
	"lengths, by how often they came\n"
	"                 |1 us               |10 us               |100 us\n"
	"  all hiccups\n"
	"    A     130/s  █     ▃\n"
	"    B      20/s        ▃                                        ▃\n"
	"  thread kworker/3:* > vmstat_update\n"
	"    A     120/s  █\n"
	"    B       0/s\n"
	"  thread poke\n"
	"    A       0/s\n"
	"    B      10/s                                                 █\n"
	"  vector local_timer > tick_nohz_handler\n"
	"    A      10/s        █\n"
	"    B      10/s        █\n"
	"  (heights: the root of how often, on one scale for all files)\n";

static void test_text(void **state)
{
	struct view a, b;
	const struct view *views[] = {&a, &b};
	char *text;

	(void)state;
	make_two(&a, &b);
	between = DIFF_BETWEEN;
	text = print(views, 2, DIFF_TEXT, 80);
	between = 1;
	assert_string_equal(text, text_wanted);
	free(text);
	view_free(&a);
	view_free(&b);
}

static void test_markdown(void **state)
{
	struct view a, b;
	const struct view *views[] = {&a, &b};
	char *text;

	(void)state;
	make_two(&a, &b);
	text = print(views, 2, DIFF_MARKDOWN, 80);
	assert_non_null(strstr(text, "# culprit: 2 sides compared\n\n| side | path         |"));
	assert_non_null(strstr(text, "\n## Not the same\n\n| what "));
	assert_non_null(strstr(text, "\n| `cmdline isolcpus` | -   | `isolcpus=3` |\n"));
	assert_non_null(strstr(text, "| gone    |  120 us |       0 |     0 |     0 - 0.004 | "
				     "thread | `kworker/3:* > vmstat_update`"));
	assert_non_null(strstr(text, "\n```\n    "));
	free(text);
	view_free(&a);
	view_free(&b);
}

/* More than two: a column each, with its verdict. */
static void test_three(void **state)
{
	struct view a, b, c;
	const struct view *views[] = {&a, &b, &c};
	char *text;

	(void)state;
	make_two(&a, &b);
	run_init(&c, one_cpu, 1, 10);
	text = print(views, 3, DIFF_TEXT, 80);
	assert_non_null(strstr(text, "  time lost       140 us  worse 2.02 ms  gone 0 ns\n"));
	assert_non_null(strstr(text, "\n        0   new 2.00 ms  same 0  thread  poke\n"));
	assert_non_null(strstr(
		text, "\n   120 us        gone 0  gone 0  thread  kworker/3:* > vmstat_update\n"));
	assert_non_null(strstr(text, "\n    C       0/s\n"));
	free(text);
	view_free(&a);
	view_free(&b);
	view_free(&c);
}

/* Sides that do not fit beside each other follow in tables of their own, with those facts alone
 * that differ there. */
static void test_many_sides(void **state)
{
	struct view a, b, c;
	const struct view *views[] = {&a, &a, &a, &b, &c};
	char *text;

	(void)state;
	make_two(&a, &b);
	run_init(&c, one_cpu, 1, 10);
	text = print(views, 5, DIFF_TEXT, 80);
	assert_null(strstr(text, "not the same (A, B, C)"));
	assert_non_null(strstr(text, "\nnot the same (A, D, E)\n"));
	assert_non_null(strstr(text, "\nall hiccups, each second of a CPU (A, B, C)\n"));
	assert_non_null(strstr(text, "  time lost       140 us  same 140 us  same 140 us\n"));
	assert_non_null(strstr(text, "\nall hiccups, each second of a CPU (A, D, E)\n"));
	assert_non_null(strstr(text, "  time lost       140 us  worse 2.02 ms  gone 0 ns\n"));
	assert_non_null(strstr(text, "\n        0   new 2.00 ms  same 0  thread  poke\n"));
	free(text);
	text = print(views, 5, DIFF_MARKDOWN, 80);
	assert_non_null(strstr(
		text, "|       A |           B |           C |             D |         E |"));
	free(text);
	view_free(&a);
	view_free(&b);
	view_free(&c);
}

/* All but newlines is printable, and fits. */
static void check_page(char *text, unsigned width)
{
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		char escaped[2048];

		escape_text(line, SIZE_MAX, escaped, sizeof(escaped));
		for (char *c = line; *c; c++)
			if ((unsigned char)*c < ' ' || *c == 0x7f)
				fail_msg("a control byte in: %s", escaped);
		if (text_columns(line) > width)
			fail_msg("wider than %u: %s", width, line);
	}
}

static void test_hostile(void **state)
{
	static struct report plain, hostile;
	const struct view *views[DIFF_FILES] = {&plain.view};
	char *text;

	(void)state;
	report_plain(&plain, "web-07");
	report_hostile(&hostile);
	for (uint32_t n = 1; n < DIFF_FILES; n++)
		views[n] = &hostile.view;
	for (uint32_t n = 2; n <= DIFF_FILES; n++)
		for (unsigned width = 80; width <= 120; width += 20) {
			text = print(views, n, DIFF_TEXT, width);
			check_page(text, width);
			free(text);
		}
	text = print(views, 3, DIFF_MARKDOWN, 100);
	check_page(text, UINT32_MAX);
	free(text);
	report_free(&plain);
	report_free(&hostile);
}

/* Nothing happened in any. */
static void test_quiet(void **state)
{
	struct view a, b;
	const struct view *views[] = {&a, &b};

	(void)state;
	run_init(&a, one_cpu, 1, 10);
	run_init(&b, one_cpu, 1, 10);
	for (int format = DIFF_TEXT; format <= DIFF_JSON; format++) {
		char *text = print(views, 2, format, 80);

		assert_non_null(
			strstr(text, format == DIFF_JSON ? "\"verdict\": \"same\"" : "same"));
		assert_null(strstr(text, "nan"));
		free(text);
	}
	view_free(&a);
	view_free(&b);
}

/* Sentences about losses fit the page, and the names in them are whole and no markup. */
static void test_losses(void **state)
{
	static const char *const hostile[] = {"a  path (of many letters/<b>x.rec", "b.rec",
					      "c.rec"};
	struct view a, b;
	const struct view *first[] = {&a, &b}, *other[] = {&b};
	const struct diff_side sides[] = {{first, 2}, {other, 1}};
	static const char *const wanted[][4] = {
		{"\n  a  path (of many letters/<b>x.rec is incomplete: <i>\n",
		 "\n  a  path (of many letters/<b>x.rec: 12 hiccups and 0 records were lost:",
		 "\n  a  path (of many letters/<b>x.rec: 1 of 2 watched threads is left out,",
		 "not alike in: sys/<u>\n"},
		{"\n`a  path (of many letters/<b>x.rec` is incomplete: \\<i\\>\n",
		 "\n`a  path (of many letters/<b>x.rec`: 12 hiccups and 0 records were lost:",
		 "\n`a  path (of many letters/<b>x.rec`: 1 of 2 watched threads is left out,",
		 "not alike in: sys/\\<u\\>\n"}};
	struct diff d;

	(void)state;
	run_init(&a, two_cpus, 2, 10);
	run_init(&b, two_cpus, 2, 10);
	run_add(&a, 0, 1, SOURCE_THREAD, 4711, "poke", NULL, 200000);
	a.run.watch = b.run.watch = true;
	a.cpu[0].hiccups_lost = 12;
	a.cpu[1].reported = 1;
	strcpy(a.run.incomplete, "<i>");
	assert_int_equal(facts_add(&a.facts, "sys/<u>", 0, "1", 1), 0);
	assert_int_equal(facts_add(&b.facts, "sys/<u>", 0, "2", 1), 0);
	assert_int_equal(diff_make(&d, sides, 2, 1), 0);
	for (int format = DIFF_TEXT; format <= DIFF_MARKDOWN; format++) {
		static const struct render_options options = {.width = 80};
		char *text;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		assert_non_null(out);
		assert_int_equal(render_diff(&d, hostile, format, &options, out), 0);
		fclose(out);
		for (int i = 0; i < 4; i++)
			if (!strstr(text, wanted[format][i]))
				fail_msg("%s lacks %s", text, wanted[format][i]);
		if (format == DIFF_TEXT)
			check_page(text, 80);
		free(text);
	}
	diff_free(&d);
	view_free(&a);
	view_free(&b);
}

/* A name that is cut says so, and one that just fits is whole. */
static void test_cut_name(void **state)
{
	static const char function[] = "a_function_with_a_name_of_fifty_letters_as_some_have";
	struct view a, b;
	const struct view *views[] = {&a, &b};
	char wanted[128];
	unsigned fits;

	(void)state;
	make_two(&a, &b);
	run_add(&b, 0, 5, SOURCE_SOFTIRQ, 3, "NET_RX", function, 100000000);
	snprintf(wanted, sizeof(wanted), "\n  softirq NET_RX > %s\n", function);
	fits = (unsigned)strlen(wanted) - 2;
	for (unsigned width = fits - 1; width <= fits; width++) {
		char *text = print(views, 2, DIFF_TEXT, width);

		if (width < fits) /* the last four letters give place to three dots */
			strcpy(wanted + strlen(wanted) - 5, "...\n");
		else
			snprintf(wanted, sizeof(wanted), "\n  softirq NET_RX > %s\n", function);
		if (!strstr(text, wanted))
			fail_msg("%u columns: %s lacks %s", width, text, wanted);
		free(text);
	}
	view_free(&a);
	view_free(&b);
}

/* A source that took next to nothing took more than none: no two figures are alike with a ratio. */
static void test_little(void **state)
{
	struct view a, b;
	const struct view *views[] = {&a, &b};
	char *text;

	(void)state;
	run_init(&a, one_cpu, 1, 1000);
	run_init(&b, one_cpu, 1, 1000);
	run_add(&a, 0, 1, SOURCE_IRQ, 36, "eth0", NULL, 100);
	run_add(&b, 0, 1, SOURCE_IRQ, 36, "eth0", NULL, 400);
	run_add(&b, 0, 2, SOURCE_IRQ, 37, "eth1", NULL, 2);
	b.cpu[0].hiccups_lost = b.cpu[0].counts.lost = 1;
	text = print(views, 2, DIFF_TEXT, 80);
	assert_non_null(strstr(text, ": 1 hiccup and 1 record were lost: "));
	if (!strstr(text, " 0.10 ns  0.40 ns ") || !strstr(text, " 0  <0.01 ns "))
		fail_msg("%s", text);
	free(text);
	view_free(&a);
	view_free(&b);
}

/* A word that is wider than the page stays whole, and costs a line. */
static void test_long_word(void **state)
{
	static const struct render_options options = {.width = 60};
	static const char path[] = "sys/fs/cgroup/kubepods.slice/kubepods-burstable.slice/"
				   "cri-containerd-0f3a9c11.scope/cpu.max";
	struct view a, b;
	const struct view *first[] = {&a, &b}, *other[] = {&b};
	const struct diff_side sides[] = {{first, 2}, {other, 1}};
	struct diff d;
	char *text, wanted[256];
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	assert_non_null(out);
	make_two(&a, &b);
	assert_int_equal(facts_add(&a.facts, path, 0, "1", 1), 0);
	assert_int_equal(facts_add(&b.facts, path, 0, "2", 1), 0);
	assert_int_equal(diff_make(&d, sides, 2, 1), 0);
	assert_int_equal(render_diff(&d, names, DIFF_TEXT, &options, out), 0);
	diff_free(&d);
	fclose(out);
	snprintf(wanted, sizeof(wanted), "\n%s%s\n\n", strlen(path) + 2 > 60 ? "" : "  ", path);
	assert_non_null(strstr(text, "\n  the recordings of A are not alike in: isolated CPUs,\n"));
	if (!strstr(text, wanted))
		fail_msg("%s", text);
	free(text);
	view_free(&a);
	view_free(&b);
}

/* Thresholds that are equal are told of as such, also where each window counts from 0 on, as those
 * of watched threads do. */
static void test_thresholds(void **state)
{
	static const char differ[] =
		"the thresholds differ, and each recording's hiccups are those";
	static const struct {
		uint64_t a_ns, b_ns;
		const char *json;
		bool differ;
	} rows[] = {{200, 200, "\"threshold_ns\": 200,", false},
		    {0, 0, "\"threshold_ns\": 0,", false},
		    {0, 200, "\"threshold_ns\": null,", true},
		    {200, 0, "\"threshold_ns\": null,", true},
		    {200, 300, "\"threshold_ns\": null,", true}};
	struct view a, b;
	const struct view *views[] = {&a, &b};

	(void)state;
	make_two(&a, &b);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text, *json;

		a.cpu[0].threshold_ns = rows[i].a_ns;
		b.cpu[0].threshold_ns = rows[i].b_ns;
		text = print(views, 2, DIFF_TEXT, 100);
		json = print(views, 2, DIFF_JSON, 100);
		assert_int_equal(strstr(text, differ) != NULL, rows[i].differ);
		assert_non_null(strstr(json, rows[i].json));
		free(text);
		free(json);
	}
	view_free(&a);
	view_free(&b);
}

static void test_numbers(void **state)
{
	static const struct {
		double value;
		const char *text;
	} rows[] = {{0, "0"},       {0.0001, "<0.001"}, {0.0005, "0.001"}, {0.2061, "0.206"},
		    {0.9996, "1"},  {1.234, "1.23"},    {12.55, "12.6"},   {99.96, "100"},
		    {999.4, "999"}, {999.5, "1,000"},   {5301.4, "5,301"}, {INFINITY, "inf"},
		    {NAN, "-"}};
	char text[32];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(render_diff_number(rows[i].value, text, sizeof(text)),
				    rows[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),       cmocka_unit_test(test_markdown),
		cmocka_unit_test(test_three),      cmocka_unit_test(test_many_sides),
		cmocka_unit_test(test_hostile),    cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_thresholds), cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_long_word),  cmocka_unit_test(test_cut_name),
		cmocka_unit_test(test_little),     cmocka_unit_test(test_losses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
