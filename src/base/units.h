/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers as people write them: durations, percentages, counts. All times are integer nanoseconds
 * inside. */
#ifndef CULPRIT_UNITS_H
#define CULPRIT_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define NSEC_PER_SEC  1000000000ULL
#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_USEC 1000ULL

/* Reads "10us", "1.5s", "200ns", "2m", "3h", "1d", "0.5ms", "12.5 min" (all that format_ns prints);
 * "µs" too. A number without a unit takes `unit_ns` (1e9 for a run's length); unit_ns 0 means that
 * a unit must be given. Returns 0 and *ns, to the nearest nanosecond, or a one-line reason in why
 * that begins with the quoted text ("'5 parsecs': unknown unit ...") and -EINVAL (empty, signs,
 * inf/nan, hex, exponents, unknown units, trailing text) or -ERANGE (zero, less than 1 ns, more
 * than 366 days). *ns is untouched on error. */
int parse_duration(const char *text, uint64_t unit_ns, uint64_t *ns, char *why, size_t whylen);

/* Reads "0.5" or "0.5%": 0 < p <= 100. Same errors. */
int parse_percent(const char *text, double *percent, char *why, size_t whylen);

/* Reads a plain decimal integer within [lo, hi]; a minus is accepted only when lo is below 0. Same
 * errors.
 */
int parse_integer(const char *text, long lo, long hi, long *value, char *why, size_t whylen);

/* The nearest whole number; what is too large for one becomes the largest, below 0 and no number 0:
 * quotients of what a file says may be anything. */
uint64_t nearest_whole(double value);

/* Three significant digits and a unit, for people: "0 ns" "38 ns" "1.90 us" "38.2 us" "412 us"
 * "2.27 ms" "60.0 s". Minutes, hours and days begin at two of them, with one decimal at most: "12.5
 * min" "3.2 h" "366 d". Never rounds into a fourth digit ("1000 us" is "1.00 ms"), short of 1000
 * days. Returns buf. */
char *format_ns(uint64_t ns, char *buf, size_t len);

/* The same of picoseconds: "0.34 ns" "24.1 ns", and from 100 ns on as format_ns. */
char *format_ps(uint64_t ps, char *buf, size_t len);

/* A mean of times, or time in a second, in ns: as format_ps; "<0.01 ns" for less, above 0; "0 ns".
 * Returns buf. */
char *format_mean_ns(double ns, char *buf, size_t len);

/* Thousands separated by commas: "1,234,567". Returns buf. */
char *format_count(uint64_t n, char *buf, size_t len);

/* The end of a noun behind such a number: "" for 1, else "s". */
static inline const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* A share of 100 for people, up to three significant digits and four decimals, no zeros at the end:
 * "97.4", "50", "0.0061", "100", "0", "<0.0001" for a smaller one above 0. Returns buf. */
char *format_percent(double percent, char *buf, size_t len);

/* A count a second for people: "1,234" "61.3" "0.0167", as a percentage below 1,000. Returns
 * buf. */
char *format_rate(double per_second, char *buf, size_t len);

/* UTC by ISO 8601, "2026-01-02T03:04:05.000000006Z", as ns since 1970. Reads up to nine decimals;
 * returns 0, or -EINVAL for all else. format_iso_time writes nine. */
#define ISO_TIME 40
int parse_iso_time(const char *text, uint64_t *ns);
char *format_iso_time(uint64_t ns, char buf[ISO_TIME]);

#endif
