/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/user_open.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPEN_MS     1000
#define TRIES       8 /* signals may come in between */
#define STACK_BYTES 32768

/* Shared with the process. It stays allocated when that does not end. */
struct opening {
	char root[64], path[128];
	bool rooted;
	struct stat st;
	int fd; /* -errno: there is none */
	char stack[STACK_BYTES] __attribute__((aligned(16)));
};

/* The file itself is not opened yet: a device or a pipe might take that for a request. */
static int find_place(const struct opening *o)
{
	struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	int root, place;

	if (!o->rooted)
		return open(o->path, O_PATH | O_CLOEXEC);
	root = open(o->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	place = syscall(SYS_openat2, root, o->path, &how, sizeof(how));
	close(root);
	return place;
}

static int find_file(struct opening *o)
{
	char path[32];
	int fd, place = find_place(o);

	if (place < 0 || fstat(place, &o->st)) {
		fd = -errno;
	} else if (!S_ISREG(o->st.st_mode)) {
		fd = -EINVAL;
	} else {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
		fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		fd = fd < 0 ? -errno : fd;
	}
	if (place >= 0)
		close(place);
	return fd;
}

/* No sanitizer follows a process into another one's memory. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static int begin(void *ctx)
{
	struct opening *o = ctx;

	__atomic_store_n(&o->fd, find_file(o), __ATOMIC_RELEASE);
	return 0;
}

/* False: the process did not end in time, and may still be at it. */
static bool wait_for(pid_t pid, int end)
{
	struct pollfd ended = {.fd = end, .events = POLLIN};
	bool in_time;

	/* errno may be the other process's. */
	for (int i = 0; i < TRIES && poll(&ended, 1, OPEN_MS) < 0; i++)
		;
	in_time = ended.revents;
	if (!in_time) {
		kill(pid, SIGKILL);
		poll(&ended, 1, OPEN_MS);
	}
	waitpid(pid, NULL, ended.revents ? 0 : WNOHANG);
	close(end);
	return in_time;
}

int user_open(const char *root, const char *path, struct stat *st)
{
	struct opening *o = calloc(1, sizeof(*o));
	int end, fd;
	pid_t pid;

	if (!o)
		return -ENOMEM;
	o->fd = -EIO;
	o->rooted = root;
	snprintf(o->root, sizeof(o->root), "%s", root ? root : "");
	snprintf(o->path, sizeof(o->path), "%s", path);
#ifdef __SANITIZE_THREAD__ /* follows nobody into memory that is shared */
	begin(o);
	fd = o->fd;
	*st = o->st;
	free(o);
	return fd;
#endif
	pid = clone(begin, o->stack + sizeof(o->stack),
		    CLONE_VM | CLONE_FILES | CLONE_PIDFD | SIGCHLD, o, &end);
	if (pid < 0) {
		fd = -errno;
		free(o);
		return fd;
	}
	if (!wait_for(pid, end))
		return -ETIME;
	fd = o->fd;
	*st = o->st;
	free(o);
	return fd;
}
