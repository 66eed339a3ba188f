/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads and writes numbers for people. Durations are read as integers, whole part and fraction
 * apart, so that "0.1us" is 100 ns and not what a double makes of it; 128 bits hold every product
 * on the way. Writing rounds half up, once, at the digits that are shown, and moves on to the next
 * unit when rounding reaches it. */
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DAY_NS          (86400 * NSEC_PER_SEC)
#define DURATION_MAX_NS (366 * DAY_NS)
#define FRACTION        1000000000000000000ULL /* 10^18 */

struct decimal {
	uint64_t whole;    /* FRACTION stands for all values as large or larger */
	uint64_t fraction; /* numerator over FRACTION; digits past the 18th are dropped */
};

/* Reads "12", "12.5" or ".5". Returns where it ends, NULL without a number. */
static const char *decimal_read(const char *text, struct decimal *d)
{
	uint64_t weight = FRACTION;
	const char *at = text;

	d->whole = d->fraction = 0;
	for (; isdigit((unsigned char)*at); at++)
		d->whole = d->whole >= FRACTION / 10 ? FRACTION
						     : d->whole * 10 + (uint64_t)(*at - '0');
	if (*at == '.' && isdigit((unsigned char)at[1]))
		for (at++; isdigit((unsigned char)*at); at++) {
			weight /= 10;
			d->fraction += weight * (uint64_t)(*at - '0');
		}
	return at > text ? at : NULL;
}

static uint64_t unit_find(const char *name)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{"ns", 1},
		{"us", NSEC_PER_USEC},
		{"\u00b5s", NSEC_PER_USEC}, /* the micro sign */
		{"\u03bcs", NSEC_PER_USEC}, /* the letter mu: keyboards differ */
		{"ms", NSEC_PER_MSEC},
		{"s", NSEC_PER_SEC},
		{"m", 60 * NSEC_PER_SEC},
		{"min", 60 * NSEC_PER_SEC},
		{"h", 3600 * NSEC_PER_SEC},
		{"d", DAY_NS},
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(name, units[i].name))
			return units[i].ns;
	return 0;
}

int parse_duration(const char *text, uint64_t unit_ns, uint64_t *ns, char *why, size_t whylen)
{
	struct decimal d;
	const char *unit = decimal_read(text, &d);
	unsigned __int128 whole, fraction;

	if (!unit) {
		snprintf(why, whylen, "'%.40s': not a time: write a number and a unit, like 200ms",
			 text);
		return -EINVAL;
	}
	if (unit[strspn(unit, " ")])
		unit += strspn(unit, " ");
	if (!*unit && !unit_ns && (d.whole || d.fraction)) {
		snprintf(why, whylen, "'%.40s': no unit: write %.40sus or %.40sms, say", text, text,
			 text);
		return -EINVAL;
	}
	if (*unit)
		unit_ns = unit_find(unit);
	if (*unit && !unit_ns) {
		snprintf(why, whylen, "'%.40s': unknown unit '%.40s': use ns, us, ms, s, m, h or d",
			 text, unit);
		return -EINVAL;
	}
	whole = (unsigned __int128)d.whole * unit_ns;
	fraction = (unsigned __int128)d.fraction * unit_ns;
	if (!whole && fraction < FRACTION) {
		snprintf(why, whylen, "'%.40s': too short: must be 1 ns or more", text);
		return -ERANGE;
	}
	whole += (fraction + FRACTION / 2) / FRACTION;
	if (whole > DURATION_MAX_NS) {
		snprintf(why, whylen, "'%.40s': too long: must be 366 days or less", text);
		return -ERANGE;
	}
	*ns = (uint64_t)whole;
	return 0;
}

int parse_percent(const char *text, double *percent, char *why, size_t whylen)
{
	struct decimal d;
	const char *end = decimal_read(text, &d);
	double value;

	if (!end || (*end && strcmp(end, "%"))) {
		snprintf(why, whylen,
			 "'%.40s': not a percentage: write a plain number, like 0.5 or 0.5%%",
			 text);
		return -EINVAL;
	}
	value = strtod(text, NULL); /* the nearest double, which whole + fraction would miss */
	if (!(value > 0 && value <= 100)) {
		snprintf(why, whylen, "'%.40s': not a share: must be more than 0 and at most 100",
			 text);
		return -ERANGE;
	}
	*percent = value;
	return 0;
}

int parse_integer(const char *text, long lo, long hi, long *value, char *why, size_t whylen)
{
	const char *digits = text + (lo < 0 && *text == '-');
	long number;

	if (!*digits || strspn(digits, "0123456789") != strlen(digits)) {
		snprintf(why, whylen, "'%.40s': not a whole number: write one from %ld to %ld",
			 text, lo, hi);
		return -EINVAL;
	}
	errno = 0;
	number = strtol(text, NULL, 10);
	if (errno || number < lo || number > hi) {
		snprintf(why, whylen, "'%.40s': out of range: must be from %ld to %ld", text, lo,
			 hi);
		return -ERANGE;
	}
	*value = number;
	return 0;
}

uint64_t nearest_whole(double value)
{
	return !(value >= 0) ? 0 : value + 0.5 < 0x1p64 ? (uint64_t)(value + 0.5) : UINT64_MAX;
}

char *format_ns(uint64_t ns, char *buf, size_t len)
{
	static const struct {
		const char *name;
		uint64_t ns;
		unsigned limit; /* the next unit begins at this many; 0: no next unit */
		unsigned decimals;
	} units[] = {
		{"ns", 1, 1000, 0},
		{"us", NSEC_PER_USEC, 1000, 2},
		{"ms", NSEC_PER_MSEC, 1000, 2},
		{"s", NSEC_PER_SEC, 120, 2},
		{"min", 60 * NSEC_PER_SEC, 120, 1},
		{"h", 3600 * NSEC_PER_SEC, 48, 1},
		{"d", DAY_NS, 0, 1},
	};
	static const unsigned power[] = {1, 10, 100};

	for (unsigned i = 0;; i++)
		for (unsigned n = units[i].decimals + 1; n-- > 0;) {
			unsigned __int128 scaled =
				(unsigned __int128)ns * power[n] + units[i].ns / 2;
			uint64_t shown = (uint64_t)(scaled / units[i].ns);
			bool last = !units[i].limit && !n;

			if (!last && (shown >= 1000 ||
				      (units[i].limit && shown >= units[i].limit * power[n])))
				continue;
			if (n)
				snprintf(buf, len, "%llu.%0*llu %s",
					 (unsigned long long)shown / power[n], (int)n,
					 (unsigned long long)shown % power[n], units[i].name);
			else
				snprintf(buf, len, "%llu %s", (unsigned long long)shown,
					 units[i].name);
			return buf;
		}
}

char *format_ps(uint64_t ps, char *buf, size_t len)
{
	if (ps >= 99950)
		return format_ns((ps + 500) / 1000, buf, len);
	snprintf(buf, len, ps < 9995 ? "%.2f ns" : "%.1f ns", ps / 1000.0);
	return buf;
}

char *format_mean_ns(double ns, char *buf, size_t len)
{
	if (ns >= 99.95)
		return format_ns(nearest_whole(ns), buf, len);
	if (ns >= 0.005)
		return format_ps(nearest_whole(1000 * ns), buf, len);
	snprintf(buf, len, ns > 0 ? "<0.01 ns" : "0 ns");
	return buf;
}

char *format_count(uint64_t n, char *buf, size_t len)
{
	char digits[24], text[32];
	int count = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
	size_t pos = 0;

	for (int i = 0; i < count; i++) {
		if (i && (count - i) % 3 == 0)
			text[pos++] = ',';
		text[pos++] = digits[i];
	}
	snprintf(buf, len, "%.*s", (int)pos, text);
	return buf;
}

char *format_percent(double percent, char *buf, size_t len)
{
	char text[336]; /* the largest double has 309 digits */
	int decimals = percent >= 100   ? 0
		       : percent >= 10  ? 1
		       : percent >= 1   ? 2
		       : percent >= 0.1 ? 3
					: 4;
	size_t n;

	if (percent > 0 && percent < 0.0001) {
		snprintf(buf, len, "<0.0001");
		return buf;
	}
	n = (size_t)snprintf(text, sizeof(text), "%.*f", decimals, percent);
	if (decimals && strchr(text, '.')) {
		while (text[n - 1] == '0')
			n--;
		n -= text[n - 1] == '.';
	}
	snprintf(buf, len, "%.*s", (int)n, text);
	return buf;
}

char *format_rate(double per_second, char *buf, size_t len)
{
	return per_second >= 999.5 ? format_count((uint64_t)(per_second + 0.5), buf, len)
				   : format_percent(per_second, buf, len);
}

/* Days from 1970-01-01 to a date, month from 1, by the calendar's 400 years of 146,097 days, each
 * beginning with March. */
static int64_t days_of(int64_t year, unsigned month, unsigned day)
{
	int64_t y = month > 2 ? year : year - 1;
	unsigned m = month > 2 ? month - 3 : month + 9;
	int64_t era = y / 400;
	unsigned of_era = y - era * 400;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + (153 * m + 2) / 5 + day -
	       1 - 719468;
}

static unsigned digits(const char *at, int n)
{
	unsigned v = 0;

	for (; n; n--, at++)
		v = 10 * v + *at - '0';
	return v;
}

/* The usual form, for which strptime takes long: seconds, and what comes behind them. False: it is
 * another one. */
static bool parse_usual(const char *text, int64_t *seconds, const char **behind)
{
	static const char form[] = "dddd-dd-ddTdd:dd:dd";
	unsigned year, month, day, hour, minute, second;

	for (int i = 0; form[i]; i++)
		if (form[i] == 'd' ? !isdigit((unsigned char)text[i]) : text[i] != form[i])
			return false;
	year = digits(text, 4);
	month = digits(text + 5, 2);
	day = digits(text + 8, 2);
	hour = digits(text + 11, 2);
	minute = digits(text + 14, 2);
	second = digits(text + 17, 2);
	if (year < 1970 || !month || month > 12 || !day || day > 28 || hour > 23 || minute > 59 ||
	    second > 59)
		return false;
	*seconds = days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
	*behind = text + sizeof(form) - 1;
	return true;
}

static bool parse_any(const char *text, int64_t *seconds, const char **behind)
{
	struct tm utc = {0}, day;
	int given;

	*behind = strptime(text, "%Y-%m-%dT%H:%M:%S", &utc);
	if (!*behind)
		return false;
	given = utc.tm_mday;
	day = (struct tm){.tm_year = utc.tm_year, .tm_mon = utc.tm_mon, .tm_mday = given};
	*seconds = timegm(&utc);
	/* Makes 2 March of a 30 February. The time of day may lead to the next one: a leap second.
	 */
	timegm(&day);
	return day.tm_mday == given;
}

int parse_iso_time(const char *text, uint64_t *ns)
{
	uint64_t weight = NSEC_PER_SEC, fraction = 0;
	int64_t seconds;
	const char *at;

	if (!parse_usual(text, &seconds, &at) && !parse_any(text, &seconds, &at))
		return -EINVAL;
	if (*at == '.')
		for (at++; isdigit((unsigned char)*at) && weight > 1; at++) {
			weight /= 10;
			fraction += weight * (uint64_t)(*at - '0');
		}
	if (strcmp(at, "Z") || seconds < 0 || (uint64_t)seconds >= UINT64_MAX / NSEC_PER_SEC)
		return -EINVAL;
	*ns = (uint64_t)seconds * NSEC_PER_SEC + fraction;
	return 0;
}

static char *put_digits(char *at, uint64_t value, int n, char behind)
{
	at[n] = behind;
	for (int i = n; i--; value /= 10)
		at[i] = '0' + value % 10;
	return at + n + 1;
}

/* Writes by hand, because strftime and printf take a microsecond, and there may be millions of
 * lines. A year has four digits: 64 bits of ns end in 2554. */
char *format_iso_time(uint64_t ns, char buf[ISO_TIME])
{
	uint64_t seconds = ns / NSEC_PER_SEC, days = seconds / 86400 + 719468;
	uint64_t era = days / 146097, of_era = days % 146097;
	uint64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	uint64_t day = of_era - (365 * year + year / 4 - year / 100);
	uint64_t m = (5 * day + 2) / 153, month = m < 10 ? m + 3 : m - 9;
	char *at = buf;

	at = put_digits(at, year + 400 * era + (month <= 2), 4, '-');
	at = put_digits(at, month, 2, '-');
	at = put_digits(at, day - (153 * m + 2) / 5 + 1, 2, 'T');
	at = put_digits(at, seconds / 3600 % 24, 2, ':');
	at = put_digits(at, seconds / 60 % 60, 2, ':');
	at = put_digits(at, seconds % 60, 2, '.');
	at = put_digits(at, ns % NSEC_PER_SEC, 9, 'Z');
	*at = 0;
	return buf;
}
