/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of what is found on a stack is in order, or a name would not be found in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "model/frames.h"

static const struct {
	const char *begin;
	enum frame_is is;
} row[] = {
#define ROW(begin, is) {begin, FRAME_##is},
	FRAMES(ROW)
#undef ROW
};

#define ROWS (sizeof(row) / sizeof(row[0]))

static void test_order(void **state)
{
	(void)state;
	for (size_t i = 1; i < ROWS; i++) {
		assert_true(strcmp(row[i - 1].begin, row[i].begin) < 0);
		assert_int_not_equal(
			strncmp(row[i - 1].begin, row[i].begin, strlen(row[i - 1].begin)), 0);
	}
}

/* Each is found, as it is and with more behind it; its first letters alone are not. */
static void test_all_are_found(void **state)
{
	char name[64];

	(void)state;
	for (size_t i = 0; i < ROWS; i++) {
		assert_int_equal(frame_is(row[i].begin), row[i].is);
		snprintf(name, sizeof(name), "%s\xff", row[i].begin);
		assert_int_equal(frame_is(name), row[i].is);
		snprintf(name, sizeof(name), "%.*s", (int)strlen(row[i].begin) - 1, row[i].begin);
		assert_int_equal(frame_is(name), FRAME_ANY);
	}
}

static void test_others(void **state)
{
	const char *const other[] = {"", "a", "vfs_write", "\xff", "__x64_sys_futex", "zzz", "!"};

	(void)state;
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		assert_int_equal(frame_is(other[i]), FRAME_ANY);
}

/* Short and long ways from a tracepoint, of programs whose names are known, hidden or redacted, and
 * a way alone; not what looks like it further out, nor a function of the kernel's. */
static void test_tracer(void **state)
{
	static const struct {
		int own;
		const char *frame[6];
	} stack[] = {
		{2, {"bpf_prog_bf800f42e9b3bb45_sched_waking", "bpf_trace_run1", "try_to_wake_up"}},
		{4,
		 {"bpf_prog_1_x", "bpf_trace_run2", "__bpf_trace_x", "__traceiter_x", "bpf_prog_x",
		  "bpf_trace_run2"}},
		{2, {"[unknown]", "bpf_trace_run1", "wake_up_q"}},
		{2, {"bpf_prog [bpf]", "bpf_trace_run1", "[unknown]", "__traceiter_x"}},
		{1, {"__traceiter_x"}},
		{0, {"[unknown]", "try_to_wake_up"}},
		{0, {"bpf_prog_free_deferred", "process_one_work"}},
		{0, {"try_to_wake_up", "bpf_trace_run1"}},
		{0, {NULL}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(stack) / sizeof(stack[0]); i++) {
		int n = 0;

		while (n < 6 && stack[i].frame[n])
			n++;
		assert_int_equal(frames_of_tracer(stack[i].frame, n), stack[i].own);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order), cmocka_unit_test(test_all_are_found),
		cmocka_unit_test(test_others), cmocka_unit_test(test_tracer)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
