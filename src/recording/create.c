/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/create.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/say.h"
#include "base/way.h"

/* True for a link that anybody could have put there. */
static bool is_planted(const char *path)
{
	struct stat st, dir;

	return !lstat(path, &st) && S_ISLNK(st.st_mode) &&
	       (way_dir(path, &dir) || dir.st_mode & S_IWOTH);
}

/* Makes a new file that only its owner reads: it holds command lines and the kernel's log. An older
 * file goes, also a link, which is never followed: nothing of its owner and mode stays. A file that
 * is none cannot be overwritten: /dev/null, a pipe. A descriptor, or -1 with errno. */
static int make_file(const char *path, bool force)
{
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, fd;
	struct stat st;

	if (way_check(path)) {
		errno = ELOOP;
		return -1;
	}
	fd = open(path, flags, 0600);
	if (fd >= 0 || errno != EEXIST)
		return fd;
	if (!is_planted(path) && !stat(path, &st) && !S_ISREG(st.st_mode))
		return open(path, O_WRONLY | O_CLOEXEC);
	if (force)
		return unlink(path) ? -1 : open(path, flags, 0600);
	errno = EEXIST;
	return -1;
}

int create_recording(const char *path, bool force)
{
	int fd = make_file(path, force);

	if (fd < 0 && errno == EEXIST)
		complain("%s exists already: choose another name, or overwrite it with --force",
			 path);
	else if (fd < 0)
		complain("cannot record to %s: %s", path, way_error(errno));
	return fd;
}
