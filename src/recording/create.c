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

/* True for a link, or a pipe to somebody, that anybody could have put there. */
static bool is_planted(const char *path)
{
	struct stat st, dir;

	return !lstat(path, &st) &&
	       ((S_ISLNK(st.st_mode) && (way_dir(path, &dir) || dir.st_mode & S_IWOTH)) ||
		way_to_others(path, &st));
}

/* Opens what is no file. A pipe must have its reader: who waited for one could not be ended, as its
 * signals ask for the end of a window that has not begun. */
static int open_other(const char *path)
{
	int fd = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && !way_to_others(path, &st) && !fcntl(fd, F_SETFL, 0))
		return fd;
	close(fd); /* somebody has exchanged it meanwhile */
	errno = ELOOP;
	return -1;
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
		return open_other(path);
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
	else if (fd < 0 && errno == ENXIO)
		complain("cannot record to %s: nobody reads from it; begin with its reader", path);
	else if (fd < 0)
		complain("cannot record to %s: %s", path, way_error(errno));
	return fd;
}
