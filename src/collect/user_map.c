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
#include "collect/user_process.h"

#define CLOCK_SLACK_S 2 /* between the clocks of files and of processes */
#define NOBODY        UINT32_MAX

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

bool user_map_is_dump(struct user_dump *dump, uint32_t process, const char *path)
{
	const char *name = strrchr(path, '/');
	uint32_t number;
	int at = 0;
	uid_t uid;

	if (!name || sscanf(name, "/jit-%u.dump%n", &number, &at) != 1 || !at || name[at])
		return false;
	if (!dump->own && !read_status(process, &dump->own, &uid))
		dump->own = NOBODY;
	return number == dump->own && number != NOBODY;
}

/* True when an open file is the process's own, as far as anybody can tell. */
static bool is_own(uint32_t process, uid_t uid, const struct stat *st)
{
	return st->st_uid == uid && !(st->st_mode & S_IWOTH) &&
	       st->st_mtim.tv_sec + CLOCK_SLACK_S >= begin_of(process);
}

/* Opens the file that is mapped, whatever is in its place by now. */
static int open_dump(uint32_t process, const struct user_dump *dump, struct user_devices *devices,
		     struct stat *st)
{
	char path[96];

	if (!dump->end || devices->shun(devices->ctx, dump->device))
		return -ENOENT;
	devices->at = dump->device;
	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", process, dump->begin,
		 dump->end);
	return user_open(NULL, path, NULL, st);
}

int user_map_open(const struct user_stack *u, const struct user_dump *dump,
		  struct user_devices *devices, char *name, size_t len, struct stat *st)
{
	size_t dump_len = strlen(dump->name);
	uint32_t number;
	char root[48];
	uid_t uid;
	int fd;

	if (!read_status(u->tgid, &number, &uid))
		return -ESRCH;
	fd = open_dump(u->tgid, dump, devices, st);
	snprintf(name, len, "%s", dump->name + (dump_len < len ? 0 : dump_len - len + 1));
	if (fd == -ETIME || (fd >= 0 && is_own(u->tgid, uid, st)))
		return fd;
	if (fd >= 0 && !user_close(fd))
		return -ETIME;
	snprintf(root, sizeof(root), "/proc/%u/root", u->tgid);
	snprintf(name, len, "/tmp/perf-%u.map", number);
	fd = user_open(root, name, devices, st);
	if (fd < 0 || is_own(u->tgid, uid, st))
		return fd;
	return user_close(fd) ? -EPERM : -ETIME;
}
