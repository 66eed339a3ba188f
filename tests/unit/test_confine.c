/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rights that a process gives away are gone, in it and in programs that it starts; a system call
 * that its filter does not know ends it with a word. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/confine.h"

#define NOT_HERE 77

#ifdef SYS_fork
#define SYS_fork_or_none SYS_fork
#else
#define SYS_fork_or_none SYS_clone
#endif

static const int few[] = {SYS_write, SYS_exit_group, SYS_getuid | CONFINE_FAILS, -1};
static int out;

static void tell(int number)
{
	if (write(out, &number, sizeof(number)) != sizeof(number))
		_exit(2);
}

/* The words of a child, and its end. */
struct end {
	int status, said;
};

static struct end child_of(void (*live)(void))
{
	struct end e = {.said = -1};
	int pair[2], status;
	pid_t pid;

	assert_int_equal(pipe(pair), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		out = pair[1];
		live();
		_exit(0);
	}
	close(pair[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (read(pair[0], &e.said, sizeof(e.said)) < 0)
		e.said = -2;
	close(pair[0]);
	e.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
	return e;
}

/* A child had no filter. That is a skip where this build has none, or the kernel knows of none. */
static void skip_filter(void)
{
#if defined(__x86_64__) || defined(__aarch64__)
#ifndef SANITIZED
	assert_int_not_equal(access("/proc/sys/kernel/seccomp/actions_avail", F_OK), 0);
#endif
#endif
	print_message("no filter of system calls here\n");
	skip();
}

static void make_known(void)
{
	if (confine_calls(few, tell))
		_exit(NOT_HERE);
	errno = 0;
	tell(syscall(SYS_getuid) == -1 && errno == EPERM ? 4711 : 4710);
}

static void make_unknown(void)
{
	if (confine_calls(few, tell))
		_exit(NOT_HERE);
	syscall(SYS_getppid);
}

static void make_many(void)
{
	int calls[CONFINE_CALLS + 1];

	for (int i = 0; i < CONFINE_CALLS; i++)
		calls[i] = i == 0                   ? SYS_exit_group
			   : i == CONFINE_CALLS - 1 ? SYS_write
						    : SYS_getuid;
	calls[CONFINE_CALLS] = -1;
	if (confine_calls(calls, tell))
		_exit(NOT_HERE);
	tell(4712);
	syscall(SYS_getuid);
	syscall(SYS_getgid);
}

static void test_only_known_calls(void **state)
{
	struct end e = child_of(make_known);

	(void)state;
	if (e.status == NOT_HERE)
		skip_filter();
	assert_int_equal(e.status, 0);
	assert_int_equal(e.said, 4711);
	e = child_of(make_unknown);
	assert_int_equal(e.status, 1);
	assert_int_equal(e.said, SYS_getppid);
	e = child_of(make_many);
	assert_int_equal(e.status, 1);
	assert_int_equal(e.said, 4712);
}

/* ---- all but some ---- */

static const int some[] = {SYS_getppid, SYS_clone, SYS_fork_or_none, -1};

/* A second filter, which ends who makes other calls, changes nothing of that. */
static void make_refused(void)
{
	static const int refused[] = {SYS_getpgid, SYS_openat, -1};

	if (confine_refuse(refused) || confine_without(some, tell))
		_exit(NOT_HERE);
	errno = 0;
	if (syscall(SYS_getpgid, 0) != -1 || errno != EACCES)
		_exit(4);
	if (syscall(SYS_openat, -1, "/dev/null", 0) != -1 || errno != EACCES)
		_exit(5);
	tell(4714);
	syscall(SYS_getppid);
}

static void test_refused_calls_fail(void **state)
{
	struct end e = child_of(make_refused);

	(void)state;
	if (e.status == NOT_HERE)
		skip_filter();
	assert_int_equal(e.status, 1); /* by the call behind them */
	assert_int_equal(e.said, 4714);
}

static void *thread(void *said)
{
	tell(4713);
	return said;
}

/* Threads are as ever. */
static void make_thread(void)
{
	pthread_t other;

	if (confine_without(some, tell))
		_exit(NOT_HERE);
	if (pthread_create(&other, NULL, thread, NULL) || pthread_join(other, NULL))
		_exit(3);
}

static void make_listed(void)
{
	if (confine_without(some, tell))
		_exit(NOT_HERE);
	syscall(SYS_getppid);
}

static void make_process(void)
{
	if (confine_without(some, tell))
		_exit(NOT_HERE);
	_exit(syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL) ? 3 : 4);
}

static void make_process_as_usual(void)
{
	if (confine_without(some, tell))
		_exit(NOT_HERE);
	_exit(fork() ? 3 : 4);
}

static void test_all_but_some(void **state)
{
	struct end e = child_of(make_thread);

	(void)state;
	if (e.status == NOT_HERE)
		skip_filter();
	assert_int_equal(e.status, 0);
	assert_int_equal(e.said, 4713);
	e = child_of(make_listed);
	assert_int_equal(e.status, 1);
	assert_int_equal(e.said, SYS_getppid);
	e = child_of(make_process);
	assert_int_equal(e.status, 1);
	assert_int_equal(e.said, SYS_clone);
	/* glibc 2.41 forks with all signals blocked: nobody is left to say so */
	e = child_of(make_process_as_usual);
	if (e.status != -SIGSYS) {
		assert_int_equal(e.status, 1);
		assert_true(e.said == SYS_clone || e.said == SYS_fork_or_none);
	}
}

/* ---- capabilities ---- */

/* The line of /proc/self/status, as a number; -1: there is none. */
static long long status_of(const char *what)
{
	FILE *f = fopen("/proc/self/status", "re");
	long long value = -1;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, what, strlen(what)))
			value = strtoull(line + strlen(what), NULL, 16);
	if (f)
		fclose(f);
	return value;
}

static void keep_one(void)
{
	uint64_t had = status_of("CapPrm:");

	if (confine_rights(RIGHT_BPF))
		_exit(NOT_HERE);
	if (status_of("CapPrm:") != (long long)(had & RIGHT_BPF) ||
	    status_of("CapEff:") != (long long)(had & RIGHT_BPF) || status_of("CapInh:") ||
	    status_of("CapAmb:") || status_of("NoNewPrivs:") != 1)
		_exit(3);
	if (confine_rights(RIGHTS_ALL) || status_of("CapPrm:") != (long long)(had & RIGHT_BPF))
		_exit(4);
	if (confine_rights(0) || status_of("CapPrm:"))
		_exit(5);
	/* programs that it starts have none either, even as root */
	execl("/bin/sh", "sh", "-c",
	      "while read -r name value; do case $name in CapPrm:|CapEff:) "
	      "[ \"$value\" = 0000000000000000 ] || exit 6;; esac; done </proc/self/status",
	      (char *)NULL);
	_exit(7);
}

static void test_rights_are_gone(void **state)
{
	struct end e = child_of(keep_one);

	(void)state;
	if (e.status == NOT_HERE) {
		print_message("no capability may be given away here\n");
		skip();
	}
	assert_int_equal(e.status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_known_calls),
		cmocka_unit_test(test_all_but_some),
		cmocka_unit_test(test_refused_calls_fail),
		cmocka_unit_test(test_rights_are_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
