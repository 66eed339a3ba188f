/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/way.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int way_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash - path + 1 : 0;
}

int way_dir(const char *path, struct stat *st)
{
	char dir[PATH_MAX];

	if (way_length(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	snprintf(dir, sizeof(dir), "%.*s", way_length(path), path);
	return stat(dir[0] ? dir : ".", st) ? -errno : 0;
}

int way_check(const char *path)
{
	char part[PATH_MAX];
	struct stat st, dir;

	for (const char *at = path; (at = strchr(at, '/')); at += strspn(at, "/")) {
		if (at - path >= PATH_MAX)
			return -ELOOP;
		snprintf(part, sizeof(part), "%.*s", (int)(at - path), path);
		if (part[0] && !lstat(part, &st) && S_ISLNK(st.st_mode) && !way_dir(part, &dir) &&
		    dir.st_mode & S_IWOTH)
			return -ELOOP;
	}
	return 0;
}

bool way_to_others(const char *path, const struct stat *st)
{
	struct stat dir;

	return S_ISFIFO(st->st_mode) && st->st_uid != geteuid() &&
	       (way_dir(path, &dir) || dir.st_mode & S_IWOTH);
}

const char *way_error(int error)
{
	int positive = error < 0 ? -error : error;

	return positive == ELOOP ? "a symbolic link in a directory where anybody may write could "
				   "lead anywhere, another user's pipe there to that user"
				 : strerror(positive);
}
