/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The arithmetic of clocks: rates from inexact readings, offsets from slow messages, and time
 * scales. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../world/chance.h"
#include "model/clock.h"

#define COUNT 500

static void near(double got, double want, double allowed)
{
	if (!(fabs(got - want) <= allowed))
		fail_msg("%.9f is not within %g of %.9f", got, allowed, want);
}

/* ---- rate ---- */

/* A counter of 2.6 GHz that has run for weeks, read for ten seconds: each clock reading off by up
 * to `jitter` ns. */
static void make_readings(struct clock_reading *r, double khz, uint64_t jitter, double drift_ppm)
{
	const uint64_t tick0 = UINT64_C(5000000000000000), ns0 = UINT64_C(1900000000000000);

	for (int i = 0; i < COUNT; i++) {
		double ns = i * 20e6,
		       late = i > COUNT / 2 ? (ns - COUNT / 2 * 20e6) * drift_ppm * 1e-6 : 0;

		r[i] = (struct clock_reading){.tick = tick0 + (uint64_t)llround(ns * khz / 1e6),
					      .width = 60,
					      .ns = ns0 + (uint64_t)llround(ns + late) +
						    below(2 * jitter + 1) - jitter};
	}
}

static void rates(void **state)
{
	struct clock_reading r[COUNT];
	struct clock_rate x;

	(void)state;
	make_readings(r, 2596136.19, 0, 0);
	x = clock_rate(r, COUNT);
	assert_true(x.known);
	near(x.khz, 2596136.19, 0.001);
	near(x.rms_ns, 0, 0.6); /* whole ns and ticks */
	near(x.spread_ppm, 0, 0.002);
	near(x.error_ppm, 61.0 / 2596136.19 / 9980 * 1e6, 1e-6);
	assert_int_equal(x.readings, COUNT);
	assert_int_equal(x.duration_ns, 9980000000);

	make_readings(r, 2596136.19, 300, 0);
	x = clock_rate(r, COUNT);
	near(x.khz, 2596136.19, 2596136.19 * 0.01e-6); /* the line lies between them */
	near(x.rms_ns, 300 / sqrt(3), 15);
	assert_true(x.worst_ns > 250 && x.worst_ns < 340);

	/* Runs 10 ppm faster in the second half of the time. */
	make_readings(r, 2596136.19, 0, 10);
	x = clock_rate(r, COUNT);
	near(x.spread_ppm, 10, 0.01);
	near(x.khz, 2596136.19 / 1.000005, 2596136.19 * 3e-6);
	assert_true(x.worst_ns > 5000);
}

/* A counter of 24 MHz shows the same tick on both sides of the clock: where in the tick it was read
 * is not known. */
static void rate_of_slow_counter(void **state)
{
	static const struct clock_reading r[] = {
		{1000, 0, 0}, {1000 + 36000000, 0, 1500000000}, {1000 + 72000000, 0, 3000000000}};
	struct clock_rate x = clock_rate(r, 3);

	(void)state;
	near(x.khz, 24000, 1e-6);
	near(x.error_ppm, 1e6 / 72000000, 1e-6);
}

static void no_rate(void **state)
{
	struct clock_reading still[COUNT];

	(void)state;
	make_readings(still, 1e6, 0, 0);
	assert_false(clock_rate(still, 0).known);
	assert_false(clock_rate(still, 2).known);
	assert_true(clock_rate(still, 3).known);
	for (int i = 0; i < COUNT; i++)
		still[i].tick = 42;
	assert_false(clock_rate(still, COUNT).known);
}

/* ---- offsets ---- */

/* Messages between a counter and one that is `ahead` ticks ahead of it, each taking 100 ticks and
 * up to 400 more. */
static struct clock_offset talk(int64_t ahead, int64_t drift)
{
	struct clock_offset o = {.cpu = 1};
	uint64_t now = 1000000;

	for (int i = 0; i < 2000; i++) {
		uint64_t a = now, b = a + 100 + below(400), c = b + 100 + below(400),
			 d = c + 100 + below(400);
		int64_t there = ahead + drift * i;

		clock_way_add(&o.way[0], a, b + there, c);
		clock_way_add(&o.way[1], b + there, c, d + there);
		now = d;
	}
	clock_offset_solve(&o, 0.4);
	return o;
}

static void offsets(void **state)
{
	static const int64_t ahead[] = {0, 17, -17, 1000000, -1000000, INT64_C(1) << 40};

	(void)state;
	for (size_t i = 0; i < sizeof(ahead) / sizeof(ahead[0]); i++) {
		struct clock_offset o = talk(ahead[i], 0);

		assert_false(o.moved);
		near(o.ns, ahead[i] * 0.4, o.bound_ns);
		assert_true(o.bound_ns <= (o.way[0].round_trip / 2.0 + 1) * 0.4);
		assert_true(o.bound_ns <= (o.way[1].round_trip / 2.0 + 1) * 0.4);
		assert_int_equal(o.way[0].count, 2000);
		assert_in_range(o.way[0].round_trip, 200, 300);
	}
	assert_true(talk(0, 3).moved); /* 3 ticks more at each message: no single offset fits all */
	assert_false(talk(-5000, 0).moved);
}

/* Counters of 24 MHz, the second of which is 20 ns ahead, shown as whole ticks: messages come at
 * each place within one. */
static void offset_of_slow_counter(void **state)
{
	const double tick_ns = 1000 / 24.0;
	struct clock_offset o = {.cpu = 1};

	(void)state;
	for (int i = 0; i < 1000; i++) {
		double a = 1e6 + i * 0.37 * tick_ns, b = a + 1, c = b + 1, d = c + 1;

		clock_way_add(&o.way[0], (uint64_t)(a / tick_ns), (uint64_t)((b + 20) / tick_ns),
			      (uint64_t)(c / tick_ns));
		clock_way_add(&o.way[1], (uint64_t)((b + 20) / tick_ns), (uint64_t)(c / tick_ns),
			      (uint64_t)((d + 20) / tick_ns));
	}
	clock_offset_solve(&o, tick_ns);
	assert_false(o.moved);
	near(20, o.ns, o.bound_ns);
	assert_true(o.bound_ns < 3 * tick_ns);
}

/* A list without the TSC, of hardware's clocks alone: the kernel has refused it. */
static void refused(void **state)
{
	(void)state;
	assert_true(clock_tsc_refused("hpet acpi_pm \n"));
	assert_true(clock_tsc_refused("acpi_pm"));
	assert_false(clock_tsc_refused("tsc hpet acpi_pm \n"));
	assert_false(clock_tsc_refused("tsc-early hpet acpi_pm \n")); /* right after boot */
	assert_false(clock_tsc_refused("kvm-clock acpi_pm \n"));
	assert_false(clock_tsc_refused("xen \n"));
	assert_false(clock_tsc_refused("hyperv_clocksource_tsc_page hyperv_clocksource_msr \n"));
	assert_false(clock_tsc_refused(""));
	assert_false(clock_tsc_refused(NULL));
}

/* ---- time scales ---- */

static void scales(void **state)
{
	const int64_t s = 1000000000;
	int64_t applied = -1;

	(void)state;
	assert_int_equal(phc_scale(37 * s + 1500, 37, &applied), PHC_TAI);
	assert_int_equal(applied, 37 * s);
	assert_int_equal(phc_scale(36 * s, 37, &applied), PHC_TAI);
	assert_int_equal(phc_scale(-1500, 37, &applied), PHC_UTC);
	assert_int_equal(applied, 0);
	assert_int_equal(phc_scale(4 * s, 37, &applied), PHC_UTC);
	assert_int_equal(phc_scale(18 * s, 37, &applied), PHC_OTHER);
	assert_int_equal(applied, 0);
	assert_int_equal(phc_scale(37 * s, 0, &applied), PHC_OTHER);
	assert_int_equal(phc_scale(-1760000000 * s, 37, &applied),
			 PHC_OTHER); /* counts from its start */
	assert_int_equal(phc_scale(INT64_MAX / 4, 37, &applied), PHC_OTHER);
	assert_int_equal(phc_scale(-INT64_MAX / 4, 37, &applied), PHC_OTHER);
}

static void leap_seconds(void **state)
{
	static const char list[] = "#\tATOMIC TIME\n#$\t 3676924800\n#@\t3833827200\n\n"
				   "2272060800\t10\t# 1 Jan 1972\n3644697600\t36\t# 1 Jul 2015\n"
				   "3692217600\t37\t# 1 Jan 2017\n#h\t62ca19f6 96a4ae0a\n";

	(void)state;
	assert_int_equal(clock_leap_seconds(list, 1483228799), 36); /* 2016-12-31 23:59:59 */
	assert_int_equal(clock_leap_seconds(list, 1483228800), 37);
	assert_int_equal(clock_leap_seconds(list, 1800000000), 37);
	assert_int_equal(clock_leap_seconds(list, 0), 0); /* before all of them */
	assert_int_equal(clock_leap_seconds("", 1800000000), 0);
	assert_int_equal(
		clock_leap_seconds("garbage\n12 13\n-1 5\n3692217600\n3692217600 99999999\n",
				   1800000000),
		0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates),
		cmocka_unit_test(rate_of_slow_counter),
		cmocka_unit_test(no_rate),
		cmocka_unit_test(offsets),
		cmocka_unit_test(offset_of_slow_counter),
		cmocka_unit_test(refused),
		cmocka_unit_test(scales),
		cmocka_unit_test(leap_seconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
