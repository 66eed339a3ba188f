/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A child that others keep from its CPU is ended where its parent may run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "base/reap.h"

static cpu_set_t own[CPUS_MAX / CPU_SETSIZE];

/* On the last of this process's CPUs alone. */
static pid_t child(void)
{
	static cpu_set_t one[CPUS_MAX / CPU_SETSIZE];
	pid_t pid = fork();

	if (pid)
		return pid;
	for (int cpu = CPUS_MAX - 1; cpu >= 0; cpu--)
		if (CPU_ISSET_S(cpu, sizeof(own), own)) {
			CPU_SET_S(cpu, sizeof(one), one);
			break;
		}
	if (sched_setaffinity(0, sizeof(one), one))
		_exit(1);
	raise(SIGSTOP); /* as if it never had a turn */
	_exit(2);
}

static void test_ended_here(void **state)
{
	static cpu_set_t then[CPUS_MAX / CPU_SETSIZE];
	siginfo_t info;
	int status = 0;
	pid_t pid;

	(void)state;
	assert_int_not_equal(sched_getaffinity(0, sizeof(own), own), -1);
	pid = child();
	assert_true(pid > 0);
	assert_int_equal(waitid(P_PID, pid, &info, WSTOPPED | WEXITED | WNOWAIT), 0);
	assert_int_equal(info.si_code, CLD_STOPPED);
	kill_here(pid);
	assert_int_equal(waitid(P_PID, pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_not_equal(sched_getaffinity(pid, sizeof(then), then), -1);
	assert_memory_equal(then, own, sizeof(own));
	reap(pid, &status);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void test_none(void **state)
{
	(void)state;
	reap_killed(0); /* not its group */
	reap_killed(-1);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ended_here),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
