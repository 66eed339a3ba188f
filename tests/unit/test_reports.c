/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports of a watched program: whose threads they may be about. This process is the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "collect/host.h"
#include "collect/reports.h"

/* The one thing that reports.c wants of the machine: here there are no namespaces. */
int64_t host_clock_shift(const char *who, const char *clock)
{
	(void)who;
	(void)clock;
	return 0;
}

static void *tell(void *tid)
{
	*(uint32_t *)tid = culprit_tid();
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
	assert_true(believes(p, culprit_tid(), 0));
	assert_true(believes(p, culprit_tid(), getpid()));
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
