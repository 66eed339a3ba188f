/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes of a CPU's frequency: kept, cut to a part of the time, and said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "model/report.h"
#include "../world/made.h"

static struct report report;

static int begin(void **state)
{
	static const unsigned cpus[] = {1, 3, 7};

	(void)state;
	report_init(&report, "web-07", cpus, 3);
	report.view.run.started_ns = 1000000000;
	return 0;
}

static int end(void **state)
{
	(void)state;
	report_free(&report);
	return 0;
}

static void change(uint32_t index, uint64_t ms, uint32_t mhz)
{
	struct cpu *c = &report.view.cpu[index];
	uint64_t khz = 1000ULL * mhz;

	khz_add(&c->khz, report.view.run.started_ns + ms * 1000000, khz);
	c->khz_min = !c->khz_changes || khz < c->khz_min ? khz : c->khz_min;
	c->khz_max = khz > c->khz_max ? khz : c->khz_max;
	c->khz_changes++;
}

static void says(uint32_t index, const char *want)
{
	char text[REPORT_FREQUENCY];

	assert_string_equal(report_frequency(&report.view, index, text), want);
}

static void test_said(void **state)
{
	(void)state;
	says(0, "");
	change(0, 100, 1200);
	says(0, "1 time, from 1.20 to 1.20 GHz: +0.100000 s 1.20");
	for (int i = 0; i < 3; i++)
		change(0, 200 + i, 3400);
	says(0, "4 times, from 1.20 to 3.40 GHz: +0.100000 s 1.20, +0.200000 s 3.40, "
		"+0.201000 s 3.40, +0.202000 s 3.40");
	change(0, 300, 800);
	says(0, "5 times, from 0.80 to 3.40 GHz: +0.100000 s 1.20, +0.200000 s 3.40, "
		"+0.201000 s 3.40, +0.202000 s 3.40, ...");
	report.view.run.windows = report.view.run.traced = true;
	says(1, ""); /* not known */
	report.view.cpu[1].khz_until_ns = KHZ_ALWAYS;
	report.view.run.part = true;
	says(1, "");
	report.view.run.part = false;
	says(1, "not observed: none is shown where the hardware or a host chooses it");
	report.view.run.traced = false;
	says(1, "");
}

static void test_cpus_by_changes(void **state)
{
	char text[REPORT_FREQUENCY];

	(void)state;
	assert_string_equal(report_frequencies(&report.view, text), "");
	change(1, 100, 1200);
	change(2, 100, 1200);
	change(2, 101, 1300);
	change(0, 100, 1200);
	assert_string_equal(report_frequencies(&report.view, text),
			    "4 on 3 CPUs: cpu 7 2, cpu 1 1, cpu 3 1");
	report.view.cpu[0].khz_changes = report.view.cpu[2].khz_changes = UINT64_MAX;
	assert_string_equal(
		report_frequencies(&report.view, text),
		"18,446,744,073,709,551,615 on 3 CPUs: cpu 1 18,446,744,073,709,551,615, "
		"cpu 7 18,446,744,073,709,551,615, cpu 3 1");
}

static void test_part_of_the_time(void **state)
{
	struct cpu *c = &report.view.cpu[0];
	const uint64_t s = report.view.run.started_ns, ms = 1000000;

	(void)state;
	change(0, 100, 800);
	change(0, 200, 1200);
	change(0, 300, 3400);
	khz_cut(c, s + 200 * ms, s + 300 * ms); /* with its begin, without its end */
	says(0, "1 time, from 1.20 to 1.20 GHz: +0.200000 s 1.20");
	c->khz_until_ns = 0;
	c->khz_changes = 2; /* one more had no room: it may have been here, too */
	khz_cut(c, s, s + 300 * ms);
	assert_int_equal(c->khz_changes + c->khz.n + c->khz_max, 0);
	assert_int_equal(c->khz_until_ns, 0);
}

/* A part before those that had no room is known all the same. */
static void test_part_before_the_rest(void **state)
{
	struct cpu *c = &report.view.cpu[0];
	const uint64_t s = report.view.run.started_ns, ms = 1000000;

	(void)state;
	change(0, 100, 800);
	change(0, 200, 1200);
	c->khz_changes = 5000;
	c->khz_until_ns = s + 200 * ms;
	khz_cut(c, s + 50 * ms, s + 200 * ms);
	says(0, "1 time, from 0.80 to 0.80 GHz: +0.100000 s 0.80");
	assert_int_equal(c->khz_until_ns, KHZ_ALWAYS);
	c->khz_changes = 5000;
	c->khz_until_ns = s + 200 * ms;
	khz_cut(c, s, s + 200 * ms + 1);
	says(0, "");
	assert_int_equal(c->khz_until_ns, 0);
}

/* A place that two reporters passed by holds an older change, or none. */
static void test_only_later_ones(void **state)
{
	struct khz_changes c = {0};

	(void)state;
	khz_add(&c, 500, 800000);
	khz_add(&c, 437, 900000);
	khz_add(&c, 0, 0);
	khz_add(&c, 500, 800000);
	khz_add(&c, 501, 1200000);
	assert_int_equal(c.n, 2);
	assert_int_equal(c.row[1].at_ns, 501);
	assert_int_equal(c.row[1].khz, 1200000);
	khz_free(&c);
}

static void test_only_so_many(void **state)
{
	struct khz_changes c = {0};

	(void)state;
	for (uint32_t i = 0; i < KHZ_CHANGES_MAX + 2; i++)
		khz_add(&c, i, 1000 + i);
	assert_int_equal(c.n, KHZ_CHANGES_MAX);
	assert_int_equal(c.row[0].khz, 1000);
	assert_int_equal(c.row[c.n - 1].at_ns, KHZ_CHANGES_MAX - 1);
	khz_free(&c);
	assert_null(c.row);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_said, begin, end),
		cmocka_unit_test_setup_teardown(test_cpus_by_changes, begin, end),
		cmocka_unit_test_setup_teardown(test_part_of_the_time, begin, end),
		cmocka_unit_test_setup_teardown(test_part_before_the_rest, begin, end),
		cmocka_unit_test(test_only_later_ones),
		cmocka_unit_test(test_only_so_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
