/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/flight_file.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "base/units.h"

#define THREAD "thread"

/* Writes the wall clock's time at `ns` of CLOCK_MONOTONIC: "20260102T030405.123Z". */
static void name_time(uint64_t ns, char *buf, size_t len)
{
	uint64_t wall = clock_ns(CLOCK_REALTIME) - (now_ns() - ns);
	time_t seconds = wall / NSEC_PER_SEC;
	struct tm tm;
	size_t n;

	gmtime_r(&seconds, &tm);
	n = strftime(buf, len, "%Y%m%dT%H%M%S", &tm);
	snprintf(buf + n, len - n, ".%03uZ", (unsigned)(wall / NSEC_PER_MSEC % 1000));
}

/* Names from the machine may hold any bytes: a byte that is no plain character of a file's name
 * becomes "_". */
static void plain(const char *text, char *buf, size_t len)
{
	size_t n = 0;

	for (; *text && n + 1 < len; text++) {
		bool good = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
			    (*text >= '0' && *text <= '9') || *text == '-' || *text == '.';

		buf[n++] = good ? *text : '_';
	}
	buf[n] = 0;
}

void flight_file(const char *directory, const struct trigger_hit *hit, bool private,
		 char file[PATH_MAX])
{
	const char *slash = directory[strlen(directory) - 1] != '/' ? "/" : "";
	char at[40], who[sizeof(hit->who)], lane[24] = "";

	name_time(hit->start_ns, at, sizeof(at));
	plain(hit->who[0] ? hit->who : hit->trigger->text, who, sizeof(who));
	if (private && !strncmp(hit->who, THREAD " ", sizeof(THREAD)))
		strcpy(who, THREAD);
	if (hit->spot.cpu != SPOT_UNKNOWN)
		snprintf(lane, sizeof(lane), "-cpu%u", hit->spot.cpu);
	for (int i = 1; i < 100; i++) {
		char more[16] = "";

		if (i > 1)
			snprintf(more, sizeof(more), "-%d", i);
		snprintf(file, PATH_MAX, "%.*s%s%s%s-%s%s.rec", PATH_MAX - FLIGHT_FILE, directory,
			 slash, at, lane, who, more);
		if (access(file, F_OK))
			return;
	}
}
