/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/way.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LINKS 40 /* as many as the kernel follows */
#define NAME  (O_PATH | O_CLOEXEC)

bool way_is_anybodys(const struct way *w)
{
	struct stat dir;

	return fstat(w->dir, &dir) || dir.st_mode & S_IWOTH;
}

static bool is_strangers(const struct stat *st)
{
	return st->st_uid && st->st_uid != geteuid();
}

bool way_is_safe(const struct way *w)
{
	struct stat dir;

	return !fstat(w->dir, &dir) && !is_strangers(&dir) && !(dir.st_mode & (S_IWGRP | S_IWOTH));
}

/* True where another user has put that link. */
static bool misleads(const struct way *w, const struct stat *link)
{
	return is_strangers(link) && !way_is_safe(w);
}

bool way_to_others(const struct way *w, const struct stat *st)
{
	return S_ISFIFO(st->st_mode) && st->st_uid != geteuid() && !way_is_safe(w);
}

int way_standard(const struct stat *st)
{
	struct stat other;

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (!fstat(fd, &other) && other.st_dev == st->st_dev && other.st_ino == st->st_ino)
			return fd;
	return -1;
}

bool way_stays(const struct stat *st)
{
	return !S_ISREG(st->st_mode) || way_standard(st) >= 0;
}

/* 0 or -errno. */
static int go(struct way *w, int dir)
{
	if (dir < 0)
		return -errno;
	if (w->dir >= 0)
		close(w->dir);
	w->dir = dir;
	return 0;
}

/* Reads the link that was judged, whatever has its name by now. 0 or -errno. */
static int read_link(struct way *w, const char *name, char target[PATH_MAX])
{
	int fd = openat(w->dir, name, NAME | O_NOFOLLOW), err = fd < 0 ? -errno : 0;
	struct stat st;
	ssize_t len;

	if (err)
		return err;
	if (++w->links > LINKS)
		err = -EMLINK;
	else if (fstat(fd, &st) || !S_ISLNK(st.st_mode))
		err = -ENOTDIR;
	else if (way_is_anybodys(w) || (misleads(w, &st) && w->led && w->guide != st.st_uid))
		err = -ELOOP;
	len = err ? 0 : readlinkat(fd, "", target, PATH_MAX);
	close(fd);
	if (err || len < 0 || len == PATH_MAX)
		return err ? err : len < 0 ? -errno : -ENAMETOOLONG;
	target[len] = '\0';
	if (misleads(w, &st)) {
		w->led = true;
		w->guide = st.st_uid;
	}
	return 0;
}

/* A link of /proc says the way that another process sees. */
static bool is_in_proc(const struct way *w)
{
	struct statfs fs;

	return !fstatfs(w->dir, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/* Goes into a directory, or puts what a link says in front of the rest. 0 or -errno. */
static int enter(struct way *w, const char *name, char rest[PATH_MAX])
{
	char target[PATH_MAX], tail[PATH_MAX];
	int dir = openat(w->dir, name, NAME | O_DIRECTORY | O_NOFOLLOW), err;

	if (dir >= 0 || (errno != ENOTDIR && errno != ELOOP))
		return go(w, dir);
	err = read_link(w, name, target);
	if (err)
		return err;
	if (is_in_proc(w))
		return go(w, openat(w->dir, name, NAME | O_DIRECTORY));
	strcpy(tail, rest);
	if (snprintf(rest, PATH_MAX, "%s%s", target, tail) >= PATH_MAX)
		return -ENAMETOOLONG;
	return target[0] == '/' ? go(w, open("/", NAME)) : 0;
}

/* 0 or -errno. */
static int walk(struct way *w, const char *path)
{
	char rest[PATH_MAX];
	struct stat dir;
	int err = 0;

	if (strlen(path) >= sizeof(rest))
		return -ENAMETOOLONG;
	strcpy(rest, path);
	if (rest[0] == '/')
		err = go(w, open("/", NAME));
	while (!err) {
		char *at = rest + strspn(rest, "/");
		size_t len = strcspn(at, "/");

		if (len > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(w->name, at, len);
		w->name[len] = '\0';
		if (!at[len])
			break;
		memmove(rest, at + len, strlen(at + len) + 1);
		err = enter(w, w->name, rest);
	}
	if (!err && (fstat(w->dir, &dir) || (w->led && dir.st_uid != w->guide)))
		err = -ELOOP;
	return err ? err : w->name[0] ? 0 : -EISDIR;
}

int way_open(struct way *w, const char *path)
{
	int err;

	*w = (struct way){.dir = -1};
	if (!path[0])
		return -ENOENT;
	err = path[0] == '/' ? 0 : go(w, open(".", NAME)); /* not always ours to search */
	err = err ? err : walk(w, path);
	if (err)
		way_close(w);
	return err;
}

int way_follow(struct way *w)
{
	char target[PATH_MAX];
	int err = read_link(w, w->name, target);

	return err ? err : walk(w, target);
}

void way_close(struct way *w)
{
	if (w->dir >= 0)
		close(w->dir);
	w->dir = -1;
}

/* The way to a directory whose path may end with slashes. 0 or -errno. */
static int open_directory(struct way *w, const char *path)
{
	char plain[PATH_MAX];
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	if (len >= sizeof(plain))
		return -ENAMETOOLONG;
	memcpy(plain, path, len);
	plain[len] = '\0';
	return way_open(w, plain);
}

int way_mkdir(const char *path, mode_t mode)
{
	struct way w;
	struct stat st;
	int err = open_directory(&w, path);

	if (!err)
		err = !mkdirat(w.dir, w.name, mode) ? 1 : errno == EEXIST ? 0 : -errno;
	while (!err) {
		if (fstatat(w.dir, w.name, &st, AT_SYMLINK_NOFOLLOW))
			err = -errno;
		else if (S_ISLNK(st.st_mode))
			err = way_follow(&w);
		else if (!S_ISDIR(st.st_mode))
			err = -ENOTDIR;
		else
			break;
	}
	way_close(&w);
	return err == -EISDIR ? 0 : err;
}

void way_rmdir(const char *path)
{
	struct way w;

	if (open_directory(&w, path))
		return;
	unlinkat(w.dir, w.name, AT_REMOVEDIR);
	way_close(&w);
}

int way_unmade(const struct way *w, int err)
{
	struct stat dir;

	/* one that was removed takes none either, and says the same */
	return err == -ENOENT && !fstat(w->dir, &dir) && dir.st_nlink ? -EOPNOTSUPP : err;
}

const char *way_error(int error)
{
	int positive = error < 0 ? -error : error;

	return positive == ELOOP ? "a symbolic link in a directory where anybody may write, or of "
				   "another user, could lead anywhere, another user's pipe there "
				   "to that user"
	       : positive == EOPNOTSUPP ? "files are made anew, and its directory takes no new ones"
					: strerror(positive);
}
