// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/mounts.h"

#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES (PATH_MAX + 4096)

static FILE *open_table(int root)
{
	int fd = openat(root, root < 0 ? "/proc/self/mounts" : "proc/self/mounts",
			O_RDONLY | O_CLOEXEC);
	FILE *table = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && !table)
		close(fd);
	return table;
}

bool mounts_find(int root, const char *type, const char *option, char *folder, size_t len)
{
	FILE *table = open_table(root);
	char line[LINE_BYTES];
	struct mntent m;
	bool found = false;

	while (table && !found && getmntent_r(table, &m, line, sizeof(line)))
		found = !strcmp(m.mnt_type, type) && (!option || hasmntopt(&m, option));
	found = found && (size_t)snprintf(folder, len, "%s", m.mnt_dir) < len;
	if (table)
		fclose(table);
	return found;
}
