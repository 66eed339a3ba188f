/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers for people: what is read to the nanosecond, what is refused and why, and that three
 * digits stay three when rounding carries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/units.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MINUTE       (60 * NSEC_PER_SEC)
#define HOUR         (60 * MINUTE)
#define DAY          (24 * HOUR)

static const struct {
	const char *text;
	uint64_t unit, ns;
} durations[] = {
	{"10us", 0, 10000},
	{"1.5s", 0, 1500000000},
	{"200ns", 0, 200},
	{"2m", 0, 2 * MINUTE},
	{"2min", 0, 2 * MINUTE},
	{"3h", 0, 3 * HOUR},
	{"1d", 0, DAY},
	{"0.5ms", 0, 500000},
	{".5ms", 0, 500000},
	{"7\xc2\xb5s", 0, 7000},
	{"7\xce\xbcs", 0, 7000},
	{"5", NSEC_PER_SEC, 5 * NSEC_PER_SEC},
	{"5", 1, 5},
	{"0.25", NSEC_PER_SEC, 250000000},
	{"5ms", NSEC_PER_SEC, 5000000},
	{"5 ms", 0, 5000000},
	{"12.5 min", 0, 750 * NSEC_PER_SEC},
	{"1ns", 0, 1},
	{"0.001us", 0, 1},
	{"0.000000001s", 0, 1},
	{"1.4ns", 0, 1},
	{"1.5ns", 0, 2},
	{"0.1s", 0, 100000000},
	{"0.3us", 0, 300},
	{"8.123456789s", 0, 8123456789},
	{"31622399.999999999s", 0, 366 * DAY - 1},
	{"366d", 0, 366 * DAY},
	{"8784h", 0, 366 * DAY},
	{"31622400000000000ns", 0, 366 * DAY},
	{"00000000000000000000000000000001s", 0, NSEC_PER_SEC},
	{"1.00000000000000000000000000000000s", 0, NSEC_PER_SEC},
};

static const struct {
	const char *text;
	uint64_t unit;
	int err;
	const char *reason;
} bad_durations[] = {
	{"", NSEC_PER_SEC, -EINVAL, "'': not a time"},
	{"-5s", 0, -EINVAL, "'-5s': not a time"},
	{"+5s", 0, -EINVAL, "'+5s': not a time"},
	{" 5s", 0, -EINVAL, "not a time"},
	{"s", 0, -EINVAL, "not a time"},
	{"\xc2\xb5s", 0, -EINVAL, "not a time"},
	{"5\xc2\xb5", 0, -EINVAL, "unknown unit"},
	{".s", 0, -EINVAL, "not a time"},
	{".", NSEC_PER_SEC, -EINVAL, "not a time"},
	{"inf", NSEC_PER_SEC, -EINVAL, "not a time"},
	{"nan", NSEC_PER_SEC, -EINVAL, "not a time"},
	{"five", NSEC_PER_SEC, -EINVAL, "not a time"},
	{"5", 0, -EINVAL, "'5': no unit: write 5us or 5ms"},
	{"0x10", NSEC_PER_SEC, -EINVAL, "unknown unit 'x10'"},
	{"1e3s", 0, -EINVAL, "unknown unit 'e3s'"},
	{"5 parsecs", 0, -EINVAL,
	 "'5 parsecs': unknown unit 'parsecs': use ns, us, ms, s, m, h or d"},
	{"5 ", NSEC_PER_SEC, -EINVAL, "unknown unit ' '"},
	{"5s ", 0, -EINVAL, "unknown unit 's '"},
	{"5s\n", 0, -EINVAL, "unknown unit 's"},
	{"5MS", 0, -EINVAL, "unknown unit 'MS'"},
	{"5S", 0, -EINVAL, "unknown unit 'S'"},
	{"1s5", 0, -EINVAL, "unknown unit 's5'"},
	{"1m30s", 0, -EINVAL, "unknown unit 'm30s'"},
	{"1.2.3s", 0, -EINVAL, "unknown unit '.3s'"},
	{"5.s", 0, -EINVAL, "unknown unit '.s'"},
	{"1,5s", 0, -EINVAL, "unknown unit ',5s'"},
	{"0", NSEC_PER_SEC, -ERANGE, "'0': too short"},
	{"0", 0, -ERANGE, "'0': too short"},
	{"0s", 0, -ERANGE, "too short"},
	{"0.000d", 0, -ERANGE, "too short"},
	{"0.9ns", 0, -ERANGE, "too short"},
	{"0.9999999999999999999999ns", 0, -ERANGE, "too short"},
	{"0.0000000009s", 0, -ERANGE, "too short"},
	{"367d", 0, -ERANGE, "too long"},
	{"31622400000000001ns", 0, -ERANGE, "too long"},
	{"366.00001d", 0, -ERANGE, "too long"},
	{"18446744073709551617", 1, -ERANGE, "too long"},
	{"18446744073709551616ns", 0, -ERANGE, "too long"},
	{"213504d", 0, -ERANGE, "too long"},
	{"340282366920938463463374607431768211457d", 0, -ERANGE, "too long"},
};

static void test_durations(void **state)
{
	char why[128];

	(void)state;
	for (size_t i = 0; i < COUNT(durations); i++) {
		uint64_t ns = 77;
		int err =
			parse_duration(durations[i].text, durations[i].unit, &ns, why, sizeof(why));

		if (err || ns != durations[i].ns)
			fail_msg("'%s': %d, %llu ns", durations[i].text, err,
				 (unsigned long long)ns);
	}
}

static void test_bad_durations(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad_durations); i++) {
		char why[160] = "", quoted[64];
		uint64_t ns = 77;
		int err = parse_duration(bad_durations[i].text, bad_durations[i].unit, &ns, why,
					 sizeof(why));

		if (err != bad_durations[i].err || !strstr(why, bad_durations[i].reason))
			fail_msg("'%s': %d, %s", bad_durations[i].text, err, why);
		snprintf(quoted, sizeof(quoted), "'%.40s", bad_durations[i].text);
		assert_memory_equal(why, quoted, strlen(quoted));
		assert_int_equal(ns, 77);
	}
}

static void test_reasons_stay_in_their_buffer(void **state)
{
	char why[8] = "-------";
	double percent;
	uint64_t ns;
	long n;

	(void)state;
	assert_int_equal(parse_duration("5parsecs", 0, &ns, why, 4), -EINVAL);
	assert_string_equal(why, "'5p");
	assert_int_equal(parse_percent("much", &percent, why, 4), -EINVAL);
	assert_string_equal(why, "'mu");
	assert_int_equal(parse_integer("many", 0, 1, &n, why, 4), -EINVAL);
	assert_string_equal(why, "'ma");
	assert_int_equal(why[4], '-');
	assert_int_equal(parse_duration("5parsecs", 0, &ns, NULL, 0), -EINVAL);
}

static void test_percent(void **state)
{
	static const struct {
		const char *text;
		double value;
	} good[] = {
		{"0.5", 0.5}, {"0.5%", 0.5},      {".5%", 0.5},
		{"100", 100}, {"100%", 100},      {"99.9", 99.9},
		{"0.1", 0.1}, {"99.999", 99.999}, {"0.0001", 0.0001},
	};
	static const struct {
		const char *text;
		int err;
	} bad[] = {
		{"", -EINVAL},         {"%", -EINVAL},
		{"-1", -EINVAL},       {"+1", -EINVAL},
		{"inf", -EINVAL},      {"nan", -EINVAL},
		{"0x5", -EINVAL},      {"1e1", -EINVAL},
		{"5%%", -EINVAL},      {"5 %", -EINVAL},
		{"5% ", -EINVAL},      {" 5", -EINVAL},
		{"5percent", -EINVAL}, {"1,5", -EINVAL},
		{"5.", -EINVAL},       {"0", -ERANGE},
		{"0.0%", -ERANGE},     {"100.1", -ERANGE},
		{"101", -ERANGE},      {"999999999999999999999999999999999", -ERANGE},
	};
	char why[128], quoted[64];

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		double value = -1;

		assert_int_equal(parse_percent(good[i].text, &value, why, sizeof(why)), 0);
		assert_true(value == good[i].value);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		double value = -1;

		why[0] = '\0';
		if (parse_percent(bad[i].text, &value, why, sizeof(why)) != bad[i].err)
			fail_msg("'%s' is not refused as it should be", bad[i].text);
		snprintf(quoted, sizeof(quoted), "'%s': not a ", bad[i].text);
		assert_memory_equal(why, quoted, strlen(quoted));
		assert_true(value == -1);
	}
}

static void check_integer(const char *text, long lo, long hi, int err, long want)
{
	char why[128] = "";
	long value = 77;

	if (parse_integer(text, lo, hi, &value, why, sizeof(why)) != err || value != want)
		fail_msg("'%s' in %ld..%ld gives %ld: %s", text, lo, hi, value, why);
	assert_int_equal(!why[0], !err);
}

static void test_integer(void **state)
{
	(void)state;
	errno = ERANGE; /* an old error is not this one's */
	check_integer("0", 0, 10, 0, 0);
	check_integer("10", 0, 10, 0, 10);
	check_integer("010", 0, 10, 0, 10);
	check_integer("-20", -20, 19, 0, -20);
	check_integer("9223372036854775807", LONG_MIN, LONG_MAX, 0, LONG_MAX);
	check_integer("-9223372036854775808", LONG_MIN, LONG_MAX, 0, LONG_MIN);
	check_integer("11", 0, 10, -ERANGE, 77);
	check_integer("0", 1, 10, -ERANGE, 77);
	check_integer("-21", -20, 19, -ERANGE, 77);
	check_integer("9223372036854775808", LONG_MIN, LONG_MAX, -ERANGE, 77);
	check_integer("-9223372036854775809", LONG_MIN, LONG_MAX, -ERANGE, 77);
	check_integer("-1", 0, 10, -EINVAL, 77);
	check_integer("+1", -10, 10, -EINVAL, 77);
	check_integer("", 0, 10, -EINVAL, 77);
	check_integer("-", -1, 10, -EINVAL, 77);
	check_integer("--1", -1, 10, -EINVAL, 77);
	check_integer(" 1", 0, 10, -EINVAL, 77);
	check_integer("1 ", 0, 10, -EINVAL, 77);
	check_integer("1\n", 0, 10, -EINVAL, 77);
	check_integer("0x1", 0, 10, -EINVAL, 77);
	check_integer("1.0", 0, 10, -EINVAL, 77);
	check_integer("1e1", 0, 10, -EINVAL, 77);
}

static const struct {
	uint64_t ns;
	const char *text;
} shown[] = {
	{0, "0 ns"},
	{1, "1 ns"},
	{38, "38 ns"},
	{999, "999 ns"},
	{1000, "1.00 us"},
	{1900, "1.90 us"},
	{1994, "1.99 us"},
	{1995, "2.00 us"},
	{9994, "9.99 us"},
	{9995, "10.0 us"},
	{38200, "38.2 us"},
	{99949, "99.9 us"},
	{99950, "100 us"},
	{412000, "412 us"},
	{999499, "999 us"},
	{999500, "1.00 ms"},
	{2270000, "2.27 ms"},
	{999499999, "999 ms"},
	{999500000, "1.00 s"},
	{60 * NSEC_PER_SEC, "60.0 s"},
	{99949999999, "99.9 s"},
	{99950000000, "100 s"},
	{119499999999, "119 s"},
	{119500000000, "2.0 min"},
	{2 * MINUTE, "2.0 min"},
	{750 * NSEC_PER_SEC, "12.5 min"},
	{100 * MINUTE, "100 min"},
	{119 * MINUTE + 29 * NSEC_PER_SEC, "119 min"},
	{119 * MINUTE + 30 * NSEC_PER_SEC, "2.0 h"},
	{192 * MINUTE, "3.2 h"},
	{48 * HOUR - 4 * MINUTE, "47.9 h"},
	{48 * HOUR - 3 * MINUTE, "2.0 d"},
	{366 * DAY, "366 d"},
	{999 * DAY, "999 d"},
	{UINT64_MAX, "213504 d"},
};

static void test_format_ns(void **state)
{
	char buf[32];

	(void)state;
	for (size_t i = 0; i < COUNT(shown); i++)
		assert_string_equal(format_ns(shown[i].ns, buf, sizeof(buf)), shown[i].text);
	memset(buf, '-', sizeof(buf));
	assert_ptr_equal(format_ns(412000, buf, 4), buf);
	assert_string_equal(buf, "412");
	assert_int_equal(buf[4], '-');
}

/* Text that is shown reads back within half of its last digit, with at most three digits. */
static void test_shown_times_read_back(void **state)
{
	(void)state;
	srandom(3);
	for (int i = 0; i < 20000; i++) {
		uint64_t ns = ((uint64_t)random() << 31 | (uint64_t)random()) >> random() % 62,
			 back;
		unsigned digits = 0;
		char buf[32], why[128];

		if (!ns || ns > 365 * DAY)
			continue;
		format_ns(ns, buf, sizeof(buf));
		assert_int_equal(parse_duration(buf, 0, &back, why, sizeof(why)), 0);
		for (const char *c = buf; *c; c++)
			digits += *c >= '0' && *c <= '9';
		assert_in_range(digits, 1, 3);
		/* Two digits at least above 999 ns, so half of the last is 2.5 percent of the value
		 * at worst. */
		assert_true((back > ns ? back - ns : ns - back) <= (ns < 1000 ? 0 : ns / 40));
		if (ns >= 1000 && ns < 119 * NSEC_PER_SEC)
			assert_true((back > ns ? back - ns : ns - back) <= ns / 200 + 1);
	}
}

/* No time reads as none but none. */
static void test_format_mean_ns(void **state)
{
	static const struct {
		double ns;
		const char *text;
	} means[] = {{0, "0 ns"},        {1e-9, "<0.01 ns"}, {0.0049, "<0.01 ns"},
		     {0.005, "0.01 ns"}, {0.39, "0.39 ns"},  {38.04, "38.0 ns"},
		     {99.94, "99.9 ns"}, {99.96, "100 ns"},  {412300, "412 us"},
		     {60e9, "60.0 s"},   {1e30, NULL}};
	char buf[32], most[32];

	(void)state;
	format_ns(UINT64_MAX, most, sizeof(most));
	for (size_t i = 0; i < sizeof(means) / sizeof(means[0]); i++)
		assert_string_equal(format_mean_ns(means[i].ns, buf, sizeof(buf)),
				    means[i].text ? means[i].text : most);
}

static void test_format_count(void **state)
{
	char buf[32];

	(void)state;
	assert_string_equal(format_count(0, buf, sizeof(buf)), "0");
	assert_string_equal(format_count(12, buf, sizeof(buf)), "12");
	assert_string_equal(format_count(999, buf, sizeof(buf)), "999");
	assert_string_equal(format_count(1000, buf, sizeof(buf)), "1,000");
	assert_string_equal(format_count(123456, buf, sizeof(buf)), "123,456");
	assert_string_equal(format_count(1234567, buf, sizeof(buf)), "1,234,567");
	assert_string_equal(format_count(UINT64_MAX, buf, sizeof(buf)),
			    "18,446,744,073,709,551,615");
	assert_string_equal(format_count(1234567, buf, 6), "1,234");
}

static void test_format_percent(void **state)
{
	static const struct {
		double percent;
		const char *text;
	} cases[] = {
		{97.4, "97.4"},       {0.0061, "0.0061"},  {100, "100"},       {0, "0"},
		{0.00009, "<0.0001"}, {1e-300, "<0.0001"}, {0.0001, "0.0001"}, {50, "50"},
		{12.34, "12.3"},      {1.234, "1.23"},     {0.1234, "0.123"},  {0.01234, "0.0123"},
		{0.00123, "0.0012"},  {9.996, "10"},       {99.96, "100"},     {0.99996, "1"},
		{10.04, "10"},        {1.5, "1.5"},        {250.4, "250"},     {1000, "1000"},
	};
	char buf[32];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(format_percent(cases[i].percent, buf, sizeof(buf)),
				    cases[i].text);
	assert_string_equal(format_rate(61.34, buf, sizeof(buf)), "61.3");
	assert_string_equal(format_rate(999.4, buf, sizeof(buf)), "999");
	assert_string_equal(format_rate(999.5, buf, sizeof(buf)), "1,000");
	assert_string_equal(format_percent(97.4, buf, 3), "97");
	assert_string_equal(format_percent((double)NAN, buf, sizeof(buf)), "nan");
	assert_int_equal(strlen(format_percent(1.7e308, buf, sizeof(buf))), sizeof(buf) - 1);
}

static void test_iso_time(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} same[] = {{"1970-01-01T00:00:00.000000000Z", 0},
		    {"2026-01-02T03:04:05.000000006Z", 1767323045000000006},
		    {"2000-02-29T23:59:59.999999999Z", 951868799999999999},
		    {"2027-12-31T00:00:00.000000000Z", 1830211200000000000}};
	static const char *const wrong[] = {"",
					    "now",
					    "2026-01-02",
					    "2026-01-02T03:04:05",
					    "2026-01-02T03:04:05.1",
					    "2026-01-02T03:04:05Zx",
					    "1969-12-31T23:59:59Z",
					    "2600-01-01T00:00:00Z",
					    "2027-02-29T00:00:00Z",
					    "2028-02-30T00:00:00Z",
					    "2027-04-31T00:00:00Z",
					    "2026-01-02T03:04:05.1234567890Z"};
	char buf[ISO_TIME];
	uint64_t ns;

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		assert_int_equal(parse_iso_time(same[i].text, &ns), 0);
		assert_int_equal(ns, same[i].ns);
		assert_string_equal(format_iso_time(ns, buf), same[i].text);
	}
	assert_int_equal(parse_iso_time("1970-01-01T00:00:01Z", &ns), 0);
	assert_int_equal(ns, 1000000000);
	assert_int_equal(parse_iso_time("1970-01-01T00:00:01.25Z", &ns), 0);
	assert_int_equal(ns, 1250000000);
	assert_int_equal(parse_iso_time("2016-12-31T23:59:60Z", &ns), 0); /* a leap second */
	assert_int_equal(ns, 1483228800000000000);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ns = 7;
		assert_int_equal(parse_iso_time(wrong[i], &ns), -EINVAL);
		assert_int_equal(ns, 7);
	}
}

static void check_digits(int64_t value)
{
	char text[2 * BUFFER_NUMBER], expected[2 * BUFFER_NUMBER];

	*buffer_digits(text, value) = '\0';
	snprintf(expected, sizeof(expected), "%" PRIu64, (uint64_t)value);
	assert_string_equal(text, expected);
	*buffer_signed(text, value) = '\0';
	snprintf(expected, sizeof(expected), "%" PRId64, value);
	assert_string_equal(text, expected);
	assert_in_range(strlen(text), 1, BUFFER_NUMBER);
}

static void test_digits(void **state)
{
	(void)state;
	for (uint64_t power = 1; power <= UINT64_MAX / 10; power *= 10)
		for (uint64_t value = power - 1; value <= power + 1; value++) {
			check_digits(value);
			check_digits(9 * value);
			check_digits(-value);
			check_digits(12345678901234567890u / power);
		}
	check_digits(INT64_MAX);
	check_digits(INT64_MIN);
	check_digits(UINT64_MAX);
}

static void test_nearest_whole(void **state)
{
	(void)state;
	assert_int_equal(nearest_whole(0.49), 0);
	assert_int_equal(nearest_whole(2.5), 3);
	assert_true(nearest_whole(0x1p64) == UINT64_MAX);
	assert_true(nearest_whole(0x1p64 - 2048) == UINT64_MAX - 2047);
	assert_true(nearest_whole(INFINITY) == UINT64_MAX);
	assert_int_equal(nearest_whole(-1e30), 0);
	assert_int_equal(nearest_whole(NAN), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_bad_durations),
		cmocka_unit_test(test_reasons_stay_in_their_buffer),
		cmocka_unit_test(test_percent),
		cmocka_unit_test(test_integer),
		cmocka_unit_test(test_format_ns),
		cmocka_unit_test(test_format_mean_ns),
		cmocka_unit_test(test_shown_times_read_back),
		cmocka_unit_test(test_format_count),
		cmocka_unit_test(test_format_percent),
		cmocka_unit_test(test_iso_time),
		cmocka_unit_test(test_digits),
		cmocka_unit_test(test_nearest_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
