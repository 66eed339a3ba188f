/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Many recordings ranked: what is added up, and that its memory is bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/fleet.h"
#include "render/fleet.h"
#include "../world/made.h"

static uint64_t total(const struct fleet *f)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < f->nsources; i++)
		ns += f->source[i].total_ns;
	return ns;
}

static uint64_t all_sources(const struct view *v)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < v->ncpus; i++)
		for (uint32_t k = 0; k < v->cpu[i].sources.count; k++)
			ns += v->cpu[i].sources.row[k]->net.sum;
	return ns;
}

/* Recordings of one host are one row; a source counts each host once. */
static void test_adds(void **state)
{
	static struct report web, db;
	struct fleet f;

	(void)state;
	report_plain(&web, "web-07");
	report_plain(&db, "db-1");
	db.view.cpu[0].observed_ns /= 2; /* half as long: a larger share */
	assert_int_equal(fleet_init(&f), 0);
	assert_int_equal(fleet_add(&f, &web.view), 0);
	assert_int_equal(fleet_add(&f, &db.view), 0);
	assert_int_equal(fleet_add(&f, &web.view), 0);
	fleet_rank(&f);
	assert_int_equal(f.recordings, 3);
	assert_int_equal(f.nhosts, 2);
	assert_string_equal(f.host[0].name, "db-1");
	assert_int_equal(f.host[1].recordings, 2);
	assert_int_equal(f.host[1].lost_ns, 2 * f.host[0].lost_ns);
	assert_int_equal(f.host[1].longest_ns, f.host[0].longest_ns);
	assert_string_equal(f.host[1].first, f.host[0].first);
	assert_int_equal(total(&f), 3 * all_sources(&web.view));
	for (uint32_t i = 0; i < f.nsources; i++) {
		assert_int_equal(f.source[i].hosts, 2);
		assert_true(!i || f.source[i].total_ns <= f.source[i - 1].total_ns);
	}
	fleet_free(&f);
	report_free(&web);
	report_free(&db);
}

/* Hiccups that nobody could read are lost time, too, and shares are of what was timed. */
static void test_shares(void **state)
{
	static struct report web, watched;
	uint64_t lost_ns = 777, observed_ns = 0;
	struct fleet f;

	(void)state;
	report_plain(&web, "web-07");
	report_plain(&watched, "web-08");
	web.view.cpu[0].hiccups_lost_ns = 777;
	watched.view.run.watch = true;
	for (uint32_t i = 0; i < watched.view.ncpus; i++)
		watched.view.cpu[i].reported = 1; /* the loss is not known */
	assert_int_equal(fleet_init(&f), 0);
	assert_int_equal(fleet_add(&f, &web.view), 0);
	assert_int_equal(fleet_add(&f, &watched.view), 0);
	fleet_rank(&f);
	for (uint32_t i = 0; i < web.view.ncpus; i++) {
		lost_ns += web.view.cpu[i].hiccups.sum;
		observed_ns += web.view.cpu[i].observed_ns;
	}
	assert_int_equal(f.lost_ns, lost_ns);
	assert_int_equal(f.observed_ns, observed_ns);
	for (uint32_t i = 0; i < f.nsources; i++) {
		assert_int_equal(f.source[i].total_ns, 2 * f.source[i].timed_ns);
		assert_true(f.source[i].timed_ns <= f.observed_ns);
	}
	fleet_free(&f);
	report_free(&web);
	report_free(&watched);
}

/* Hiccups whose records alone are lost have their length, and what is said fits the page. */
static void test_losses(void **state)
{
	static const struct render_options options = {.width = 80};
	static struct report web;

	(void)state;
	report_plain(&web, "web-07");
	web.view.cpu[0].counts.lost = 12;
	for (uint64_t hiccups = 0; hiccups <= 12; hiccups += 12) {
		struct fleet f;
		char *text;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		assert_non_null(out);
		web.view.cpu[0].hiccups_lost = hiccups;
		assert_int_equal(fleet_init(&f), 0);
		assert_int_equal(fleet_add(&f, &web.view), 0);
		fleet_rank(&f);
		assert_int_equal(render_fleet(&f, 0, &options, false, out), 0);
		fclose(out);
		if (!strstr(text,
			    hiccups ? "\nlost: 12 hiccups and 12 records: there was more than "
				      "is shown, and perhaps\n  longer\n"
				    : "\nlost: 0 hiccups and 12 records: there was more than "
				      "is shown\n"))
			fail_msg("%s", text);
		free(text);
		fleet_free(&f);
	}
	report_free(&web);
}

/* More hosts and names than there is room for: every ns stays. */
static void test_bounded(void **state)
{
	static struct report one;
	struct source *s;
	struct fleet f;
	uint64_t ns;

	(void)state;
	report_plain(&one, "web-07");
	assert_int_equal(fleet_init(&f), 0);
	s = one.view.cpu[0].sources.row[0];
	ns = all_sources(&one.view);
	for (unsigned i = 0; i < FLEET_SOURCES + 500; i++) {
		snprintf(one.view.host.hostname, sizeof(one.view.host.hostname), "host-%u", i);
		snprintf(s->name, sizeof(s->name), "n%c%c%c%c", 'a' + i % 26, 'a' + i / 26 % 26,
			 'a' + i / 676 % 26, 'a' + i / 17576);
		assert_int_equal(fleet_add(&f, &one.view), 0);
	}
	assert_int_equal(f.nhosts, FLEET_SOURCES + 500);
	assert_in_range(f.nsources, FLEET_SOURCES, FLEET_SOURCES + SOURCE_KINDS);
	assert_true(total(&f) == (FLEET_SOURCES + 500) * ns);
	fleet_free(&f);
	report_free(&one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_adds),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
