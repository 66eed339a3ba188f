/* SPDX-License-Identifier: GPL-2.0-or-later */
/* culprit clock that is stopped: it ends at once, and says so of what it did not measure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collect/clock.c"

static volatile int stop;

void clock_measure_costs(struct clock_view *v, const volatile int *stopped)
{
	(void)v;
	(void)stopped;
	stop = 1;
}

void clock_measure_offset(struct clock_offset *offset, double ns_per_tick,
			  const volatile int *stopped)
{
	(void)offset;
	(void)ns_per_tick;
	(void)stopped;
	fail_msg("after the stop a CPU is asked for its counter");
}

bool machine_counter_stable(const char *clocksource, const char **why)
{
	(void)clocksource;
	*why = NULL;
	return true;
}

static void stopped(void **state)
{
	struct clock_options o = {.duration_ns = 3600 * NSEC_PER_SEC, .stop = &stop};
	struct clock_view v = {0};
	uint64_t begin = now_ns();
	char why[80];

	(void)state;
	assert_int_equal(cpus_parse("0-2", &o.cpus, why, sizeof(why)), 0);
	cpus_allowed(&v.host.online);
	o.reference = cpus_next(&v.host.online, 0);
	assert_int_equal(clock_measure(&v, &o), 0);
	assert_true(now_ns() - begin < 3 * NSEC_PER_SEC);
	assert_int_equal(v.monotonic.readings, 3);
	assert_int_equal(v.noffsets, o.reference > 2 ? 3 : 2);
	for (uint32_t i = 0; i < v.noffsets; i++)
		assert_string_equal(v.offset[i].failed, "ended early");
	free(v.offset);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
