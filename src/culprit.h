/* SPDX-License-Identifier: MIT */
/* For programs that know when they were late: a control loop that missed its deadline, a packet
 * that waited. The program says from when to when, and `culprit watch -p PID` says who is to blame.
 * One header, nothing to link.
 *
 *   struct culprit_reports *reports = culprit_reports_open();   once; NULL: no memory to share, and
 *                                                               culprit_late does nothing
 *   culprit_late(reports, due_ns, now_ns);                      times of CLOCK_MONOTONIC
 *
 * culprit_late makes no system call and takes no lock: it stores to memory that it shares with
 * culprit watch. While nobody watches, the newest reports just stay there. Any thread may call it,
 * and may be interrupted in it. The memory is a file in /dev/shm named after the process;
 * culprit_reports_close removes it, and so does culprit watch when the process has gone. A child
 * that is forked opens its own.
 */
#ifndef CULPRIT_H
#define CULPRIT_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Under a strict standard (-std=c99) the C library may declare neither of these. */
#ifndef O_CLOEXEC
#define CULPRIT_CLOEXEC 0
#else
#define CULPRIT_CLOEXEC O_CLOEXEC
#endif
#if defined(__STRICT_ANSI__) && !defined(__cplusplus)
long syscall(long number, ...);
#endif

#define CULPRIT_REPORTS       4096 /* a power of two */
#define CULPRIT_REPORTS_MAGIC 0x32656b6375636c75ULL
#define CULPRIT_REPORTS_PATH  "/dev/shm/culprit-%d"

struct culprit_report {
	/* 1 + number of this report; written last: the report is whole when this is right */
	uint64_t place;
	uint64_t start_ns, end_ns;
	uint32_t tid, pad;
};

struct culprit_reports {
	uint64_t magic; /* written last by culprit_reports_open */
	uint64_t head;  /* reports made, ever */
	/* The owner of the reports; a start, because numbers of processes are used again. */
	uint64_t start_ticks; /* field 22 of /proc/PID/stat */
	uint32_t pid, pad;
	struct culprit_report report[CULPRIT_REPORTS];
};

/* When this process started, in clock ticks since the boot; 0: not known. */
static inline uint64_t culprit_start_ticks(void)
{
	char text[1024], *at;
	unsigned long long ticks = 0;
	ssize_t n = -1;
	int fd = open("/proc/self/stat", O_RDONLY | CULPRIT_CLOEXEC);

	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	at = strrchr(text, ')'); /* the name in front may hold anything */
	if (!at || sscanf(at,
			  ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
			  "%*d %*d %*d %llu",
			  &ticks) != 1)
		return 0;
	return ticks;
}

static inline struct culprit_reports *culprit_reports_open(void)
{
	struct culprit_reports *r;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), CULPRIT_REPORTS_PATH, (int)getpid());
	unlink(path); /* left by a process of the same number that has gone */
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | CULPRIT_CLOEXEC, 0600);
	if (fd < 0)
		return NULL;
	/* the last byte gives the file its length */
	if (lseek(fd, (off_t)sizeof(*r) - 1, SEEK_SET) < 0 || write(fd, "", 1) != 1) {
		close(fd);
		return NULL;
	}
	r = (struct culprit_reports *)mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
					   0);
	close(fd);
	if (r == (struct culprit_reports *)MAP_FAILED)
		return NULL;
	memset(r, 0, sizeof(*r)); /* touches the pages, so that no report waits for one */
	r->pid = (uint32_t)getpid();
	r->start_ticks = culprit_start_ticks();
	__atomic_store_n(&r->magic, CULPRIT_REPORTS_MAGIC, __ATOMIC_RELEASE);
	return r;
}

static inline void culprit_reports_close(struct culprit_reports *r)
{
	char path[64];

	if (!r)
		return;
	snprintf(path, sizeof(path), CULPRIT_REPORTS_PATH, (int)getpid());
	unlink(path);
	munmap(r, sizeof(*r));
}

/* The thread's number, asked of the kernel once in each process: a forked child's first thread has
 * the variables of the one that forked. pid: of this process. */
static inline uint32_t culprit_tid(uint32_t pid)
{
	static __thread uint32_t tid, of;

	if (!tid || of != pid) {
		tid = (uint32_t)syscall(SYS_gettid);
		of = pid;
	}
	return tid;
}

static inline void culprit_late(struct culprit_reports *r, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t place;
	struct culprit_report *at;

	if (!r)
		return;
	place = __atomic_fetch_add(&r->head, 1, __ATOMIC_RELAXED);
	at = &r->report[place % CULPRIT_REPORTS];
	__atomic_store_n(&at->place, 0, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	at->start_ns = start_ns;
	at->end_ns = end_ns;
	at->tid = culprit_tid(r->pid);
	__atomic_store_n(&at->place, place + 1, __ATOMIC_RELEASE);
}

#endif
