/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/user_open.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/now.h"
#include "base/units.h"
#include "collect/user_process.h"

#define OPEN_MS     1000
#define BUSY_MS     10000 /* with all waits for a CPU */
#define STEP_MS     20
#define NONE_YET    INT_MIN
#define STACK_BYTES 32768

/* Shared with the process. It stays allocated when that does not end. */
struct opening {
	char root[64], path[128];
	bool rooted;
	struct user_devices *devices; /* the caller's, until the process was ended; NULL: none */
	dev_t at;                     /* see there */
	pid_t parent;
	bool left; /* the process does not end */
	struct stat st;
	int from, dir, place; /* root, directory and file, for their names alone; -1: not open */
	int fd;               /* -errno: there is none */
	char *text;           /* bytes that are read, `most` at most */
	size_t most;
	ssize_t n;
	char stack[STACK_BYTES] __attribute__((aligned(16)));
};

/* False, with errno: its device is not to be asked. File systems are not asked for that. */
static bool may_ask(struct opening *o, int fd)
{
	const int how = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
	struct statx st;

	o->at = 0;
	if (!o->devices || statx(fd, "", how, 0, &st))
		return true;
	o->at = makedev(st.stx_dev_major, st.stx_dev_minor);
	errno = ENODEV;
	return !o->devices->shun(o->devices->ctx, o->at);
}

/* The file itself is not opened yet: a device or a pipe might take that for a request. */
static int find_place(struct opening *o)
{
	struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	const char *slash = strrchr(o->path, '/');
	char dir[sizeof(o->path)] = ".";

	if (!o->rooted)
		return open(o->path, O_PATH | O_CLOEXEC);
	if (slash)
		snprintf(dir, sizeof(dir), "%.*s", (int)(slash + 1 - o->path), o->path);
	/* Until the directory is found links may lead through any device. */
	o->from = open(o->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (o->from < 0)
		return -1;
	o->dir = syscall(SYS_openat2, o->from, dir, &how, sizeof(how));
	if (o->dir < 0 || !may_ask(o, o->dir))
		return -1;
	how.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
	return syscall(SYS_openat2, o->dir, slash ? slash + 1 : o->path, &how, sizeof(how));
}

static int find_file(struct opening *o)
{
	char path[32];
	int fd;

	o->place = find_place(o);
	if (o->place < 0 || !may_ask(o, o->place) || fstat(o->place, &o->st)) {
		fd = -errno;
	} else if (!S_ISREG(o->st.st_mode)) {
		fd = -EINVAL;
	} else {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", o->place);
		fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		fd = fd < 0 ? -errno : fd;
	}
	return fd;
}

/* Has the process end with the reader. False: that is gone. */
static bool has_parent(const struct opening *o)
{
#ifdef __SANITIZE_THREAD__
	return true;
#endif
	return !prctl(PR_SET_PDEATHSIG, SIGKILL) && getppid() == o->parent;
}

/* No sanitizer follows a process into another one's memory. */
#define OTHERS_MEMORY __attribute__((no_sanitize("address", "thread", "undefined")))

OTHERS_MEMORY static int begin_open(void *ctx)
{
	struct opening *o = ctx;

	if (has_parent(o))
		__atomic_store_n(&o->fd, find_file(o), __ATOMIC_RELEASE);
	return 0;
}

OTHERS_MEMORY static int begin_read(void *ctx)
{
	struct opening *o = ctx;
	ssize_t have = 0, n = -1;

	if (!has_parent(o))
		return 0;
	o->fd = open(o->path, O_RDONLY | O_CLOEXEC);
	while (o->fd >= 0 && (size_t)have < o->most &&
	       (n = read(o->fd, o->text + have, o->most - have)) > 0)
		have += n;
	__atomic_store_n(&o->n, n < 0 ? -errno : have, __ATOMIC_RELEASE);
	return 0;
}

/* The number is free before the call waits. */
OTHERS_MEMORY static int begin_close(void *ctx)
{
	struct opening *o = ctx;

	if (has_parent(o))
		close(o->fd);
	return 0;
}

/* Waits until the process ends, or ends it, which it may survive. 0, -ETIME or -EBUSY. */
static int wait_for(struct opening *o, pid_t pid, int end)
{
	struct pollfd ended = {.fd = end, .events = POLLIN};
	uint64_t until = now_ns() + BUSY_MS * NSEC_PER_MSEC;
	int waited = 0, err = 0;

	/* errno may be the other process's. */
	while (poll(&ended, 1, STEP_MS) < 1 && !err) {
		waited += process_waits(pid) ? STEP_MS : 0;
		err = waited > OPEN_MS ? -ETIME : now_ns() > until ? -EBUSY : 0;
	}
	if (err) {
		kill(pid, SIGKILL);
		poll(&ended, 1, OPEN_MS);
	}
	o->left = !ended.revents;
	waitpid(pid, NULL, o->left ? WNOHANG : 0);
	close(end);
	return err;
}

static int run(struct opening *o, int (*begin)(void *ctx))
{
	int end;
	pid_t pid;

	o->parent = getpid();
#ifdef __SANITIZE_THREAD__ /* follows nobody into memory that is shared */
	return begin(o);
#endif
	pid = clone(begin, o->stack + sizeof(o->stack),
		    CLONE_VM | CLONE_FILES | CLONE_PIDFD | SIGCHLD, o, &end);
	return pid < 0 ? -errno : wait_for(o, pid, end);
}

static void close_name(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* *left: its process has not ended. */
static int try_open(const char *root, const char *path, struct user_devices *devices,
		    struct stat *st, bool *left)
{
	struct opening *o = calloc(1, sizeof(*o));
	int err, fd;

	if (!o)
		return -ENOMEM;
	o->fd = NONE_YET;
	o->from = o->dir = o->place = -1;
	o->rooted = root;
	o->devices = root ? devices : NULL;
	snprintf(o->root, sizeof(o->root), "%s", root ? root : "");
	snprintf(o->path, sizeof(o->path), "%s", path);
	err = run(o, begin_open);
	if (devices)
		devices->at = o->at;
	*left = o->left;
	if (o->left)
		return err;
	fd = o->fd != NONE_YET ? o->fd : err ? err : -EIO;
	*st = o->st;
	/* Nobody is asked: they are names alone. */
	close_name(o->place);
	close_name(o->dir);
	close_name(o->from);
	free(o);
	return fd;
}

int user_open(const char *root, const char *path, struct user_devices *devices, struct stat *st)
{
	bool left = false, left_again;
	int fd = try_open(root, path, devices, st, &left), again;
	dev_t at = devices ? devices->at : 0;

	if (fd != -ETIME)
		return fd;
	again = try_open(root, path, devices, st, &left_again);
	/* A file that is gone by now has let one wait all the same. */
	if (again >= 0 || !left)
		return again;
	if (devices)
		devices->at = at;
	return fd;
}

bool user_close(int fd)
{
	struct opening *o = calloc(1, sizeof(*o));
	int err;

	if (!o)
		return true;
	o->fd = fd;
	err = run(o, begin_close);
	if (!o->left)
		free(o);
	return err != -ETIME;
}

char *user_read(const char *path, size_t most, ssize_t *n)
{
	struct opening *o = calloc(1, sizeof(*o));
	char *text = malloc(most);
	int err;

	if (!o || !text) {
		free(o);
		free(text);
		*n = -ENOMEM;
		return NULL;
	}
	o->fd = NONE_YET;
	o->n = NONE_YET;
	o->text = text;
	o->most = most;
	snprintf(o->path, sizeof(o->path), "%s", path);
	err = run(o, begin_read);
	*n = err ? err : o->n != NONE_YET ? o->n : -EIO;
	if (o->left)
		return NULL;
	if (o->fd >= 0)
		close(o->fd);
	free(o);
	if (*n >= 0)
		return text;
	free(text);
	return NULL;
}
