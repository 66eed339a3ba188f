/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PTP hardware clocks, against a driver that is played here: each way on its own, what fails, and
 * what the report says of it. The file under test is taken in whole, as it is no part of what
 * reports link. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "collect/phc.c"
#include "render/clock.h"

#define S        INT64_C(1000000000)
#define STEP_NS  200 /* time that each reading of a clock takes */
#define START_NS INT64_C(1790000000) * S
#define FD       7

/* The driver: its clock is so far ahead, and it refuses these requests. */
static struct {
	int64_t ahead_ns;
	int64_t now_ns; /* CLOCK_REALTIME, */
	int64_t set_ns; /* by which it was set */
	int refuse[PHC_WAYS], error;
	int calls;
} driver;

static struct ptp_clock_time at(int64_t ns)
{
	return (struct ptp_clock_time){.sec = ns / S - (ns % S < 0), .nsec = (ns % S + S) % S};
}

static int64_t system_now(void)
{
	driver.now_ns += STEP_NS + driver.calls++ % 3 * 10;
	return driver.now_ns;
}

static int64_t device_now(void)
{
	return system_now() + driver.ahead_ns;
}

static int refused(enum phc_way way)
{
	errno = driver.error;
	return driver.refuse[way] ? -1 : 0;
}

static int played_ioctl(int fd, unsigned long request, void *arg)
{
	struct ptp_sys_offset *offset = arg;
	struct ptp_sys_offset_extended *extended = arg;
	struct ptp_sys_offset_precise *precise = arg;

	assert_int_equal(fd, FD);
	switch (request) {
	case PTP_CLOCK_GETCAPS:
		*(struct ptp_clock_caps *)arg =
			(struct ptp_clock_caps){.max_adj = 999, .n_pins = 4, .pps = 1};
		return 0;
	case PTP_SYS_OFFSET:
		for (unsigned i = 0; i <= 2 * offset->n_samples; i++)
			offset->ts[i] = at(i % 2 ? device_now() : system_now());
		return refused(PHC_OFFSET);
	case PTP_SYS_OFFSET_EXTENDED:
		for (unsigned i = 0; i < extended->n_samples; i++)
			for (int k = 0; k < 3; k++)
				extended->ts[i][k] = at(k == 1 ? device_now() : system_now());
		return refused(PHC_EXTENDED);
	case PTP_SYS_OFFSET_PRECISE:
		precise->sys_realtime = at(system_now());
		precise->device = at(driver.now_ns + driver.ahead_ns);
		return refused(PHC_PRECISE);
	}
	fail_msg("an ioctl that nobody expected: %#lx", request);
	return -1;
}

static int played_gettime(clockid_t clock, struct timespec *t)
{
	bool device = clock == ~FD * 8 + 3;
	struct ptp_clock_time now = at(device ? device_now() : system_now());

	assert_true(clock == CLOCK_REALTIME || clock == CLOCK_BOOTTIME || device);
	if (clock == CLOCK_BOOTTIME)
		now = at(driver.now_ns - driver.set_ns - START_NS);
	*t = (struct timespec){now.sec, now.nsec};
	return device ? refused(PHC_GETTIME) : 0;
}

static const struct phc_calls played = {played_ioctl, played_gettime};

/* gained_ns: by the hardware clock in the two seconds between. */
static struct phc measured_later(int64_t ahead_ns, int64_t gained_ns)
{
	struct phc_start start;
	struct phc phc = {.operand = "eth\033[2J0", .path = "/dev/ptp3", .name = "a<b>"};

	driver.ahead_ns = ahead_ns;
	driver.now_ns = START_NS;
	driver.calls = 0;
	start = phc_begin(FD, &played);
	driver.now_ns += 2 * S;
	driver.ahead_ns += gained_ns;
	phc_measure(FD, &played, &start, 37, 1.0, &phc);
	return phc;
}

static struct phc measured(int64_t ahead_ns)
{
	return measured_later(ahead_ns, 0);
}

static char *report_of(struct phc *phc, bool json)
{
	struct clock_view v = {.counter = "tsc",
			       .ns_per_tick = 1,
			       .tai_s = 37,
			       .tai_from = "the kernel",
			       .device = phc,
			       .ndevices = 1};
	struct render_options o = {.width = 120};
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(json ? render_clock_json(&v, f) : render_clock_text(&v, &o, f), 0);
	fclose(f);
	return text;
}

static void all_ways(void **state)
{
	static const int64_t ahead[] = {0,         1234567, -1234567, 37 * S, 37 * S - 5000,
					-START_NS, 500 * S};
	static const enum phc_scale scale[] = {PHC_UTC, PHC_UTC,   PHC_UTC,  PHC_TAI,
					       PHC_TAI, PHC_OTHER, PHC_OTHER};
	static const uint32_t samples[PHC_WAYS] = {CALLS, CALLS * SAMPLES, CALLS * SAMPLES, CALLS};

	(void)state;
	memset(&driver, 0, sizeof(driver));
	for (size_t i = 0; i < sizeof(ahead) / sizeof(ahead[0]); i++) {
		struct phc phc = measured(ahead[i]);

		assert_int_equal(phc.scale, scale[i]);
		assert_int_equal(phc.max_ppb, 999);
		assert_int_equal(phc.pins, 4);
		assert_int_equal(phc.cross, 0);
		for (int w = 0; w < PHC_WAYS; w++) {
			const struct phc_result *r = &phc.result[w];

			assert_int_equal(r->error, 0);
			assert_int_equal(r->samples, samples[w]);
			assert_in_range(r->raw_ns - ahead[i] + 20, 0,
					40); /* the three readings take 200 to 220 ns each */
			assert_true(r->raw_least_ns <= r->raw_ns && r->raw_ns <= r->raw_most_ns);
			assert_true(w == PHC_PRECISE ? !r->delay_ns
						     : r->delay_ns >= 400 && r->delay_ns <= 430);
			assert_true(r->call_min_ns > 0 && r->call_min_ns <= r->call_p50_ns);
		}
		assert_int_equal(phc.result[PHC_PRECISE].raw_ns, ahead[i]);
	}
}

static void rates(void **state)
{
	struct phc phc;
	char *text;

	(void)state;
	memset(&driver, 0, sizeof(driver));
	phc = measured_later(37 * S, -2400);
	assert_true(phc.rate_known);
	assert_true(fabs(phc.rate_ppm + 1.2) <= phc.rate_error_ppm);
	assert_true(phc.rate_error_ppm > 0.19 &&
		    phc.rate_error_ppm < 0.22); /* 400 ns and a little, of 2 s */
	text = report_of(&phc, false);
	assert_non_null(strstr(text, "ppm (+- 0.2"));
	assert_non_null(strstr(text, "slower than CLOCK_REALTIME"));
	free(text);
	phc = measured_later(0, -2 * S);
	text = report_of(&phc, false);
	assert_non_null(strstr(text, "it stands still"));
	free(text);
	driver.refuse[PHC_GETTIME] = 1;
	driver.error = EIO;
	assert_false(measured(0).rate_known);
}

/* The hardware clock keeps its pace while the system's is set, forward or back. */
static void system_set(void **state)
{
	static const int64_t by[] = {-S, 10 * S, 100 * S, 20000};

	(void)state;
	for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++) {
		struct phc_start start;
		struct phc phc = {.operand = "eth0", .path = "/dev/ptp3", .name = "a"};
		char *text;

		memset(&driver, 0, sizeof(driver));
		driver.now_ns = START_NS;
		start = phc_begin(FD, &played);
		driver.set_ns = by[i];
		driver.now_ns += 2 * S + by[i];
		driver.ahead_ns -= by[i];
		phc_measure(FD, &played, &start, 37, 1.0, &phc);
		assert_false(phc.rate_known);
		text = report_of(&phc, false);
		assert_non_null(strstr(text, "not known: CLOCK_REALTIME was set meanwhile"));
		assert_null(strstr(text, "it runs"));
		free(text);
		text = report_of(&phc, true);
		assert_non_null(strstr(text, "\"rate_ppm\": null"));
		free(text);
	}
}

static void refusals(void **state)
{
	static const int errors[] = {EOPNOTSUPP, ENOTTY, EIO};

	(void)state;
	for (int w = 0; w < PHC_WAYS; w++) {
		struct phc phc;

		memset(&driver, 0, sizeof(driver));
		driver.refuse[w] = 1;
		driver.error = errors[w % 3];
		phc = measured(37 * S);
		for (int k = 0; k < PHC_WAYS; k++)
			assert_int_equal(phc.result[k].error, k == w ? driver.error : 0);
		assert_int_equal(phc.scale, PHC_TAI); /* by the others */
	}
	memset(&driver, 0, sizeof(driver));
	for (int w = 0; w < PHC_WAYS; w++)
		driver.refuse[w] = 1;
	driver.error = EOPNOTSUPP;
	assert_int_equal(measured(0).scale, PHC_OTHER);
}

static void nonsense(void **state)
{
	struct phc phc;

	(void)state;
	assert_int_equal(ns_of(INT64_MAX, 999999999), INT64_MAX / 4);
	assert_int_equal(ns_of(INT64_MIN, 0), -INT64_MAX / 4);
	memset(&driver, 0, sizeof(driver));
	phc = measured(-INT64_MAX / 5);
	assert_int_equal(phc.scale, PHC_OTHER);
	assert_in_range(phc.result[PHC_OFFSET].raw_ns + INT64_MAX / 5 + 20, 0, 40);
}

static void reports(void **state)
{
	struct phc phc;
	char *text;

	(void)state;
	memset(&driver, 0, sizeof(driver));
	driver.refuse[PHC_EXTENDED] = 1;
	driver.error = EOPNOTSUPP;
	phc = measured(37 * S + 123000);
	text = report_of(&phc, false);
	assert_non_null(strstr(text, "keeps TAI: 37 s are taken off (TAI - UTC, from the kernel)"));
	assert_non_null(strstr(text, "+123 us"));
	assert_non_null(strstr(text, "PTP_SYS_OFFSET_EXTENDED: not supported"));
	assert_non_null(strstr(text, "eth\\x1b[2J0"));
	assert_null(strchr(text, '\033'));
	free(text);
	text = report_of(&phc, true);
	assert_non_null(strstr(text, "\"offset_ns\": 123000,"));
	assert_non_null(strstr(text, "\"applied_ns\": 37000000000"));
	assert_non_null(strstr(text, "\"error\": \"not supported\""));
	assert_null(strchr(text, '\033'));
	free(text);
	phc = measured(-START_NS);
	text = report_of(&phc, false);
	assert_non_null(strstr(text, "neither UTC nor TAI"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_ways),   cmocka_unit_test(rates),
		cmocka_unit_test(system_set), cmocka_unit_test(refusals),
		cmocka_unit_test(nonsense),   cmocka_unit_test(reports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
