/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports of a watched program: whose threads they may be about, and how much work they are. This
 * process is the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/now.h"
#include "collect/host.h"
#include "collect/reports.h"
#include "model/watch.h"

/* The one thing that reports.c wants of the machine: here there are no namespaces. */
int64_t host_clock_shift(const char *who, const char *clock)
{
	(void)who;
	(void)clock;
	return 0;
}

static void *tell(void *tid)
{
	*(uint32_t *)tid = culprit_tid(getpid());
	return NULL;
}

static bool believes(struct reports *p, uint32_t tid, uint32_t process)
{
	return reports_believe(p, &(struct culprit_report){.tid = tid}, process);
}

/* A program's own threads, and one that records know, though it has ended; not another process's,
 * whether records tell of it or not, nor one that there is not. */
static void of_its_own(void **state)
{
	struct reports *p = reports_new(getpid());
	pthread_t thread;
	uint32_t ended;
	pid_t child = fork();

	(void)state;
	if (!child)
		for (;;)
			pause();
	assert_true(child > 0 && p);
	assert_int_equal(pthread_create(&thread, NULL, tell, &ended), 0);
	pthread_join(thread, NULL);
	while (!syscall(SYS_tgkill, getpid(), ended, 0)) /* joined before it has quite gone */
		usleep(1000);
	assert_true(believes(p, culprit_tid(getpid()), 0));
	assert_true(believes(p, culprit_tid(getpid()), getpid()));
	assert_true(believes(p, ended, getpid()));
	assert_int_equal(reports_strange(p), 0);
	assert_false(believes(p, ended, 0));
	assert_false(believes(p, child, 0));
	assert_false(believes(p, child, child));
	assert_false(believes(p, 0, 0));
	assert_false(believes(p, UINT32_MAX, 0));
	assert_int_equal(reports_strange(p), 5);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	reports_free(p);
}

/* A forked child has a copy of what its parent's thread has asked the kernel: it reports by its own
 * number all the same. */
static void forked(void **state)
{
	struct culprit_reports *mine = culprit_reports_open();
	int status = -1;
	pid_t child;

	(void)state;
	assert_non_null(mine);
	culprit_late(mine, 1000, 2000);
	assert_int_equal(mine->report[0].tid, getpid());
	child = fork();
	if (!child) {
		struct culprit_reports *own = culprit_reports_open();
		bool good;

		culprit_late(own, 1000, 2000);
		good = own && own->report[0].tid == (uint32_t)getpid();
		culprit_reports_close(own);
		_exit(!good);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	culprit_late(mine, 1000, 2000);
	assert_int_equal(mine->report[1].tid, getpid());
	culprit_reports_close(mine);
}

/* ---- work ---- */

#define HISTORY 8192 /* records that are kept of a CPU */
#define STAYS   64   /* places of a thread that are kept */
#define FED     32   /* looks that a record is worth that is in a window */

static struct view view;
static struct session *session;

/* A watch of a thread that was here and there, with as many records behind that as are kept. */
static struct watch *watch_busy(uint32_t tid)
{
	static const unsigned cpu = 3;
	unsigned lane[WATCH_LANES];
	struct watch *w;
	struct record r = {.kind = RECORD_WATCH, .level = LEVEL_THREAD, .id = tid};

	for (unsigned i = 0; i < WATCH_LANES; i++)
		lane[i] = i;
	assert_int_equal(view_cpus(&view, lane, WATCH_LANES), 0);
	view.run.watch = view.run.windows = true;
	session = session_new(&(struct session_options){.view = &view});
	w = watch_new(&view, session, &cpu, 1);
	assert_true(session && w);
	for (uint64_t i = 0; i < STAYS; i++) {
		r.mark = WATCH_OUT;
		r.start_ns = 1000 + 100 * i;
		r.end_ns = r.start_ns + 50;
		r.seq++;
		watch_record(w, 0, &r);
	}
	for (uint64_t i = 0; i < HISTORY; i++)
		watch_record(w, 0,
			     &(struct record){.kind = RECORD_IRQ,
					      .level = LEVEL_IRQ,
					      .start_ns = 50000 + 100 * i,
					      .end_ns = 50010 + 100 * i,
					      .seq = 1 + i});
	return w;
}

/* However many reports there are, and whatever each spans, between two fetches there is not more
 * work than for so many records and one report. The others wait, and none is forgotten. */
static void bounded(void **state)
{
	struct culprit_reports *mine = culprit_reports_open();
	struct reports *p = reports_new(getpid());
	struct watch *w = watch_busy(culprit_tid(getpid()));
	struct culprit_report r;
	uint64_t all = 0, fetches = 0, end = 50000 + 100 * HISTORY;

	(void)state;
	assert_true(mine && p);
	reports_open(p, 0);
	for (uint32_t i = 0; i < CULPRIT_REPORTS; i++)
		culprit_late(mine, 1000, end);
	for (; all < 100; fetches++) {
		uint64_t work = 0;

		reports_fetch(p);
		while (work < 1000000000 && reports_next(p, end, &r)) {
			uint64_t one = watch_window(w, getpid(), r.tid, r.start_ns, r.end_ns);

			assert_in_range(one, STAYS * HISTORY, STAYS * HISTORY * (1 + FED));
			reports_spend(p, one);
			work += one;
			all++;
		}
		assert_in_range(work, REPORTS_WORK, REPORTS_WORK + STAYS * HISTORY * (1 + FED));
	}
	assert_int_equal(all, fetches * (REPORTS_WORK / (STAYS * HISTORY)));
	assert_int_equal(reports_lost(p), 0);
	reports_end(p, end);
	assert_int_equal(reports_lost(p), CULPRIT_REPORTS - all);
	watch_free(w);
	session_free(session);
	view_free(&view);
	reports_free(p);
	culprit_reports_close(mine);
}

/* Reports are work even where no record is in them. */
static void many(void **state)
{
	struct culprit_reports *mine = culprit_reports_open();
	struct reports *p = reports_new(getpid());
	struct culprit_report r;

	(void)state;
	assert_true(mine && p);
	reports_open(p, 0);
	for (uint32_t i = 0; i < CULPRIT_REPORTS; i++)
		culprit_late(mine, 1000, 2000);
	for (uint32_t n = 0; n < CULPRIT_REPORTS; n += REPORTS_WORK / REPORTS_EACH) {
		reports_fetch(p);
		for (uint32_t i = 0; i < REPORTS_WORK / REPORTS_EACH; i++)
			assert_true(reports_next(p, 2000, &r));
		assert_false(reports_next(p, 2000, &r));
	}
	reports_end(p, 2000);
	assert_int_equal(reports_lost(p), 0);
	reports_free(p);
	culprit_reports_close(mine);
}

/* Tells as many reports as the program made: those that were taken, and the rest by what it counts
 * as. */
static void take_all(struct reports *p, uint64_t end, uint64_t made)
{
	struct culprit_report r;
	uint64_t taken = 0;

	for (int i = 0; i < 8; i++)
		for (reports_fetch(p); reports_next(p, end, &r); taken++)
			assert_in_range(r.start_ns, 1000, r.end_ns - 1);
	reports_end(p, end);
	assert_int_equal(taken + reports_lost(p) + reports_strange(p), made);
}

/* Reports whose times cannot be: they keep no other one from being taken, and are counted. */
static void impossible(void **state)
{
	struct culprit_reports *mine = culprit_reports_open();
	struct reports *p = reports_new(getpid());

	(void)state;
	assert_true(mine && p);
	reports_open(p, 1000);
	culprit_late(mine, 1000, UINT64_MAX);
	culprit_late(mine, 1000, clock_ns(CLOCK_MONOTONIC) + 3600 * NSEC_PER_SEC);
	culprit_late(mine, 2000, 1000);
	culprit_late(mine, 2000, 2000);
	culprit_late(mine, 999, 2000);
	for (int i = 0; i < 3000; i++)
		culprit_late(mine, 1000, 2000 + i);
	take_all(p, 5000, 3005);
	assert_int_equal(reports_lost(p), 0);
	assert_int_equal(reports_strange(p), 5);
	reports_free(p);
	culprit_reports_close(mine);
}

/* One that stays half written, as where its thread has ended in it: what stands behind it is lost,
 * and so is the one, but not what was made after the window. */
static void half_written(void **state)
{
	struct culprit_reports *mine = culprit_reports_open();
	struct reports *p = reports_new(getpid());

	(void)state;
	assert_true(mine && p);
	reports_open(p, 1000);
	for (int i = 0; i < 100; i++)
		culprit_late(mine, 1000, 2000);
	mine->report[50].place = 0;
	culprit_late(mine, 1000, 3000);
	take_all(p, 2000, 100);
	assert_int_equal(reports_lost(p), 50);
	reports_free(p);
	culprit_reports_close(mine);
}

/* Those that are made when the window has ended are lost to nobody: not where one is half written
 * at the end, nor where they were too many. */
static void made_later(void **state)
{
	(void)state;
	for (uint32_t later = 10; later < 2 * CULPRIT_REPORTS; later += CULPRIT_REPORTS) {
		struct culprit_reports *mine = culprit_reports_open();
		struct reports *p = reports_new(getpid());
		struct culprit_report r;

		assert_true(mine && p);
		reports_open(p, 1000);
		for (int i = 0; i < 20; i++)
			culprit_late(mine, 1000, 2000);
		mine->report[15].place = 0;
		reports_fetch(p);
		for (int i = 0; i < 15; i++)
			assert_true(reports_next(p, 2000, &r));
		assert_false(reports_next(p, 2000, &r));
		reports_stop(p);
		for (uint32_t i = 0; i < later; i++)
			culprit_late(mine, 3000, 4000);
		mine->report[25].place = 0;
		reports_end(p, 2000);
		assert_int_equal(reports_lost(p), 5);
		reports_free(p);
		culprit_reports_close(mine);
	}
}

/* Between the first look for the file and the window reports come, and go in the ring: those that
 * end in the window are in it, however long it takes until the file is opened again. */
static void made_before(void **state)
{
	struct culprit_reports *mine = culprit_reports_open();
	struct culprit_report r;
	struct reports *p;

	(void)state;
	culprit_late(mine, 1000, 2000);
	p = reports_new(getpid());
	assert_true(mine && p);
	for (int i = 0; i < 2 * CULPRIT_REPORTS; i++)
		culprit_late(mine, 1000, 1500);
	culprit_late(mine, 1499, 1501);
	culprit_late(mine, 1500, 1600);
	reports_open(p, 1500);
	reports_fetch(p);
	culprit_late(mine, 1600, 1700);
	for (uint64_t at = 1500; at < 1700; at += 100) {
		reports_fetch(p);
		assert_true(reports_next(p, 2000, &r));
		assert_int_equal(r.start_ns, at);
	}
	assert_false(reports_next(p, 2000, &r));
	reports_end(p, 2000);
	assert_int_equal(reports_lost(p), 0);
	assert_int_equal(reports_strange(p), 1);
	reports_free(p);
	culprit_reports_close(mine);
}

/* A file that is made in the window is found some time later: its first reports are in the window,
 * and those of them that have been overwritten are lost. */
static void made_late(void **state)
{
	(void)state;
	for (uint32_t more = 0; more < 3; more += 2) {
		struct reports *p = reports_new(getpid());
		struct culprit_reports *mine;

		assert_non_null(p);
		reports_open(p, 1000);
		mine = culprit_reports_open();
		assert_non_null(mine);
		for (uint32_t i = 0; i < CULPRIT_REPORTS + more; i++)
			culprit_late(mine, 1000, 2000);
		reports_open(p, 1000);
		take_all(p, 2000, CULPRIT_REPORTS + more);
		assert_int_equal(reports_lost(p), more);
		reports_free(p);
		culprit_reports_close(mine);
	}
}

/* More than can have been made are not lost; as many as there may be in the time are. */
static void forged(void **state)
{
	struct culprit_reports *mine = culprit_reports_open();
	struct reports *p = reports_new(getpid());
	struct culprit_report r;

	(void)state;
	assert_true(mine && p);
	reports_open(p, 1000);
	for (int i = 0; i < 3; i++) {
		mine->head += UINT64_MAX / 4;
		reports_fetch(p);
		assert_false(reports_next(p, 2000, &r));
	}
	mine->head = 7;
	reports_fetch(p);
	assert_int_equal(reports_lost(p), 0);
	mine->head = UINT64_MAX - 3 * CULPRIT_REPORTS;
	reports_fetch(p);
	usleep(10);
	mine->head += 5000;
	reports_fetch(p);
	assert_int_equal(reports_lost(p), 5000);
	reports_end(p, 2000);
	assert_int_equal(reports_lost(p), 5000 + CULPRIT_REPORTS);
	reports_free(p);
	culprit_reports_close(mine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_its_own),  cmocka_unit_test(forked),
		cmocka_unit_test(bounded),     cmocka_unit_test(many),
		cmocka_unit_test(impossible),  cmocka_unit_test(half_written),
		cmocka_unit_test(made_later),  cmocka_unit_test(forged),
		cmocka_unit_test(made_before), cmocka_unit_test(made_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
