/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/user_map.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/now.h"
#include "collect/user_open.h"
#include "collect/user_process.h"

#define CLOCK_SLACK_S 2 /* between the clocks of files and of processes */

/* Reads the process' number in its own namespace, and its user. False: it is gone. */
static bool read_status(uint32_t process, uint32_t *number, uid_t *uid)
{
	char path[48], line[512], *last;
	bool has_uid = false;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%u/status", process);
	in = fopen(path, "re");
	*number = 0;
	while (in && fgets(line, sizeof(line), in)) {
		if (sscanf(line, "Uid: %*u %u", uid) == 1)
			has_uid = true;
		if (!strncmp(line, "NSpid:", 6) && (last = strrchr(line, '\t')))
			*number = strtoul(last, NULL, 10);
	}
	if (in)
		fclose(in);
	return has_uid && *number;
}

/* Seconds of the clock that files have, when a process began; INT64_MAX: not known. A file of the
 * process before of the same number is older. */
static int64_t begin_of(uint32_t process)
{
	uint64_t ticks = process_field(process, 22);
	int64_t per_second = sysconf(_SC_CLK_TCK);

	if (!ticks || per_second <= 0)
		return INT64_MAX;
	return (int64_t)((clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME)) / NSEC_PER_SEC +
			 ticks / per_second);
}

int user_map_open(const struct user_stack *u, char *name, size_t len, struct stat *st)
{
	uint32_t number;
	char root[48];
	uid_t uid;
	int fd;

	if (!read_status(u->tgid, &number, &uid))
		return -ESRCH;
	snprintf(root, sizeof(root), "/proc/%u/root", u->tgid);
	snprintf(name, len, "/tmp/perf-%u.map", number);
	fd = user_open(root, name, st);
	if (fd < 0)
		return fd;
	if (st->st_uid == uid && !(st->st_mode & S_IWOTH) &&
	    st->st_mtim.tv_sec + CLOCK_SLACK_S >= begin_of(u->tgid))
		return fd;
	return user_close(fd) ? -EPERM : -ETIME;
}
