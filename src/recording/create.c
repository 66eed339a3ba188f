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

/* Links are followed where nobody else can put one, or exchange another thing for one. */
static int end_flags(const struct way *w)
{
	return way_is_safe(w) ? 0 : AT_SYMLINK_NOFOLLOW;
}

/* True for what is there and is no file, which is opened as it is: no link, and no pipe to
 * somebody, that another user could have put there. */
static bool is_other(const struct way *w, struct stat *st)
{
	return !fstatat(w->dir, w->name, st, end_flags(w)) && !S_ISREG(st->st_mode) &&
	       !S_ISLNK(st->st_mode) && !way_to_others(w, st);
}

/* Opens what is no file. A pipe must have its reader: who waited for one could not be ended, as its
 * signals ask for the end of a window that has not begun. A descriptor or -errno. */
static int open_other(const struct way *w, const struct stat *was)
{
	int fd = openat(w->dir, w->name,
			O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC |
				(end_flags(w) ? O_NOFOLLOW : 0));
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && st.st_dev == was->st_dev && st.st_ino == was->st_ino &&
	    !fcntl(fd, F_SETFL, 0))
		return fd;
	close(fd); /* somebody has exchanged it meanwhile */
	return -ELOOP;
}

/* Makes a new file that only its owner reads: it holds command lines and the kernel's log. An older
 * file goes, also a link, which is never followed: nothing of its owner and mode stays. A file that
 * is none cannot be overwritten: /dev/null, a pipe. A descriptor or -errno. */
static int make_file(const struct way *w, bool force)
{
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
	int fd = openat(w->dir, w->name, flags, 0600);
	struct stat st;

	if (fd >= 0 || errno != EEXIST)
		return fd < 0 ? way_unmade(w, -errno) : fd;
	if (is_other(w, &st))
		return open_other(w, &st);
	if (!force)
		return -EEXIST;
	fd = unlinkat(w->dir, w->name, 0) ? -1 : openat(w->dir, w->name, flags, 0600);
	return fd < 0 ? -errno : fd;
}

/* fd: or -errno, whose reason is said. Returns the descriptor, or -1. */
static int tell(int fd, const char *path)
{
	if (fd == -EEXIST)
		complain("%s exists already: choose another name, or overwrite it with --force",
			 path);
	else if (fd == -ENXIO)
		complain("cannot record to %s: nobody reads from it; begin with its reader", path);
	else if (fd < 0)
		complain("cannot record to %s: %s", path, way_error(fd));
	return fd < 0 ? -1 : fd;
}

int create_recording(const char *path, bool force)
{
	struct way way;
	int err = way_open(&way, path), fd = err ? err : make_file(&way, force);

	if (!err)
		way_close(&way);
	return tell(fd, path);
}

/* True where a file or a link is there, which only force writes over. *err: 0 or -errno. */
static bool is_taken(const char *path, int *err)
{
	struct way way;
	struct stat st;
	bool taken;

	*err = way_open(&way, path);
	if (*err)
		return false;
	taken = !fstatat(way.dir, way.name, &st, AT_SYMLINK_NOFOLLOW) && !is_other(&way, &st);
	way_close(&way);
	return taken;
}

int create_check(const char *path, bool force)
{
	int err;
	bool taken = is_taken(path, &err);

	return tell(taken && !force ? -EEXIST : err, path);
}

bool create_replaces(const char *path)
{
	int err;

	return is_taken(path, &err);
}

void create_remove(const char *path)
{
	struct way way;
	struct stat st;

	if (way_open(&way, path))
		return;
	if (!fstatat(way.dir, way.name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode))
		unlinkat(way.dir, way.name, 0);
	way_close(&way);
}
