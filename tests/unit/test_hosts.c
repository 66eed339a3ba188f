/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several reports at once: the ranking over hosts, and what text and JSON make of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "model/groups.h"
#include "model/hosts.h"
#include "model/redact.h"
#include "render/render.h"
#include "../world/made.h"

static struct report a, b, c;
static const struct view *const three[] = {&a.view, &b.view, &c.view};

static int begin(void **state)
{
	(void)state;
	report_plain(&a, "web-07");
	report_plain(&b, "db-1");
	report_plain(&c, "web-07");
	return 0;
}

static int end(void **state)
{
	(void)state;
	report_free(&a);
	report_free(&b);
	report_free(&c);
	return 0;
}

static char *written(const struct format *f, const struct view *const *views, uint32_t n,
		     unsigned width)
{
	const struct render_options options = {.width = width};
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(f->write(views, n, &options, out), 0);
	fclose(out);
	return text;
}

static const struct format *format_named(const char *name)
{
	for (const struct format *f = formats; f->choice.name; f++)
		if (!strcmp(f->choice.name, name))
			return f;
	fail_msg("no format %s", name);
	return NULL;
}

static void test_labels(void **state)
{
	char label[HOST_LABEL];

	(void)state;
	assert_string_equal(host_label(three, 1, 0, label, sizeof(label)), "web-07");
	assert_string_equal(host_label(three, 3, 1, label, sizeof(label)), "db-1");
	assert_string_equal(host_label(three, 3, 0, label, sizeof(label)), "web-07 #1");
	assert_string_equal(host_label(three, 3, 2, label, sizeof(label)), "web-07 #2");
	/* Told from each other by labels, names of files, paths. */
	a.view.file = "one/x.rec";
	c.view.file = "two/x.rec";
	assert_string_equal(host_label(three, 3, 0, label, sizeof(label)), "web-07 (one/x.rec)");
	a.view.file = "/all/runs/one/x.rec";
	c.view.file = "/all/runs/other/x.rec";
	assert_string_equal(host_label(three, 3, 0, label, sizeof(label)), "web-07 (one/x.rec)");
	assert_string_equal(host_label(three, 3, 2, label, sizeof(label)), "web-07 (other/x.rec)");
	a.view.file = "x.rec";
	c.view.file = "/x.rec";
	assert_string_equal(host_label(three, 3, 2, label, sizeof(label)), "web-07 (/x.rec)");
	a.view.file = "one/x.rec";
	c.view.file = "two/\033.rec";
	assert_string_equal(host_label(three, 3, 0, label, sizeof(label)), "web-07 (x.rec)");
	assert_string_equal(host_label(three, 3, 2, label, sizeof(label)), "web-07 (\\x1b.rec)");
	strcpy(a.view.run.label, "before");
	assert_string_equal(host_label(three, 3, 0, label, sizeof(label)), "web-07 (before)");
	assert_string_equal(host_label(three, 1, 0, label, sizeof(label)), "web-07");
	a.view.file = c.view.file = NULL;
	a.view.run.label[0] = '\0';
}

/* db-1 was observed for half as long, so that its shares are twice the others'. */
static void test_rank(void **state)
{
	struct host_source row[32];
	int n;

	(void)state;
	for (uint32_t i = 0; i < 2; i++)
		b.view.cpu[i].observed_ns /= 2;
	n = hosts_rank(three, 3, row, 32);
	assert_int_equal(n, 3 * 5);
	for (int i = 1; i < n; i++)
		assert_true((double)row[i - 1].total_ns / row[i - 1].observed_ns >=
			    (double)row[i].total_ns / row[i].observed_ns);
	assert_int_equal(row[0].view, 1);
	assert_string_equal(row[0].who->name, "hardware or hypervisor");
	assert_int_equal(row[0].total_ns, 90000);
	assert_int_equal(row[0].observed_ns, 1000000000);
	for (int i = 0; i < n; i++) {
		char cpus[32];

		if (strcmp(row[i].who->name, "local_timer"))
			continue;
		assert_int_equal(row[i].count, 11); /* runs on both CPUs */
		assert_int_equal(row[i].total_ns, 10 * 2000 + 45 + 2100);
		assert_int_equal(row[i].max_ns, 2100);
		assert_string_equal(cpus_format(&row[i].cpus, cpus, sizeof(cpus)), "2-3");
	}
	memset(row, 0, sizeof(row));
	assert_int_equal(hosts_rank(three, 3, row, 2), 3 * 5);
	assert_non_null(row[1].who);
	assert_null(row[2].who);
}

/* A watched thread's lane has a number, which is no CPU's. */
static void test_watched(void **state)
{
	const struct view *one = &a.view;
	struct host_source row[8];
	char cpus[32];

	(void)state;
	a.view.run.watch = a.view.run.windows = true;
	cpus_parse("17-18", &a.view.cpu[0].ran_on, NULL, 0);
	cpus_parse("18,40", &a.view.cpu[1].ran_on, NULL, 0);
	for (int n = hosts_rank(&one, 1, row, 8), i = 0; i < n; i++)
		if (!strcmp(row[i].who->name, "local_timer"))
			assert_string_equal(cpus_format(&row[i].cpus, cpus, sizeof(cpus)),
					    "17-18,40");
}

/* A thread gives itself any name. Nothing of one drives a terminal or ends a row. */
static void test_names_of_threads(void **state)
{
	const struct render_options options = {.width = 100, .chart = true, .all = true};

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		a.view.run.watch = a.view.run.windows = true;
		a.view.cpu[i].tid = 7 + i;
		strcpy(a.view.cpu[i].comm, "\033[31mx\n|\xff");
	}
	for (int k = 0; k < 4; k++) {
		const struct format *f = format_named(k % 2 ? "markdown" : "text");
		char *text;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		assert_non_null(out);
		assert_int_equal(f->write(three, k < 2 ? 1 : 2, &options, out), 0);
		fclose(out);
		assert_non_null(
			strstr(text, k % 2 ? "\\x1b[31mx\\x0a\\|\\xff" : "\\x1b[31mx\\x0a|\\xff"));
		assert_null(strchr(text, '\033'));
		assert_null(strchr(text, '\xff'));
		assert_null(strstr(text, "x\n|"));
		free(text);
	}
}

static void test_text(void **state)
{
	static const char head[] =
		"culprit " CULPRIT_VERSION " · 2 reports\n"
		"\n"
		"  host    cpu  lost %  hiccups    worst  first source\n"
		"  web-07  2    0.0102        6  90.0 us  hardware or hypervisor\n"
		"  web-07  3    0.0053        7  33.7 us  [kworker/3:1] [812] > vmstat_update\n"
		"  db-1    2    0.0102        6  90.0 us  hardware or hypervisor\n"
		"  db-1    3    0.0053        7  33.7 us  [kworker/3:1] [812] > vmstat_update\n"
		"\n"
		"   lost %     time  count      max  host    cpu  kind     who\n"
		"   0.0045  90.0 us      1  90.0 us  web-07  2    outside  hardware or hypervisor\n"
		"   0.0045  90.0 us      1  90.0 us  db-1    2    outside  hardware or hypervisor\n"
		"   0.0015  31.0 us      1  31.0 us  web-07  3    thread   [kworker/3:1] [812] > "
		"vmstat_update\n";
	char *one[2], *both = written(&formats[0], three, 2, 100), *at;

	(void)state;
	assert_memory_equal(both, head, sizeof(head) - 1);
	for (int i = 0; i < 2; i++)
		one[i] = written(&formats[0], three + i, 1, 100);
	at = strstr(both, "\n==== web-07, 2026-03-01T12:00:00.000000000Z ====\n");
	assert_non_null(at);
	at += strlen("\n==== web-07, 2026-03-01T12:00:00.000000000Z ====\n");
	assert_memory_equal(at, one[0], strlen(one[0]));
	at += strlen(one[0]);
	assert_memory_equal(at, "\n==== db-1, 2026-03-01T12:00:00.000000000Z ====\n",
			    strlen("\n==== db-1, 2026-03-01T12:00:00.000000000Z ====\n"));
	assert_string_equal(at + strlen("\n==== db-1, 2026-03-01T12:00:00.000000000Z ====\n"),
			    one[1]);
	free(one[0]);
	free(one[1]);
	free(both);
}

/* Shares of alike ones: not known, zero, and next to zero. */
static void test_shares(void **state)
{
	static const unsigned cpus[] = {4, 5, 6};
	static const struct {
		uint64_t lost_ns, observed_ns;
		bool watch, reported;
		const char *says;
	} all[] = {{0, 10000000000, true, false, " 0.0000 "},
		   {0, 10000000000, true, true, " ? "},
		   {0, 0, false, false, " ? "},
		   {4000, 10000000000, false, false, " <0.0001 "},
		   {40000, 10000000000, false, false, " 0.0004 "}};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct view v;
		char *text, *row;

		run_init(&v, cpus, 3, 10);
		v.run.watch = v.run.windows = all[i].watch;
		for (uint32_t k = 0; k < 3; k++) {
			v.cpu[k].observed_ns = all[i].observed_ns;
			v.cpu[k].reported = all[i].reported;
			strcpy(v.cpu[k].comm, "feed");
			if (all[i].lost_ns)
				run_add(&v, k, 1, SOURCE_IRQ, 36, "eth0", NULL, all[i].lost_ns);
		}
		assert_int_equal(groups_make(&v), 0);
		assert_int_equal(v.groups.n, 1);
		text = written(&formats[0], (const struct view *[]){&a.view, &v}, 2, 100);
		row = strstr(text, "\n  host ");
		assert_non_null(row);
		*strstr(row + 1, "\n\n") = '\0';
		if (!strstr(row, all[i].says))
			fail_msg("%zu: %s", i, row);
		free(text);
		text = written(format_named("json"), (const struct view *[]){&v}, 1, 100);
		if (!strstr(text, "\"lost_ns_per_s\": null") !=
		    (all[i].watch || all[i].observed_ns))
			fail_msg("%zu: %s", i, text);
		free(text);
		view_free(&v);
	}
}

/* Sums know runs of CPUs, and neither hiccups nor what was attributed and recorded. */
static void test_sums(void **state)
{
	static const unsigned cpus[] = {4, 5, 6};
	static const char *const none[] = {"hiccups ", "seen by the kernel", "records", "mismatch"};
	struct view v;
	char *text;

	(void)state;
	run_init(&v, cpus, 3, 10);
	v.run.watch = v.run.windows = v.run.sums = v.run.traced = true;
	for (uint32_t k = 0; k < 3; k++)
		run_add(&v, k, 1, SOURCE_IRQ, 36, "eth0", NULL, 4000);
	assert_int_equal(groups_make(&v), 0);
	text = written(&formats[0], (const struct view *[]){&v}, 1, 100);
	assert_non_null(strstr(text, "\ncpus 4-6 (3 alike"));
	assert_non_null(strstr(text, "\n  runs "));
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		if (strstr(strstr(text, "\ncpus 4-6 (3 alike"), none[i]))
			fail_msg("%s: %s", none[i], text);
	free(text);
	text = written(format_named("hlog"), (const struct view *[]){&v}, 1, 100);
	assert_non_null(strstr(text, "Tag=cpu4,"));
	free(text);
	view_free(&v);
}

/* The same text but for blanks: what stands in an array is indented. */
static const char *skip_same(const char *in, const char *want)
{
	for (;; in++, want++) {
		in += strspn(in, " \n");
		want += strspn(want, " \n");
		if (!*want)
			return in;
		assert_int_equal(*in, *want);
	}
}

static void test_json(void **state)
{
	const struct format *json = format_named("json");
	char *one[2], *both = written(json, three, 2, 100);
	const char *at;

	(void)state;
	at = skip_same(both, "{\"schema\": \"culprit.reports/1\", \"reports\": [");
	for (int i = 0; i < 2; i++) {
		one[i] = written(json, three + i, 1, 100);
		assert_memory_equal(one[i], "{\n  \"schema\": \"culprit.report/2\",", 33);
		at = skip_same(at, i ? "," : "");
		at = skip_same(at, one[i]);
		free(one[i]);
	}
	assert_string_equal(skip_same(at, "]}"), "");
	free(both);
}

/* A table row is right when it says what its format is. */
static void test_formats(void **state)
{
	uint32_t n = 0;

	(void)state;
	for (; formats[n].choice.name; n++) {
		assert_non_null(formats[n].choice.what);
		assert_int_equal(!!formats[n].write + !!formats[n].hiccup + !!formats[n].trace, 1);
		assert_true(!formats[n].head || formats[n].hiccup);
	}
	assert_string_equal(formats[FORMAT_TEXT].choice.name, "text");
	assert_string_equal(formats[FORMAT_JSON].choice.name, "json");
}

/* Cautions that a reader must know before any figure: each format for people says all of them. */
static void test_cautions(void **state)
{
	static const char *const words[] = {"ncomplete", "a quarter is missing",
					    "eft out",   VIEW_REDACTED,
					    "hared",     VIEW_SHARED};
	struct view none = {.run = {.traced = true, .watch = true, .windows = true}};
	static const char *const people[] = {"text", "markdown", "html"};

	(void)state;
	strcpy(a.view.run.incomplete, "a quarter is missing");
	a.view.run.redacted = true;
	a.view.run.housekeeping = a.view.run.cpus;
	for (size_t i = 0; i < sizeof(people) / sizeof(people[0]); i++) {
		char *text = written(format_named(people[i]), three, 1, 1000);

		for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
			if (!strstr(text, words[k]))
				fail_msg("%s does not say: %s", people[i], words[k]);
		free(text);
		text = written(format_named(people[i]), (const struct view *[]){&none}, 1, 1000);
		if (!strstr(text, VIEW_NOBODY))
			fail_msg("%s does not say that no thread was seen", people[i]);
		free(text);
	}
}

static double seconds(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) / 1e9;
}

#define LANES 4096
#define ROWS  16384

/* Time to rank the same rows of so many CPUs. */
static double rank_rows(unsigned lanes)
{
	static unsigned cpus[LANES];
	struct host_source top[2];
	double start, took;
	struct view v;

	for (unsigned i = 0; i < lanes; i++)
		cpus[i] = i;
	world_view(&v, "many", cpus, lanes);
	for (unsigned i = 0; i < ROWS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "job%u", i);
		world_runs(&v, i % lanes, SOURCE_THREAD, 10 + i, name, NULL, 1, 1000);
	}
	start = seconds();
	assert_int_equal(hosts_rank((const struct view *[]){&v}, 1, top, 2), ROWS);
	took = seconds() - start;
	view_free(&v);
	return took;
}

/* The CPUs are added up once, and not for each source. */
static void test_many(void **state)
{
	(void)state;
	assert_true(rank_rows(LANES) < 8 * rank_rows(LANES / 32));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_labels, begin, end),
		cmocka_unit_test_setup_teardown(test_rank, begin, end),
		cmocka_unit_test_setup_teardown(test_watched, begin, end),
		cmocka_unit_test_setup_teardown(test_names_of_threads, begin, end),
		cmocka_unit_test_setup_teardown(test_text, begin, end),
		cmocka_unit_test_setup_teardown(test_shares, begin, end),
		cmocka_unit_test_setup_teardown(test_json, begin, end),
		cmocka_unit_test(test_sums),
		cmocka_unit_test_setup_teardown(test_cautions, begin, end),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
