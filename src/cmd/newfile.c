/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/newfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/way.h"

#define LINKS 40 /* as many as the kernel follows */

/* Standard output or standard error, when it is this file; else -1. Whoever redirected it there
 * has opened the file, and may have written to it. */
static int standard(const struct stat *st)
{
	struct stat other;

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (!fstat(fd, &other) && other.st_dev == st->st_dev && other.st_ino == st->st_ino)
			return fd;
	return -1;
}

static bool as_it_is(const struct stat *st)
{
	return !S_ISREG(st->st_mode) || standard(st) >= 0;
}

/* Puts what the link says in its place. 0 or -errno. */
static int follow(char *path)
{
	char target[PATH_MAX];
	ssize_t len = readlink(path, target, sizeof(target) - 1);
	int dir = way_length(path);

	if (len < 0)
		return -errno;
	target[len] = '\0';
	if (target[0] == '/')
		dir = 0;
	if (dir + len >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(path + dir, target, len + 1);
	return 0;
}

/* Follows the links at the end of the path. *exists, with *st, unless the file is to be made. 0 or
 * -errno. */
static int resolve(char *path, struct stat *st, bool *exists)
{
	struct stat dir;
	int err = 0;

	for (int links = 0; links < LINKS && !err; links++) {
		if (way_check(path))
			return -ELOOP;
		*exists = !lstat(path, st);
		if (!*exists)
			return errno == ENOENT ? 0 : -errno;
		if (!S_ISLNK(st->st_mode))
			return way_to_others(path, st) ? -ELOOP : 0;
		err = way_dir(path, &dir);
		if (!err && dir.st_mode & S_IWOTH)
			return -ELOOP;
		/* pipes have no path to follow: /dev/fd/63 */
		if (!stat(path, st) && as_it_is(st))
			return 0;
		err = err ? err : follow(path);
	}
	return err ? err : -EMLINK;
}

/* Tells before anything is measured what the rename would say at the end. 0 or -errno. */
static int may_replace(const char *path, const struct stat *st)
{
	uid_t user = geteuid();
	struct stat dir;
	int err = way_dir(path, &dir);

	if (err)
		return err;
	if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS))
		return -errno;
	return user && dir.st_mode & S_ISVTX && st->st_uid != user && dir.st_uid != user ? -EPERM
											 : 0;
}

static int name_temp(struct newfile *n)
{
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	if (snprintf(n->temp, sizeof(n->temp), "%.*s.culprit-%016" PRIx64, way_length(n->path),
		     n->path, random) >= PATH_MAX) {
		n->temp[0] = '\0';
		return -ENAMETOOLONG;
	}
	return 0;
}

/* A file without a name leaves nothing when the run is killed; some file systems have none. */
static int open_new(struct newfile *n)
{
	char dir[PATH_MAX];
	int fd, err;

	snprintf(dir, sizeof(dir), "%.*s", way_length(n->path), n->path);
	fd = open(dir[0] ? dir : ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd < 0 ? -errno : fd;
	err = name_temp(n);
	if (err)
		return err;
	fd = open(n->temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd >= 0)
		return fd;
	n->temp[0] = '\0';
	return -errno;
}

static int open_there(struct newfile *n, const struct stat *was)
{
	int from = standard(was);
	int fd = from >= 0 ? fcntl(from, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
			   : open(n->path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	int err = fd < 0 ? -errno : 0;
	struct stat st;
	bool same = from >= 0 || (!err && !fstat(fd, &st) && !S_ISREG(st.st_mode) &&
				  !way_to_others(n->path, &st));

	n->path[0] = '\0';
	if (err)
		return err;
	if (same)
		return fd;
	close(fd); /* somebody has exchanged it meanwhile */
	return -ELOOP;
}

int newfile_open(struct newfile *n, const char *path)
{
	struct stat st;
	bool exists;
	int fd, err;

	n->file = NULL;
	n->temp[0] = '\0';
	if (!path[0] || strlen(path) >= sizeof(n->path))
		return path[0] ? -ENAMETOOLONG : -ENOENT;
	strcpy(n->path, path);
	err = resolve(n->path, &st, &exists);
	if (err)
		return err;
	if (exists && as_it_is(&st)) {
		fd = open_there(n, &st);
	} else {
		err = exists ? may_replace(n->path, &st) : 0;
		fd = err ? err : open_new(n);
	}
	if (fd < 0)
		return fd;
	n->file = fdopen(fd, "w");
	if (n->file)
		return 0;
	close(fd);
	newfile_close(n, false);
	return -ENOMEM;
}

int newfile_place(struct newfile *n)
{
	char from[64];
	int err = 0;

	if (!n->path[0])
		return 0;
	if (!n->temp[0]) {
		snprintf(from, sizeof(from), "/proc/self/fd/%d", fileno(n->file));
		err = name_temp(n);
		if (!err && linkat(AT_FDCWD, from, AT_FDCWD, n->temp, AT_SYMLINK_FOLLOW)) {
			err = -errno;
			n->temp[0] = '\0';
		}
	}
	if (!err && rename(n->temp, n->path))
		err = -errno;
	if (err && n->temp[0])
		unlink(n->temp);
	n->path[0] = n->temp[0] = '\0';
	return err;
}

int newfile_close(struct newfile *n, bool keep)
{
	int err = 0;

	if (n->file && (fflush(n->file) || ferror(n->file)))
		err = errno ? -errno : -EIO;
	if (keep && !err)
		err = newfile_place(n);
	if (n->temp[0])
		unlink(n->temp);
	n->path[0] = n->temp[0] = '\0';
	if (n->file && fclose(n->file) && !err)
		err = -errno;
	n->file = NULL;
	return err;
}

FILE *newfile_grow(const char *path)
{
	struct newfile n;
	int err = newfile_open(&n, path);

	if (!err)
		err = newfile_place(&n);
	if (!err)
		return n.file;
	if (n.file)
		newfile_close(&n, false);
	errno = -err;
	return NULL;
}

/* A file that is there already must be one that nobody else could have put there. */
static bool is_foreign(int fd, const char *path)
{
	struct stat st, dir;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid != geteuid() &&
	       (way_dir(path, &dir) || dir.st_mode & S_IWOTH);
}

int newfile_append(const char *path)
{
	struct newfile n = {.file = NULL};
	struct stat st;
	bool exists;
	int fd, err;

	if (!path[0] || strlen(path) >= sizeof(n.path))
		return path[0] ? -ENAMETOOLONG : -ENOENT;
	strcpy(n.path, path);
	err = resolve(n.path, &st, &exists);
	if (err)
		return err;
	if (exists && as_it_is(&st))
		return open_there(&n, &st);
	fd = open(n.path,
		  O_WRONLY | O_APPEND | O_CREAT | (exists ? 0 : O_EXCL) | O_NOFOLLOW | O_NOCTTY |
			  O_CLOEXEC,
		  0666);
	if (fd < 0)
		return -errno;
	if (!is_foreign(fd, n.path))
		return fd;
	close(fd);
	return -EPERM;
}

const char *newfile_error(int error)
{
	return way_error(error);
}
