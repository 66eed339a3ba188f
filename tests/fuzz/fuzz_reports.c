/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports that a watched program shares (culprit.h): any bytes in its file, which change while they
 * are read. Nothing crashes, no more reports come than there is room for, and the watch that takes
 * them keeps its sums. The head says that they are this process's own, or nothing would be read. */
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collect/host.h"
#include "collect/reports.h"
#include "count.h"
#include "culprit.h"
#include "model/watch.h"

#define PIECES     3 /* times that the program writes */
#define INPUT_MOST (1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The one thing that reports.c wants of the machine: here there are no namespaces. */
int64_t host_clock_shift(const char *who, const char *clock)
{
	(void)who;
	(void)clock;
	return 0;
}

static int file = -1;
static char path[64];

/* ---- the file ---- */

/* Reads of the file, some hundreds a run, are from this copy: the kernel's part in them took nine
 * tenths of the time. */
static uint8_t copy[sizeof(struct culprit_reports) + INPUT_MOST];
static size_t copied;
static int known; /* the reader's descriptor of the file in this run; -1: not seen yet */

ssize_t __real_pread(int fd, void *to, size_t len, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t len, off_t at);

/* All calls of pread(2) come here: the linker is told so. */
ssize_t __wrap_pread(int fd, void *to, size_t len, off_t at)
{
	struct stat ours, its;

	if (known < 0 && !fstat(file, &ours) && !fstat(fd, &its) && ours.st_dev == its.st_dev &&
	    ours.st_ino == its.st_ino)
		known = fd;
	if (fd != known)
		return __real_pread(fd, to, len, at);
	if (at < 0 || (size_t)at >= copied)
		return 0;
	len = len < copied - at ? len : copied - at;
	memcpy(to, copy + at, len);
	return len;
}

static void set_length(size_t len)
{
	if (len < copied)
		memset(copy + len, 0, copied - len);
	copied = len;
}

static void put(const void *from, size_t len, size_t at)
{
	assert(at + len <= sizeof(copy));
	memcpy(copy + at, from, len);
	if (copied < at + len)
		copied = at + len;
}

static void remove_file(void)
{
	unlink(path);
}

static void open_file(void)
{
	snprintf(path, sizeof(path), CULPRIT_REPORTS_PATH, (int)getpid());
	unlink(path);
	file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0)
		abort();
	atexit(remove_file);
}

/* Writes behind the head, of which only the number of reports is the fuzzer's. */
static void write_piece(const uint8_t *data, size_t size)
{
	struct culprit_reports head = {.magic = CULPRIT_REPORTS_MAGIC,
				       .pid = (uint32_t)getpid(),
				       .start_ticks = culprit_start_ticks()};
	size_t n = size < sizeof(head.head) ? size : sizeof(head.head), at;

	memcpy(&head.head, data, n);
	at = offsetof(struct culprit_reports, report);
	put(&head, at, 0);
	if (size > n)
		put(data + n, size - n, at);
}

static void check_account(void *ctx, uint32_t lane, const struct account *a)
{
	(void)ctx;
	assert(lane < WATCH_LANES);
	assert(a->attributed_ns + a->edge_ns + a->lost_ns + a->outside_ns == a->duration_ns);
}

static uint32_t take_all(struct reports *r, struct watch *w, uint64_t ns)
{
	struct culprit_report one;
	uint32_t n = 0;

	for (; reports_next(r, ns, &one); n++)
		if (w)
			watch_window(w, getpid(), one.tid, one.start_ns, one.end_ns);
	return n;
}

static void read_pieces(const uint8_t *data, size_t size, struct watch *w)
{
	struct reports *r = reports_new(getpid());
	uint32_t taken = 0;

	if (!r)
		abort();
	for (size_t i = 0; i < PIECES; i++) {
		size_t from = size * i / PIECES, to = size * (i + 1) / PIECES;

		write_piece(data + from, to - from);
		if (i == 1 && size && data[0] & 64)
			set_length(size / 2);
		reports_open(r, 0);
		reports_fetch(r);
		taken += take_all(r, w, i == PIECES - 1 ? UINT64_MAX : UINT64_MAX / 2);
	}
	assert(taken <= PIECES * CULPRIT_REPORTS);
	reports_lost(r);
	reports_free(r);
}

/* With all that takes the reports, which is slow to make. */
static void watch_pieces(const uint8_t *data, size_t size)
{
	static const unsigned cpu = 3;
	static struct view view;
	unsigned lane[WATCH_LANES];
	struct session *session;
	struct watch *watch;

	memset(&view, 0, sizeof(view));
	for (unsigned i = 0; i < WATCH_LANES; i++)
		lane[i] = i;
	if (view_cpus(&view, lane, WATCH_LANES))
		abort();
	view.run.watch = view.run.windows = view.run.traced = true;
	session = session_new(&(struct session_options){.view = &view});
	watch = session ? watch_new(&view, session, &cpu, 1) : NULL;
	if (!watch)
		abort();
	watch_hear(watch, check_account, NULL);
	read_pieces(data, size, watch);
	watch_finish(watch, UINT64_MAX / 2);
	session_finish(session);
	watch_free(watch);
	session_free(session);
	view_free(&view);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* a mutation of what was watched seldom is, too, or these would take nearly all the time */
	bool watched = size && size % 64 == 0 && data[0] % 32 == 0;

	if (size > INPUT_MOST)
		return 0;
	if (file < 0)
		open_file();
	count_run(watched, watched ? "reports, watched" : "reports");
	known = -1;
	set_length(0);
	if (watched)
		watch_pieces(data, size);
	else
		read_pieces(data, size, NULL);
	return 0;
}
