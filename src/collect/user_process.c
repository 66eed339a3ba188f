/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/user_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads /proc/PID/stat. Returns a field, with those behind it, in `text`; NULL: there is none. */
static const char *read_field(uint32_t process, int number, char *text, size_t size)
{
	char path[48], *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/stat", process);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	at = strrchr(text, ')'); /* the name may have any bytes */
	for (int field = 2; at && field < number; field++)
		at = strchr(at + 1, ' ');
	return at;
}

uint64_t process_field(uint32_t process, int number)
{
	char text[2048];
	const char *at = read_field(process, number, text, sizeof(text));

	return at ? strtoull(at, NULL, 10) : 0;
}

bool process_waits(uint32_t process)
{
	char text[2048];
	const char *at = read_field(process, 3, text, sizeof(text));

	return at && (at[1] == 'S' || at[1] == 'D');
}

unsigned session_waits(uint32_t session)
{
	DIR *all = opendir("/proc");
	struct dirent *e;
	unsigned n = 0;

	while (all && (e = readdir(all))) {
		uint32_t process = strtoul(e->d_name, NULL, 10);

		n += process && process_field(process, 6) == session && process_waits(process);
	}
	if (all)
		closedir(all);
	return n;
}

int64_t process_used_ms(uint32_t process)
{
	int64_t per_second = sysconf(_SC_CLK_TCK);
	uint64_t ticks = process_field(process, 14) + process_field(process, 15);

	return per_second > 0 ? (int64_t)ticks * 1000 / per_second : 0;
}
