/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Preloaded into culprit: its sampler (FORBIDDEN=sampler) or its writer (FORBIDDEN=writer) makes a
 * system call that it does not need. The sampler asks where it is before and in its window, the
 * writer packs each chunk. Or culprit itself tries, as it reads a part of a file or closes one, to
 * write to the file FOLDER/there, to change its mode and to make another (FORBIDDEN=reader), and to
 * start a program (FORBIDDEN=tracer), and says in the file SAID what was possible: "wcmx", with a
 * dash for what was not. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void stray(const char *who)
{
	const char *wanted = getenv("FORBIDDEN");

	if (wanted && !strcmp(wanted, who))
		syscall(SYS_getuid);
}

int sched_getcpu(void);

int sched_getcpu(void)
{
	unsigned cpu = 0;

	stray("sampler");
	syscall(SYS_getcpu, &cpu, NULL, NULL);
	return cpu;
}

int compress2(void *to, unsigned long *to_len, const void *from, unsigned long len, int level);

int compress2(void *to, unsigned long *to_len, const void *from, unsigned long len, int level)
{
	(void)to;
	(void)to_len;
	(void)from;
	(void)len;
	(void)level;
	stray("writer");
	return -5; /* Z_BUF_ERROR: it is stored as it is */
}

size_t ZSTD_compressCCtx(void *ctx, void *to, size_t room, const void *from, size_t len, int level);

size_t ZSTD_compressCCtx(void *ctx, void *to, size_t room, const void *from, size_t len, int level)
{
	(void)ctx;
	(void)to;
	(void)room;
	(void)from;
	(void)len;
	(void)level;
	stray("writer");
	return (size_t)-1; /* an error: it is stored as it is */
}

/* By a call of old, a new one, or, where that would not end it, one that queues others. */
static int may_change(const char *path, int queues)
{
	struct {
		unsigned long long value;
		unsigned size, flags;
	} x = {(unsigned long)"x", 1, 0};
	char room[128] = {0};
	int ring, may = !chmod(path, 0600);

	may |= !chown(path, -1, getgid());
	may |= !syscall(463 /* setxattrat */, AT_FDCWD, path, 0, "user.x", &x, sizeof(x));
#ifdef SYS_utimes
	may |= !syscall(SYS_utimes, path, NULL);
#endif
	if (may || !queues)
		return may;
	/* Only now: where it is made it ends later, by work that interrupts what culprit does then,
	 * as loading programs (io_ring_exit_work() in io_uring/io_uring.c). */
	ring = syscall(SYS_io_uring_setup, 1, room);
	if (ring >= 0)
		syscall(SYS_close, ring);
	return ring >= 0;
}

static void try_all(int starts, int to)
{
	char said[] = "----\n", path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/made", getenv("FOLDER"));
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	said[2] = fd < 0 ? '-' : 'm';
	syscall(SYS_close, fd);
	unlink(path);
	snprintf(path, sizeof(path), "%s/there", getenv("FOLDER"));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	said[0] = fd < 0 ? '-' : 'w';
	syscall(SYS_close, fd);
	said[1] = may_change(path, starts) ? 'c' : '-';
	if (starts) {
		execl("/nowhere", "nowhere", (char *)NULL);
		said[3] = errno == EACCES ? '-' : 'x';
	}
	if (write(to, said, sizeof(said) - 1) < 0)
		_exit(99);
}

static int told;

/* Before culprit gives anything away. */
static void __attribute__((constructor)) begin(void)
{
	const char *path = getenv("SAID");

	told = path ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
}

static void attempt(void)
{
	static pid_t first;
	static int within;
	const char *wanted = getenv("FORBIDDEN");

	first = first ? first : getpid();
	if (within || getpid() != first || !wanted || wanted[0] == 's' || wanted[0] == 'w')
		return;
	within = 1;
	try_all(wanted[0] == 't', told);
	within = 0;
}

int close(int fd)
{
	attempt();
	return syscall(SYS_close, fd);
}

ssize_t pread(int fd, void *to, size_t len, off_t at)
{
	attempt();
	return syscall(SYS_pread64, fd, to, len, at);
}
