/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clock, waiting, small files, and numbers on the command line. */
#include "poke.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

int sleep_until(uint64_t ns)
{
	struct timespec ts = {(time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC)};

	while (!poke_stop)
		if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == 0)
			return 0;
	return -1;
}

int wait_for(_Atomic uint32_t *word, uint32_t value)
{
	uint64_t patience = now_ns() + 200000;

	while ((int32_t)(atomic_load_explicit(word, memory_order_acquire) - value) < 0) {
		uint64_t now = now_ns();

		if (now > patience && sleep_until(now + 50000))
			return -1;
	}
	return 0;
}

uint64_t length_of(const struct poke *p)
{
	return p->conf->length_ns > p->class->least_ns ? p->conf->length_ns : p->class->least_ns;
}

void extra(struct poke_event *ev, const char *key, uint64_t value)
{
	for (int i = 0; i < POKE_EXTRAS; i++) {
		if (!ev->extra[i].key) {
			ev->extra[i].key = key;
			ev->extra[i].value = value;
			return;
		}
	}
}

int cannot(struct poke *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->why, sizeof(p->why), fmt, ap);
	va_end(ap);
	return -1;
}

int read_line(const char *path, char *buf, size_t len)
{
	FILE *f = fopen(path, "re");
	char *got;

	if (!f)
		return -1;
	got = fgets(buf, (int)len, f);
	fclose(f);
	if (!got)
		return -1;
	buf[strcspn(buf, "\n")] = '\0';
	return 0;
}

int write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");
	int rc;

	if (!f)
		return -1;
	rc = fputs(text, f) < 0 ? -1 : 0;
	return fclose(f) ? -1 : rc;
}

bool cpu_in_list(int cpu, const char *list)
{
	while (*list >= '0' && *list <= '9') {
		char *end;
		long lo = strtol(list, &end, 10), hi = lo;

		if (*end == '-')
			hi = strtol(end + 1, &end, 10);
		if (cpu >= lo && cpu <= hi)
			return true;
		list = *end == ',' ? end + 1 : end;
	}
	return false;
}

void die(int rc, const char *fmt, ...)
{
	va_list ap;

	fputs("poke: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(rc);
}

uint64_t parse_ns(const char *option, const char *text, const char **rest)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *end;
	double value = *text >= '0' && *text <= '9' ? strtod(text, &end) : -1;

	for (size_t i = 0; value >= 0 && i < ARRAY_SIZE(units); i++) {
		size_t len = strlen(units[i].unit);

		if (strncmp(end, units[i].unit, len) ||
		    (rest ? end[len] && end[len] != '-' : end[len]))
			continue;
		value *= units[i].ns;
		if (value < 1 || value > 60e9)
			break;
		if (rest)
			*rest = end + len;
		return (uint64_t)value;
	}
	die(1, "%s %s: not a time between 1ns and 60s with a unit, such as 100us or 5ms", option,
	    text);
}

long parse_long(const char *option, const char *text, long lo, long hi)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < lo || value > hi)
		die(1, "%s %s: not a number between %ld and %ld", option, text, lo, hi);
	return value;
}
