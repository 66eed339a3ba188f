/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels that preempt threads in the kernel, by what they say of themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collect/preemption.h"

static void tells_by_the_mode(void **state)
{
	const char *version = "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-2 (2026-11-16)";

	(void)state;
	assert_true(kernel_preempts_by("none voluntary (full)", version));
	assert_true(kernel_preempts_by("none voluntary full (lazy)", version));
	assert_false(kernel_preempts_by("none (voluntary) full", version));
	assert_false(kernel_preempts_by("(none) voluntary full", version));
	assert_true(kernel_preempts_by("(undefined)", version));
}

static void takes_what_is_not_known_for_true(void **state)
{
	(void)state;
	assert_true(kernel_preempts_by("", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-2 (2026-11-16)"));
	assert_true(kernel_preempts_by("", "#91-Ubuntu SMP PREEMPT Mon Jan 1 00:00:00 UTC 2024"));
	assert_false(kernel_preempts_by("", "#1 SMP Debian 5.10.262-1 (2026-10-05)"));
}

static void real_time_kernels_do_in_any_mode(void **state)
{
	const char *version = "#1 SMP PREEMPT_RT Debian 6.1.192-2 (2026-11-16)";

	(void)state;
	assert_true(kernel_preempts_by("", version));
	assert_true(kernel_preempts_by("(full) lazy", version));
	assert_true(kernel_preempts_by("(none) voluntary", version));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_by_the_mode),
		cmocka_unit_test(takes_what_is_not_known_for_true),
		cmocka_unit_test(real_time_kernels_do_in_any_mode),
	};

	return cmocka_run_group_tests_name("preemption", tests, NULL, NULL);
}
