/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The HTML report: names stay text and elements are closed, in views made by hand, and its size.
 * tests/cli/27-html.t and tests/browser check it with XML parsers and browsers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <stdio.h>

#include "render/html.h"
#include "render/render.h"
#include "render/schemas.h"
#include "../world/made.h"

#define MIB (1u << 20)
#define S   1000000000ULL

static struct report report, other;

static char *render(const struct view *const *views, uint32_t n)
{
	const struct render_options options = {0};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(render_html(views, n, &options, out), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* Checks that elements are closed in order; attributes stand in quotes; outside of both there is no
 * less-than sign and no other entity. */
static void check_form(const char *text)
{
	char open[64][16];
	unsigned depth = 0;

	text = strstr(text, "<html");
	for (; text && *text; text++) {
		bool end, empty;
		size_t n = 0;

		if (*text == '&')
			assert_true(!strncmp(text, "&amp;", 5) || !strncmp(text, "&lt;", 4) ||
				    !strncmp(text, "&gt;", 4) || !strncmp(text, "&quot;", 6) ||
				    !strncmp(text, "&#39;", 5));
		assert_true(*text == '\n' || *text == '\t' || (unsigned char)*text >= 0x20);
		if (*text != '<')
			continue;
		end = *++text == '/';
		text += end;
		while (isalnum((unsigned char)text[n]))
			n++;
		assert_in_range(n, 1, sizeof(open[0]) - 1);
		if (!end && depth < 64) {
			memcpy(open[depth], text, n);
			open[depth++][n] = '\0';
		} else {
			assert_true(depth && strlen(open[depth - 1]) == n &&
				    !memcmp(open[depth - 1], text, n));
			depth--;
		}
		for (text += n; *text != '>'; text++) {
			assert_true(*text && *text != '<');
			if (*text == '"')
				for (text++; *text != '"'; text++)
					assert_true(*text && *text != '<');
		}
		empty = text[-1] == '/';
		depth -= empty;
	}
	assert_int_equal(depth, 0);
}

static unsigned occurrences(const char *text, const char *what)
{
	unsigned n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static void test_plain(void **state)
{
	const struct view *view = &report.view;
	char *text;

	(void)state;
	report_plain(&report, "web-07");
	text = render(&view, 1);
	check_form(text);
	assert_int_equal(occurrences(text, "<section "), 1);
	assert_int_equal(occurrences(text, "<ol class=\"worst\">"), 1);
	assert_non_null(strstr(text, "<title>web-07 · culprit</title>"));
	assert_non_null(strstr(text, "[kworker/3:1] [812] &gt; vmstat_update"));
	assert_non_null(strstr(text, "by poke [4414] on cpu 0"));
	assert_null(strstr(text, "<script"));
	assert_null(strstr(text, "://"));
	free(text);
	report_free(&report);
}

static void test_several(void **state)
{
	const struct view *const views[] = {&report.view, &other.view};
	char *text;

	(void)state;
	report_plain(&report, "web-07");
	report_plain(&other, "db-1");
	text = render(views, 2);
	check_form(text);
	assert_int_equal(occurrences(text, "<section class=\"view\""), 2);
	assert_true(occurrences(text, "<a href=\"#r1\">web-07</a>") >= 2);
	assert_true(occurrences(text, "<a href=\"#r2\">db-1</a>") >= 2);
	assert_non_null(strstr(text, "id=\"r2\""));
	free(text);
	report_free(&report);
	report_free(&other);
}

static void test_hostile_names_are_text(void **state)
{
	const struct view *view = &report.view;
	char *text;

	(void)state;
	report_hostile(&report);
	strcpy(report.view.run.started, "<b>\"'&\x1b[1mT00000000000000");
	strcpy(report.view.run.sampler, "\xef\xbf\xbf<i>"); /* U+FFFF, which may not stand in XML */
	strcpy(report.view.run.incomplete, "<u>'\"");
	strcpy(report.view.run.rest, "\"><s>'&"); /* quotes are escaped, too, for attributes */
	text = render(&view, 1);
	check_form(text);
	assert_non_null(strstr(text, "title=\"&quot;&gt;&lt;s&gt;&#39;&amp; "));
	assert_null(strstr(text, "<script"));
	assert_non_null(strstr(text, "&lt;script&gt;"));
	assert_non_null(strstr(text, "\\xef\\xbf\\xbf&lt;i&gt;"));
	free(text);
	report_free(&report);
}

/* A reader copies a command to a shell; whatever it is made of, it is text here. */
static void test_commands_keep_their_backslashes(void **state)
{
	const struct view *view = &report.view;
	struct finding *x;
	char *text;

	(void)state;
	report_plain(&report, "web-07");
	x = findings_add(&report.view.findings, "cpu_quota", FINDING_FAIL);
	assert_non_null(x);
	x->title = strdup("back\\slash");
	x->fix = strdup("echo max > '/machine-qemu\\x2d3<b>\x1b.scope/cpu.max'");
	x->fix_kind = FIX_COMMAND;
	x->cost_ns = 1000;
	text = render(&view, 1);
	check_form(text);
	assert_non_null(strstr(text, "<code>echo max &gt; "
				     "&#39;/machine-qemu\\x2d3&lt;b&gt;\\x1b.scope/cpu.max&#39;"));
	assert_non_null(strstr(text, ">back\\\\slash<"));
	free(text);
	report_free(&report);
}

/* Commands in advice are code, prose is not, and a cause leads to its entry. */
static void test_causes(void **state)
{
	const struct view *view = &report.view;
	char *text;

	(void)state;
	report_plain(&report, "web-07");
	report.view.entries.row = calloc(1, sizeof(struct book_entry));
	assert_non_null(report.view.entries.row);
	report.view.entries.n = 1;
	report.view.entries.row[0] =
		(struct book_entry){.id = "K01",
				    .title = "vmstat_update folds counters",
				    .what = "Counters & more.",
				    .why = "It is <per CPU>.",
				    .source = "mm/vmstat.c",
				    .confirm = strdup("`grep 'a\\[x' /proc/y` shows it."),
				    .fix = strdup("Set it: `sysctl a=1 > 'b\\c'`. Or not.")};
	strcpy(report.view.cpu[1].verdict, "cpu 3 loses much to <b>: sysctl vm.stat_interval=120");
	text = render(&view, 1);
	check_form(text);
	assert_non_null(strstr(text,
			       "<a class=\"cause\" href=\"#r1-K01\" title=\"vmstat_update folds "
			       "counters\">K01</a> <code>sysctl vm.stat_interval=120</code>"));
	assert_non_null(
		strstr(text, "<summary id=\"r1-K01\"><span class=\"cause\">K01</span> vmstat"));
	assert_non_null(strstr(text, "Counters &amp; more."));
	assert_non_null(strstr(text, "<code>grep &#39;a\\[x&#39; /proc/y</code> shows it."));
	assert_non_null(strstr(text, "&lt;b&gt;: <code>sysctl vm.stat_interval=120</code>"));
	free(text);
	report_free(&report);
}

/* Rows of next to no time are folded, and none is missing. */
static void test_small_rows(void **state)
{
	static const unsigned cpus[] = {3};
	const struct view *view = &report.view;
	char *text, name[32];

	(void)state;
	for (uint32_t small = 1; small < 4; small++) {
		report_init(&report, "web-07", cpus, 1);
		report_hiccup(&report, 0, 1000, 0, 0);
		report_piece(&report, SOURCE_IRQ, 3, "eth0", NULL, 10000000);
		for (uint32_t i = 0; i < small; i++) {
			snprintf(name, sizeof(name), "little-%u", i);
			report_piece(&report, SOURCE_IRQ, 10 + i, name, NULL, 400);
		}
		report_end(&report, NULL);
		text = render(&view, 1);
		check_form(text);
		snprintf(name, sizeof(name), "<summary>%u rows of less", small);
		assert_int_equal(!!strstr(text, name), small > 1);
		assert_int_equal(occurrences(text, "<table class=\"sources\">"), small > 1 ? 2 : 1);
		assert_int_equal(occurrences(text, "<td class=\"who\">"), 1 + small);
		free(text);
		report_free(&report);
	}
}

/* No hiccups at all, a single one, one of no length, and one that nothing explains. */
static void test_little(void **state)
{
	static const unsigned cpus[] = {3};
	const struct view *view = &report.view;

	(void)state;
	for (unsigned hiccups = 0; hiccups < 4; hiccups++) {
		char *text;

		report_init(&report, "quiet", cpus, 1);
		if (hiccups == 1) {
			report_hiccup(&report, 0, 5, 20, 0);
			report_piece(&report, SOURCE_IRQ, 3, "eth0", NULL, 1);
			report_end(&report, NULL);
		} else if (hiccups) {
			report_hiccup(&report, 0, 999999999, 0, hiccups == 2 ? 0 : 3 * S);
			report_end(&report, "steal");
		}
		text = render(&view, 1);
		check_form(text);
		assert_int_equal(!!strstr(text, "When time was lost"), hiccups > 0);
		assert_null(strstr(text, "nan%"));
		assert_null(strstr(text, ":nan"));
		assert_null(strstr(text, "inf%"));
		free(text);
		report_free(&report);
	}
}

/* Ten minutes of sixteen CPUs, each with something everywhere: a thousand sources with long names,
 * all slots in use, the worst hiccups with as many spans as there can be. */
static void test_at_most_3_mib(void **state)
{
	static const enum source_kind kinds[6] = {SOURCE_IRQ,     SOURCE_IRQ,    SOURCE_SOFTIRQ,
						  SOURCE_SOFTIRQ, SOURCE_THREAD, SOURCE_THREAD};
	static const uint32_t rows[6] = {90, 90, 60, 60, 180, 180};
	static struct span span[SPANS_MAX];
	unsigned cpus[16];
	const struct view *view = &report.view;
	char *text, name[64];

	(void)state;
	for (unsigned i = 0; i < 16; i++)
		cpus[i] = i;
	report_init(&report, "big", cpus, 16);
	report.view.run.duration_ns = 600 * S;
	for (unsigned cpu = 0; cpu < 16; cpu++) {
		struct cpu *s = &report.view.cpu[cpu];

		report.view.cpu[cpu].observed_ns = 600 * S;
		for (uint32_t i = 0; i < 60000; i++) {
			struct piece piece[6];
			struct account a = {.start_ns = WORLD_STARTED + i * S / 100,
					    .pieces = piece,
					    .npieces = 6,
					    .spans = span,
					    .nspans = SPANS_MAX,
					    .spans_left = 77};

			for (uint32_t k = 0; k < 6; k++) {
				snprintf(name, sizeof(name),
					 "a name of fifty letters that is <escaped> & long %3u",
					 i % rows[k]);
				piece[k] = (struct piece){
					.source = sources_find(&s->sources, kinds[k],
							       i % rows[k] + 500 * k, name, NULL),
					.net_ns = 1000 + 100 * k + i};
				source_add(s->sources.row[piece[k].source], piece[k].net_ns, true);
				a.attributed_ns += piece[k].net_ns;
			}
			a.edge_ns = a.outside_ns = 500;
			a.duration_ns = a.attributed_ns + 1000;
			for (uint32_t k = 0; i >= 59990 && k < SPANS_MAX; k++)
				span[k] = (struct span){
					a.start_ns + a.duration_ns / SPANS_MAX * k,
					a.start_ns + a.duration_ns / SPANS_MAX * (k + 1) - 100,
					.source = k, .depth = k % 5};
			a.nspans = i >= 59990 ? SPANS_MAX : 0;
			summary_add(&report.view, cpu, &a);
		}
	}
	text = render(&view, 1);
	check_form(text);
	print_message("16 CPUs, 10 minutes: %zu bytes\n", strlen(text));
	assert_true(strlen(text) < 3 * MIB);
	free(text);
	report_free(&report);
}

static unsigned times_in(const char *text, const char *word)
{
	unsigned n = 0;

	for (const char *at = text; (at = strstr(at, word)); at++)
		n++;
	return n;
}

/* A kind has a place in legends, a colour on light ground and one on dark, and is in the schema of
 * JSON reports. */
static void test_kinds(void **state)
{
	bool has_place[TIMELINE_KINDS] = {false};
	char word[64];

	(void)state;
	for (unsigned i = 0; i < TIMELINE_KINDS; i++)
		has_place[kind_legend[i]] = true;
	for (unsigned k = 0; k < TIMELINE_KINDS; k++) {
		assert_true(has_place[k]);
		snprintf(word, sizeof(word), "\n.k-%s { --kind: var(--%s);", html_class(k),
			 html_class(k));
		assert_int_equal(times_in(html_css, word), 1);
		snprintf(word, sizeof(word), "--%s: #", html_class(k));
		assert_int_equal(times_in(html_css, word), 2);
	}
	for (enum source_kind k = 0; k < SOURCE_KINDS; k++) {
		const char *kinds = NULL;

		for (int i = 0; !kinds && schema_report[i]; i++)
			kinds = strstr(schema_report[i], "\"kind\": {\"enum\": [");

		snprintf(word, sizeof(word), "\"%s\"", source_kind_name(k));
		assert_true(strstr(kinds, word) && strstr(kinds, word) < strchr(kinds, ']'));
	}
}

/* Draws this many lines of one distribution. Returns the figure. */
static char *draw(const struct hist *hist, uint32_t n)
{
	struct html_line *line = calloc(n, sizeof(*line));
	struct html h = {.view = &report.view};
	char *text = NULL;
	size_t len = 0;

	assert_non_null(line);
	for (uint32_t i = 0; i < n; i++) {
		snprintf(line[i].name, sizeof(line[i].name), "m%u", i);
		line[i].hist = hist;
	}
	h.out = open_memstream(&text, &len);
	assert_non_null(h.out);
	html_percentiles(&h, report.view.ncpus, line, n);
	fclose(h.out);
	free(line);
	return text;
}

/* Lines beyond those that have a colour are counted, in a sentence. */
static void test_lines_left_out(void **state)
{
	static const unsigned cpus[] = {1};
	struct hist hist;
	char *text;

	(void)state;
	report_init(&report, "web-07", cpus, 1);
	assert_int_equal(hist_init(&hist, 7), 0);
	for (uint64_t ns = 1; ns <= 1000; ns++)
		hist_add(&hist, 100 * ns);
	text = draw(&hist, 8);
	assert_null(strstr(text, "not drawn"));
	free(text);
	text = draw(&hist, 11);
	assert_non_null(strstr(text, "<p class=\"say\">And 3 more, not drawn here.</p>"));
	assert_non_null(strstr(text, ">m7<"));
	assert_null(strstr(text, "m8"));
	free(text);
	hist_free(&hist);
	report_free(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_hostile_names_are_text),
		cmocka_unit_test(test_commands_keep_their_backslashes),
		cmocka_unit_test(test_causes),
		cmocka_unit_test(test_small_rows),
		cmocka_unit_test(test_little),
		cmocka_unit_test(test_at_most_3_mib),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_lines_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
