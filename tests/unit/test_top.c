/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Screens of culprit top: ranked before they are cut, the worst CPUs' lanes, the cursor and what it
 * follows, one source in detail, and that all of it fits the screen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../world/world.h"
#include "base/escape.h"
#include "render/top.h"

#define SECOND 1000000000ULL
#define MS     1000000ULL
#define MOST   256

/* A machine of many CPUs, on each of which the same thirteen sources take a little. */
struct machine {
	struct view view;
	struct recent recent;
	struct top_state screen;
	char *text;
	size_t len;
};

static void add(struct machine *m, uint32_t cpu, const char *name, uint64_t ns, uint64_t n)
{
	world_runs(&m->view, cpu, SOURCE_THREAD, 100, name, NULL, n, ns);
}

static void second(struct machine *m)
{
	for (uint32_t i = 0; i < m->view.ncpus; i++)
		m->view.cpu[i].observed_ns += SECOND;
	m->view.run.duration_ns += SECOND;
	assert_int_equal(recent_second(&m->recent, &m->view), 0);
}

static void start(struct machine *m, uint32_t ncpus)
{
	static unsigned numbers[MOST];

	memset(m, 0, sizeof(*m));
	for (uint32_t i = 0; i < ncpus; i++)
		numbers[i] = i + 4;
	world_view(&m->view, "", numbers, ncpus);
	assert_int_equal(recent_init(&m->recent, ncpus), 0);
	strcpy(m->view.host.kernel, "6.12.1-test");
	m->screen.width = 80;
	m->screen.height = 24;
	for (uint32_t i = 0; i < ncpus; i++)
		for (int k = 0; k < 13; k++) {
			char name[16];

			snprintf(name, sizeof(name), "common-%d", k);
			add(m, i, name, 1000 + k, 10);
		}
}

static void stop_machine(struct machine *m)
{
	free(m->text);
	top_free(&m->screen);
	recent_free(&m->recent);
	view_free(&m->view);
}

/* Draws, and drops the escape sequences: lines as they are seen. */
static const char *draw(struct machine *m)
{
	char *from, *to;
	FILE *f;

	free(m->text);
	f = open_memstream(&m->text, &m->len);
	assert_int_equal(top_settle(&m->view, &m->recent, &m->screen), 0);
	assert_int_equal(render_top(&m->view, &m->recent, &m->screen, f), 0);
	fclose(f);
	for (from = to = m->text; *from; from++) {
		if (*from == '\033') {
			from += 2 + strspn(from + 2, "0123456789;?");
			continue;
		}
		if (*from != '\r')
			*to++ = *from;
	}
	*to = 0;
	return m->text;
}

static void assert_shows(struct machine *m, const char *what)
{
	if (!strstr(m->text, what))
		fail_msg("\"%s\" is not in\n%s", what, m->text);
}

static void assert_hides(struct machine *m, const char *what)
{
	if (strstr(m->text, what))
		fail_msg("\"%s\" is in\n%s", what, m->text);
}

/* With 43 CPUs of 13 sources each, a thread that takes 30 % of the last CPU is the first row, and
 * that CPU the first lane. */
static void test_rank_before_cut(void **state)
{
	struct machine m;

	(void)state;
	start(&m, 43);
	add(&m, 42, "hog", 30 * MS, 10);
	second(&m);
	draw(&m);
	assert_int_equal(m.screen.nrows, 43 * 13 + 1);
	assert_int_equal(m.screen.row[0].cpu, 42);
	assert_float_equal(m.screen.row[0].second, 30, 0.001);
	assert_shows(&m, "\ncpu 46      30 % lost  longest  30.0 ms");
	assert_shows(&m, "\n>30.00  30.00  30.00     10  30.0 ms   46         hog [100]");
	assert_shows(&m, "38 more CPUs: Tab lists them");
	assert_shows(&m, " · 1-12 of 560");
	stop_machine(&m);
}

/* One CPU lost next to nothing, but once for long: it has a lane, before CPUs that lose more. */
static void test_rare_and_long(void **state)
{
	struct machine m;

	(void)state;
	start(&m, 60);
	for (uint32_t i = 0; i < 60; i++)
		add(&m, i, "busy", 10000, 500);
	add(&m, 33, "stall", 5900000, 1);
	for (int i = 0; i < 20; i++)
		second(&m); /* long ago */
	draw(&m);
	assert_shows(&m, "cpu 37       0 % lost  longest  5.90 ms");
	m.screen.sort = TOP_MAX;
	draw(&m);
	assert_int_equal(m.screen.lane[0], 33);
	assert_shows(&m, "5.90 ms   37         stall [100]");
	m.screen.page = TOP_CPUS;
	draw(&m);
	assert_shows(&m, "\n> 37  0.00");
	assert_shows(&m, "stall [100]");
	stop_machine(&m);
}

/* All pages fit all screens. */
static void test_fits(void **state)
{
	static const unsigned sizes[][2] = {{80, 24}, {100, 40}, {40, 15},  {20, 5},
					    {8, 3},   {200, 60}, {80, 200}, {60, 1}};
	struct machine m;

	(void)state;
	start(&m, 200);
	second(&m);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int page = 0; page < 10; page++) {
			unsigned lines = 1;

			m.screen.width = sizes[i][0];
			m.screen.height = sizes[i][1];
			m.screen.page = page == 1 || page == 6 ? TOP_CPUS : TOP_SOURCES;
			m.screen.help = page == 2;
			m.screen.detail = page == 3 || page == 8;
			m.screen.alone = page == 4 || page == 9;
			m.screen.last = page >= 5;
			draw(&m);
			for (const char *at = m.text, *end; *at; at = end + (*end == '\n')) {
				char line[1024];

				end = at + strcspn(at, "\n");
				snprintf(line, sizeof(line), "%.*s", (int)(end - at), at);
				if (text_columns(line) > sizes[i][0] && sizes[i][0] >= 60)
					fail_msg("%u x %u: %s", sizes[i][0], sizes[i][1], line);
				lines += *end == '\n' && (end[1] || !m.screen.last);
			}
			if (lines > sizes[i][1])
				fail_msg("%u x %u, page %d: %u lines\n%s", sizes[i][0], sizes[i][1],
					 page, lines, m.text);
		}
	stop_machine(&m);
}

/* The cursor stays on its source while rows change places; unmoved it stays on the first row. */
static void test_cursor(void **state)
{
	struct machine m;

	(void)state;
	start(&m, 20);
	add(&m, 3, "a", 5 * MS, 1);
	add(&m, 4, "b", 4 * MS, 1);
	second(&m);
	draw(&m);
	assert_shows(&m, "cpu 7: a [100]");
	m.screen.move = 1;
	draw(&m);
	assert_shows(&m, "cpu 8: b [100]");
	assert_int_equal(m.screen.move, 0);
	add(&m, 4, "b", 50 * MS, 1);
	add(&m, 5, "c", 20 * MS, 1);
	second(&m);
	draw(&m);
	assert_int_equal(m.screen.cursor, 0);
	assert_shows(&m, "cpu 8: b [100]");
	add(&m, 5, "c", 90 * MS, 1);
	second(&m);
	draw(&m);
	assert_shows(&m, "cpu 9: c [100]"); /* at the first row it follows that again */
	m.screen.move = 100000;
	draw(&m);
	assert_int_equal(m.screen.cursor, m.screen.nrows - 1);
	assert_int_equal(m.screen.first + m.screen.shown, m.screen.nrows);
	assert_shows(&m, " · 252-263 of 263");
	m.screen.move = -100000;
	draw(&m);
	assert_int_equal(m.screen.first, 0);
	stop_machine(&m);
}

/* A source in detail, with its cause and advice; when its row has gone that is said. */
static void test_detail(void **state)
{
	struct machine m;
	struct source *s;

	(void)state;
	start(&m, 3);
	add(&m, 1, "bad\nname", 5 * MS, 2);
	second(&m);
	draw(&m);
	s = top_source(&m.view, &m.screen);
	s->cause = "K34";
	s->advice = strdup("taskset -pc 0 100");
	draw(&m);
	assert_shows(&m, "   5  K34    bad\\x0aname [100]\n");
	assert_shows(&m, "\ncpu 5: bad\\x0aname [100]\nnobody is known to have asked for it\n"
			 "[K34] taskset -pc 0 100\n");
	m.screen.detail = m.screen.moved = true;
	m.screen.about = (struct top_about){"A title", "What it is", "Why it comes"};
	draw(&m);
	assert_shows(&m, "\ncpu 5 · thread · bad\\x0aname [100]\n"
			 "  1.00 % of the last second, 1.00 % of the last ten, 1.00 % since the "
			 "start\n"
			 "  2 interruptions · longest 5.00 ms · p99 5.00 ms · 10.0 ms in all\n"
			 "  nobody is known to have asked for it\n\nwhat to do\n"
			 "  taskset -pc 0 100\n\n[K34] A title\n  What it is\n  Why it comes\n"
			 "  culprit explain K34 has the rest\n");
	assert_hides(&m, "common");
	m.screen.height = 8;
	m.screen.move = 2;
	draw(&m);
	assert_hides(&m, "cpu 5 ·");
	assert_shows(&m, "2 interruptions");
	m.screen.move = 1000;
	draw(&m);
	assert_shows(&m, "has the rest");
	m.screen.at_serial = 1000000;
	draw(&m);
	assert_shows(&m, "no row any more");
	stop_machine(&m);
}

/* One CPU alone has its sources only; all CPUs are a row each. */
static void test_pages(void **state)
{
	struct machine m;

	(void)state;
	start(&m, 100);
	add(&m, 70, "hog", 30 * MS, 10);
	second(&m);
	m.screen.page = TOP_CPUS;
	draw(&m);
	assert_int_equal(m.screen.nrows, 100);
	assert_shows(&m, "\n> 74  30.01  30.01  30.01      140  30.0 ms         hog [100]\n");
	assert_shows(&m, " · 1-21 of 100");
	m.screen.page = TOP_SOURCES;
	m.screen.alone = true;
	m.screen.only = 70;
	draw(&m);
	assert_int_equal(m.screen.nrows, 14);
	assert_shows(&m, "\ncpu  74      30 % lost");
	assert_shows(&m, "140 hiccups · median 1.0");
	assert_shows(&m, " · attributed 0 % · outside 0 %\n");
	m.view.run.traced = false;
	draw(&m);
	assert_shows(&m, " · not traced\n"); /* nobody knows whose the time is */
	assert_hides(&m, " outside ");
	m.view.run.traced = true;
	assert_hides(&m, "more CPUs");
	m.screen.alone = false;
	m.screen.last = true;
	draw(&m);
	assert_hides(&m, "quit");
	assert_hides(&m, ">");
	assert_shows(&m, "hog [100]\n");
	stop_machine(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rank_before_cut),
		cmocka_unit_test(test_rare_and_long),
		cmocka_unit_test(test_fits),
		cmocka_unit_test(test_cursor),
		cmocka_unit_test(test_detail),
		cmocka_unit_test(test_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
