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
	uint64_t fraction; /* of FRACTION; digits past the 18th are dropped */
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
	if (!*unit && !unit_ns) {
		snprintf(why, whylen, "'%.40s': no unit: write %.40sus or %.40sms, say", text, text,
			 text);
		return -EINVAL;
	}
	if (*unit)
		unit_ns = unit_find(unit);
	if (!unit_ns) {
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

int parse_iso_time(const char *text, uint64_t *ns)
{
	struct tm utc = {0};
	const char *at = strptime(text, "%Y-%m-%dT%H:%M:%S", &utc);
	uint64_t weight = NSEC_PER_SEC, fraction = 0;
	time_t seconds;

	if (!at)
		return -EINVAL;
	if (*at == '.')
		for (at++; isdigit((unsigned char)*at) && weight > 1; at++) {
			weight /= 10;
			fraction += weight * (uint64_t)(*at - '0');
		}
	seconds = timegm(&utc);
	if (strcmp(at, "Z") || seconds < 0 || (uint64_t)seconds >= UINT64_MAX / NSEC_PER_SEC)
		return -EINVAL;
	*ns = (uint64_t)seconds * NSEC_PER_SEC + fraction;
	return 0;
}

char *format_iso_time(uint64_t ns, char buf[ISO_TIME])
{
	time_t seconds = (time_t)(ns / NSEC_PER_SEC);
	struct tm utc;
	size_t n;

	gmtime_r(&seconds, &utc);
	n = strftime(buf, ISO_TIME, "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(buf + n, ISO_TIME - n, ".%09uZ", (unsigned)(ns % NSEC_PER_SEC));
	return buf;
}
