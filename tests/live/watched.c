/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs for culprit watch to watch: watched MODE [SECONDS [TID]]. Says "ready PID TID..." and
 * runs until it is killed, or for SECONDS:
 *
 *   spin   two threads that only compute
 *   machine  as spin; the second thread is called as QEMU calls its first virtual CPU
 *   sleep  nothing
 *   forks  20000 processes of its name, which end at once, and then ends
 *   calls  one system call after the other
 *   faults  again and again: a SIGSEGV that it handles, 2 ms of computing, a fault in kernel mode,
 *          and one of its own
 *   gaps   looks at the clock all the time, and reports each gap of 10 us and more through
 *          culprit.h; at the end it prints them
 *   late   a loop of 1 ms that reports each turn that began more than 100 us late through
 *          culprit.h; at the end it prints them
 *   forge  each ms, a report that this other TID has lost the last ms, and one of no time at all
 */
#include "culprit.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#define PERIOD_NS 1000000
#define APART_NS  2000000
#define LATE_NS   100000
#define GAP_NS    10000
#define LATE_MAX  100000

static volatile sig_atomic_t stop;
static volatile uint32_t other_tid;
static uint64_t late[LATE_MAX][2];

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static void *spin(void *arg)
{
	if (arg)
		prctl(PR_SET_NAME, arg);
	other_tid = culprit_tid(getpid());
	while (!stop)
		;
	return NULL;
}

static void ready(void)
{
	printf("ready %d %u %u\n", getpid(), culprit_tid(getpid()), other_tid);
	fflush(stdout);
}

static void fork_many(void)
{
	for (int i = 0; i < 20000; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static sigjmp_buf before_fault;

static void on_fault(int sig)
{
	siglongjmp(before_fault, sig);
}

static void *map(size_t bytes, int protection)
{
	void *at = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		exit(3);
	return at;
}

static void take_faults(void)
{
	int zeros = open("/dev/zero", O_RDONLY);
	size_t page = sysconf(_SC_PAGESIZE);

	signal(SIGSEGV, on_fault);
	for (ready(); !stop;) {
		volatile char *forbidden = map(page, PROT_NONE);
		char *fresh = map(page, PROT_READ | PROT_WRITE);
		uint64_t until;

		if (!sigsetjmp(before_fault, 1))
			*forbidden = 0;
		for (until = now_ns() + APART_NS; now_ns() < until;)
			;
		if (read(zeros, fresh, 1) != 1)
			exit(3);
		munmap(fresh, page);
		fresh = map(page, PROT_READ | PROT_WRITE);
		*(volatile char *)fresh = 0;
		munmap(fresh, page);
		munmap((char *)forbidden, page);
	}
}

static void print_late(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		printf("%llu %llu\n", (unsigned long long)late[i][0],
		       (unsigned long long)late[i][1]);
}

static void find_gaps(void)
{
	struct culprit_reports *reports = culprit_reports_open();
	unsigned n = 0;
	uint64_t last;

	if (!reports)
		exit(3);
	ready();
	for (last = now_ns(); !stop && n < LATE_MAX;) {
		uint64_t now = now_ns();

		if (now - last >= GAP_NS) {
			culprit_late(reports, last, now);
			late[n][0] = last;
			late[n++][1] = now;
			now = now_ns(); /* the report itself is no gap */
		}
		last = now;
	}
	culprit_reports_close(reports);
	print_late(n);
}

static void be_late(void)
{
	struct culprit_reports *reports = culprit_reports_open();
	uint64_t due = now_ns() + PERIOD_NS;
	unsigned n = 0;

	if (!reports)
		exit(3);
	for (ready(); !stop; due += PERIOD_NS) {
		struct timespec t = {due / 1000000000, due % 1000000000};
		uint64_t now;

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		now = now_ns();
		if (now - due < LATE_NS || n == LATE_MAX)
			continue;
		culprit_late(reports, due, now);
		late[n][0] = due;
		late[n++][1] = now;
		due = now;
	}
	culprit_reports_close(reports);
	print_late(n);
}

static void store(struct culprit_reports *r, uint32_t tid, uint64_t start_ns, uint64_t end_ns)
{
	struct culprit_report *at = &r->report[r->head % CULPRIT_REPORTS];

	at->start_ns = start_ns;
	at->end_ns = end_ns;
	at->tid = tid;
	at->place = ++r->head;
}

static void forge(uint32_t tid)
{
	struct culprit_reports *reports = culprit_reports_open();

	if (!reports)
		exit(3);
	for (ready(); !stop; usleep(PERIOD_NS / 1000)) {
		uint64_t now = now_ns();

		store(reports, tid, now, now);
		store(reports, tid, now - PERIOD_NS, now);
	}
	culprit_reports_close(reports);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	pthread_t other;

	signal(SIGTERM, on_signal);
	signal(SIGALRM, on_signal);
	if (argc > 2)
		alarm(atoi(argv[2]));
	if (!strcmp(mode, "late")) {
		be_late();
	} else if (!strcmp(mode, "gaps")) {
		find_gaps();
	} else if (!strcmp(mode, "forge")) {
		forge(argc > 3 ? atoi(argv[3]) : 0);
	} else if (!strcmp(mode, "forks")) {
		fork_many();
	} else if (!strcmp(mode, "faults")) {
		take_faults();
	} else if (!strcmp(mode, "sleep")) {
		ready();
		while (!stop)
			pause();
	} else if (!strcmp(mode, "calls")) {
		for (ready(); !stop;)
			syscall(SYS_getppid);
	} else if (!strcmp(mode, "spin") || !strcmp(mode, "machine")) {
		if (pthread_create(&other, NULL, spin, *mode == 'm' ? "CPU 0/TCG" : NULL))
			return 3;
		while (!other_tid)
			;
		ready();
		while (!stop)
			;
		pthread_join(other, NULL);
	} else {
		return 1;
	}
	return 0;
}
