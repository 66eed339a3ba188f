/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/newfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

bool newfile_is_standard(const char *path)
{
	struct stat st;
	int fd = stat(path, &st) ? -1 : way_standard(&st);

	return fd >= 0 && (!S_ISCHR(st.st_mode) || isatty(fd)); /* /dev/null takes both */
}

/* FOLLOW: links at the end are followed, and what is no file is opened as it is. */
enum manner { FOLLOW, PLAIN, OVER };

/* Follows the links at the end of the path. n->made and *st: what is there. 0 or -errno. */
static int resolve(struct newfile *n, struct stat *st, enum manner manner)
{
	struct way *w = &n->way;
	struct stat end;
	int err = 0;

	while (!err) {
		n->made = fstatat(w->dir, w->name, st, AT_SYMLINK_NOFOLLOW);
		if (n->made)
			return errno == ENOENT ? 0 : -errno;
		if (manner == OVER)
			return 0;
		if (manner == PLAIN)
			return S_ISREG(st->st_mode) ? 0 : -EEXIST;
		if (!S_ISLNK(st->st_mode))
			return way_to_others(w, st) ? -ELOOP : 0;
		/* pipes have no path to follow: /dev/fd/63 */
		if (!fstatat(w->dir, w->name, &end, 0) && way_stays(&end) &&
		    (way_standard(&end) >= 0 || way_is_safe(w))) {
			*st = end;
			return 0;
		}
		err = way_follow(w);
		if (!err && w->led && !fstatat(w->dir, w->name, &end, 0) && way_stays(&end))
			err = -ELOOP;
	}
	return err;
}

/* Tells before anything is measured what the rename would say at the end. 0 or -errno. */
static int may_replace(const struct way *w, const struct stat *st, enum manner manner)
{
	uid_t user = geteuid();
	struct stat dir;

	if (fstat(w->dir, &dir) || (manner != OVER && faccessat(w->dir, w->name, W_OK, AT_EACCESS)))
		return -errno;
	return user && dir.st_mode & S_ISVTX && st->st_uid != user && dir.st_uid != user ? -EPERM
											 : 0;
}

/* ---- temporary names ---- */

#define NAMED 16 /* files of one process that have such a name, at most: others may stay */

/* Read by a signal handler, and changed by several threads. */
static _Atomic(struct newfile *) named[NAMED];
static _Atomic pid_t named_by; /* a child has copies, and they are none of its files */

static int name_temp(struct newfile *n)
{
	struct newfile *none;
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	snprintf(n->temp, sizeof(n->temp), ".culprit-%016" PRIx64, random);
	named_by = getpid();
	for (int i = 0; i < NAMED; i++) {
		none = NULL;
		if (atomic_compare_exchange_strong(&named[i], &none, n))
			break;
	}
	return 0;
}

/* Forgets the name: the file does not have it any more. */
static void unname(struct newfile *n)
{
	struct newfile *own;

	for (int i = 0; i < NAMED; i++) {
		own = n;
		atomic_compare_exchange_strong(&named[i], &own, NULL);
	}
	n->temp[0] = '\0';
}

/* Removes what has such a name. */
static void remove_temp(struct newfile *n)
{
	if (n->temp[0])
		unlinkat(n->way.dir, n->temp, 0);
	unname(n);
}

void newfile_abandon(void)
{
	for (int i = 0; i < NAMED && named_by == getpid(); i++) {
		const struct newfile *n = named[i];

		if (n)
			unlinkat(n->way.dir, n->temp, 0);
	}
}

static void on_end(int sig)
{
	newfile_abandon();
	signal(sig, SIG_DFL);
	raise(sig); /* once this function has returned */
}

/* Has signals that end the process remove the file, too, where it is still theirs to end it. */
static void hear_end(void)
{
	static const int ends[] = {SIGHUP, SIGINT, SIGPIPE, SIGTERM};
	struct sigaction act;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (sigaction(ends[i], NULL, &act) || act.sa_handler != SIG_DFL)
			continue;
		act.sa_handler = on_end;
		sigaction(ends[i], &act, NULL);
	}
}

/* ---- opening ---- */

#define OWN_FD "/proc/self/fd/%d"

/* A file without a name leaves nothing when the run is killed. -EOPNOTSUPP where there are none:
 * some file systems have none, and without /proc such a file gets no name. */
static int open_nameless(const struct newfile *n, mode_t mode)
{
	int fd = openat(n->way.dir, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
	char path[64];

	if (fd < 0) /* some say EPERM of a directory that was removed */
		return errno == EISDIR || errno == EPERM ? -EOPNOTSUPP : -errno;
	snprintf(path, sizeof(path), OWN_FD, fd);
	if (!access(path, F_OK))
		return fd;
	close(fd);
	return -EOPNOTSUPP;
}

static int open_new(struct newfile *n, mode_t mode)
{
	int fd = open_nameless(n, mode), err;

	if (fd != -EOPNOTSUPP)
		return fd;
	hear_end();
	err = name_temp(n);
	if (err)
		return err;
	fd = openat(n->way.dir, n->temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    mode);
	err = -errno;
	if (fd < 0)
		unname(n);
	return fd < 0 ? err : fd;
}

static int open_there(struct way *w, const struct stat *was)
{
	int from = way_standard(was);
	int fd = from >= 0 ? fcntl(from, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
			   : openat(w->dir, w->name, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	int err = fd < 0 ? -errno : 0;
	struct stat st;
	bool same = from >= 0 ||
		    (!err && !fstat(fd, &st) && !S_ISREG(st.st_mode) && !way_to_others(w, &st) &&
		     st.st_dev == was->st_dev && st.st_ino == was->st_ino);

	way_close(w);
	if (err)
		return err;
	if (same)
		return fd;
	close(fd); /* somebody has exchanged it meanwhile */
	return -ELOOP;
}

static int open_at(struct newfile *n, const char *path, enum manner manner)
{
	struct stat st;
	int fd, err;

	*n = (struct newfile){.way = {.dir = -1}};
	err = way_open(&n->way, path);
	err = err ? err : resolve(n, &st, manner);
	if (!err && !n->made && way_stays(&st) && manner == FOLLOW) {
		fd = open_there(&n->way, &st);
	} else {
		err = err || n->made ? err : may_replace(&n->way, &st, manner);
		fd = err ? err : open_new(n, manner == OVER ? 0600 : 0666);
		if (!err && fd < 0)
			fd = way_unmade(&n->way, fd);
	}
	if (fd >= 0 && (n->file = fdopen(fd, "w")))
		return 0;
	err = fd < 0 ? fd : -errno;
	if (fd >= 0)
		close(fd);
	remove_temp(n);
	way_close(&n->way);
	return err;
}

int newfile_open(struct newfile *n, const char *path)
{
	return open_at(n, path, FOLLOW);
}

int newfile_open_plain(struct newfile *n, const char *path)
{
	return open_at(n, path, PLAIN);
}

int newfile_open_over(struct newfile *n, const char *path)
{
	return open_at(n, path, OVER);
}

int newfile_place(struct newfile *n)
{
	const struct way *w = &n->way;
	char from[64];
	int err = 0;

	if (w->dir < 0 || n->placed)
		return 0;
	n->placed = true;
	if (!n->temp[0]) {
		snprintf(from, sizeof(from), OWN_FD, fileno(n->file));
		err = name_temp(n);
		if (!err && linkat(AT_FDCWD, from, w->dir, n->temp, AT_SYMLINK_FOLLOW)) {
			err = -errno;
			unname(n);
		}
	}
	if (!err && renameat(w->dir, n->temp, w->dir, w->name))
		err = -errno;
	if (err)
		remove_temp(n);
	unname(n);
	n->made &= !err;
	return err;
}

int newfile_close(struct newfile *n, bool keep)
{
	struct way *w = &n->way;
	int err = 0;

	if (n->file && (fflush(n->file) || ferror(n->file)))
		err = errno ? -errno : -EIO;
	if (n->file && keep && !err)
		err = newfile_place(n);
	if (n->temp[0])
		remove_temp(n);
	else if (n->file && w->dir >= 0 && !keep && n->placed && n->made)
		unlinkat(w->dir, w->name, 0);
	if (n->file) {
		way_close(w);
		if (fclose(n->file) && !err)
			err = -errno;
	}
	n->file = NULL;
	return err;
}

FILE *newfile_hand_over(struct newfile *n)
{
	int err = newfile_place(n);
	FILE *file = n->file;

	if (err) {
		newfile_close(n, false);
		errno = -err;
		return NULL;
	}
	way_close(&n->way);
	n->file = NULL;
	return file;
}

FILE *newfile_grow(const char *path)
{
	struct newfile n;
	int err = newfile_open(&n, path);

	errno = -err;
	return err ? NULL : newfile_hand_over(&n);
}

/* Number of bytes up to the end of the last line that is whole; -errno. */
static off_t whole_lines(int fd, off_t size)
{
	char some[4096];

	while (size > 0) {
		size_t n = size < (off_t)sizeof(some) ? (size_t)size : sizeof(some);
		const char *end;

		if (pread(fd, some, n, size - n) != (ssize_t)n)
			return -EIO;
		end = memrchr(some, '\n', n);
		if (end)
			return size - n + (end + 1 - some);
		size -= n;
	}
	return 0;
}

int newfile_cut(FILE *file)
{
	char path[64];
	struct stat st;
	off_t size;
	int fd;

	__fpurge(file);
	clearerr(file);
	if (fstat(fileno(file), &st) || !S_ISREG(st.st_mode) || way_standard(&st) >= 0)
		return -EINVAL;
	snprintf(path, sizeof(path), OWN_FD, fileno(file)); /* `file` itself can only be written */
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	size = fstat(fd, &st) ? -errno : whole_lines(fd, st.st_size);
	close(fd);
	if (size < 0)
		return size;
	return ftruncate(fileno(file), size) ? -errno : 0;
}

const char *newfile_cut_said(int err)
{
	return err == -EINVAL ? ""
	       : err          ? "; its last line may lack its end"
			      : "; the lines up to then are in it";
}

/* A file that is there already must be one that nobody else could have put there: not one's own
 * from elsewhere either, by a hard link. What is no file was exchanged for the one that was judged.
 */
static bool is_foreign(int fd, const struct way *w)
{
	struct stat st;

	return fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	       ((st.st_uid != geteuid() || st.st_nlink > 1) && way_is_anybodys(w));
}

int newfile_append(const char *path)
{
	struct newfile n = {.way = {.dir = -1}};
	struct way *w = &n.way;
	struct stat st;
	int fd, err = way_open(w, path);

	err = err ? err : resolve(&n, &st, FOLLOW);
	if (!err && !n.made && way_stays(&st))
		return open_there(w, &st);
	fd = err ? err
		 : openat(w->dir, w->name,
			  O_WRONLY | O_APPEND | O_CREAT | (n.made ? O_EXCL : 0) | O_NOFOLLOW |
				  O_NOCTTY | O_NONBLOCK | O_CLOEXEC,
			  0666);
	err = err ? err : fd < 0 ? -errno : is_foreign(fd, w) ? -EPERM : 0;
	way_close(w);
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

const char *newfile_error(int error)
{
	return way_error(error);
}
