/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jumps of clocks: what is one, and what is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/jumps.h"

#define MS 1000000LL
#define S  (1000 * MS)

/* From some time to `passed` later by CLOCK_MONOTONIC, and by so much more by the two others. */
static void check(int64_t passed, int64_t boot, int64_t wall, uint64_t suspended, int64_t set)
{
	const struct clocks before = {1700000000 * S, 500 * S, 700 * S};
	const struct clocks now = {before.wall_ns + passed + wall, before.monotonic_ns + passed,
				   before.boot_ns + passed + boot};
	struct jump j = clocks_compare(&before, &now);

	assert_int_equal(j.suspended_ns, suspended);
	assert_int_equal(j.set_ns, set);
}

static void jumps(void **state)
{
	(void)state;
	check(S, 0, 0, 0, 0);
	check(S, MS, -MS, 0, 0);                  /* read one after the other */
	check(S, 0, 99 * MS, 0, 0);               /* slewed */
	check(100 * S, 0, 9 * S, 0, 0);           /* for longer */
	check(S, 0, 100 * MS, 0, 100 * MS);       /* set */
	check(S, 0, -3600 * S, 0, -3600 * S);     /* back */
	check(S, 10 * MS, 10 * MS, 10 * MS, 0);   /* suspended: the wall clock goes on */
	check(2 * S, 60 * S, 60 * S, 60 * S, 0);  /* for longer */
	check(S, 60 * S, 0, 60 * S, -60 * S);     /* the clock was set back meanwhile */
	check(S, 60 * S, 70 * S, 60 * S, 10 * S); /* the clock was set forward */
}

/* Readings of this machine's clocks. */
static void here(void **state)
{
	struct clocks a, b;
	struct jump j;

	(void)state;
	while (!clocks_read(&a) || !clocks_read(&b))
		;
	j = clocks_compare(&a, &b);
	assert_int_equal(j.suspended_ns, 0);
	assert_int_equal(j.set_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(jumps), cmocka_unit_test(here)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
