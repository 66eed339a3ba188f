/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of system calls: those of this machine's C library are the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/syscall.h>

#include "model/syscall_name.h"

#if defined(__x86_64__)
#define HERE SYSCALL_X86_64
#else
#define HERE SYSCALL_ARM64
#endif

#define CALL(name)                                                                                 \
	{                                                                                          \
		SYS_##name, #name                                                                  \
	}

static const struct {
	uint32_t number;
	const char *name;
} calls[] = {
	CALL(read),
	CALL(futex),
	CALL(exit_group),
	CALL(clock_nanosleep),
	CALL(membarrier),
	CALL(mprotect),
	CALL(ioctl),
	CALL(munmap),
	CALL(sched_setaffinity),
	CALL(pidfd_open),
	CALL(clone3),
	CALL(process_madvise),
	CALL(statx),
	CALL(rseq),
	CALL(perf_event_open),
	CALL(io_uring_enter),
	CALL(openat),
	CALL(getppid),
	CALL(init_module),
	CALL(futex_waitv),
};

static void is(enum syscall_table table, uint32_t number, const char *want)
{
	char name[SYSCALL_NAME] = "none";

	assert_int_equal(syscall_name(table, number, name), strcmp(want, "none") != 0);
	assert_string_equal(name, want);
}

static void test_here(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		is(HERE, calls[i].number, calls[i].name);
}

static void test_tables(void **state)
{
	(void)state;
	is(SYSCALL_X86_64, 0, "read");
	is(SYSCALL_X86_64, 202, "futex");
	is(SYSCALL_X86_64, 334, "rseq");
	is(SYSCALL_X86_64, 424, "pidfd_send_signal");
	is(SYSCALL_ARM64, 0, "io_setup");
	is(SYSCALL_ARM64, 98, "futex");
	is(SYSCALL_ARM64, 222, "mmap");
	is(SYSCALL_ARM64, 424, "pidfd_send_signal");
}

static void test_unknown(void **state)
{
	(void)state;
	is(SYSCALL_UNKNOWN, 0, "none");
	is(SYSCALL_X86_64, 400, "none");
	is(SYSCALL_X86_64, 0x40000000, "none"); /* x32 */
	is(SYSCALL_X86_64, UINT32_MAX, "none");
	is(SYSCALL_ARM64, 250, "none");
	is(SYSCALL_ARM64, 100000, "none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_here),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
