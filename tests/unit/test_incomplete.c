/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPUs that were offline: how long in a part of the time, and what a report says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "model/view.h"

#define S 1000000000ULL

static struct offline twice(void)
{
	struct offline o = {0};

	offline_add(&o, 10 * S, 12 * S);
	offline_add(&o, 20 * S, 21 * S);
	return o;
}

static void all_of_it(void **state)
{
	struct offline o = twice();

	(void)state;
	assert_int_equal(o.times, 2);
	assert_int_equal(o.total_ns, 3 * S);
	offline_cut(&o, 0, 30 * S);
	assert_int_equal(o.total_ns, 3 * S);
	assert_int_equal(o.from_ns, 10 * S);
	assert_int_equal(o.to_ns, 21 * S);
}

static void parts(void **state)
{
	struct offline o = twice(), once = {0};

	(void)state;
	offline_cut(&o, 22 * S, 30 * S);
	assert_int_equal(o.times + o.total_ns, 0);
	o = twice();
	offline_cut(&o, 1 * S, 10 * S);
	assert_int_equal(o.times + o.total_ns, 0);
	o = twice();
	offline_cut(&o, 11 * S, 30 * S); /* 2 s of them; no less is said */
	assert_int_equal(o.total_ns, 3 * S);
	offline_cut(&o, 20 * S, 30 * S);
	assert_int_equal(o.total_ns, 1 * S);
	offline_add(&once, 10 * S, 12 * S);
	offline_cut(&once, 11 * S, 30 * S);
	assert_int_equal(once.total_ns, 1 * S);
	offline_cut(&once, 30 * S, 11 * S);
	assert_int_equal(once.total_ns, 0);
}

static void forged(void **state)
{
	struct offline o = {1, 100 * S, 5 * S, 0};

	(void)state;
	offline_cut(&o, 0, 30 * S);
	assert_int_equal(o.total_ns, 0);
	o = (struct offline){1, UINT64_MAX, 0, UINT64_MAX};
	offline_cut(&o, 10 * S, 30 * S);
	assert_int_equal(o.total_ns, 20 * S);
}

static void said(void **state)
{
	const unsigned cpus[] = {2, 3, 7};
	struct view v = {0};

	(void)state;
	assert_int_equal(view_cpus(&v, cpus, 3), 0);
	v.cpu[0].observed_ns = v.cpu[1].observed_ns = v.cpu[2].observed_ns = 9 * S;
	view_incomplete(&v);
	assert_string_equal(v.run.incomplete, "");
	offline_add(&v.cpu[1].offline, 10 * S, 12 * S);
	assert_int_equal(cpu_window_ns(&v.cpu[1]), 11 * S);
	view_incomplete(&v);
	assert_string_equal(v.run.incomplete,
			    "cpu 3 was offline for 2.00 s, and measured before and after that");
	offline_add(&v.cpu[2].offline, 10 * S, 13 * S);
	view_incomplete(&v);
	assert_string_equal(v.run.incomplete, "cpus 3,7 were offline for 3.00 s at most, and "
					      "measured before and after that");
	v.cpu[1].ended = "the CPU went offline";
	view_incomplete(&v);
	assert_string_equal(v.run.incomplete,
			    "cpu 3 ended early, after 11.0 s: the CPU went offline; cpus 3,7 were "
			    "offline for 3.00 s at most, and measured before and after that");
	v.cpu[1].offline.times = 0;
	view_incomplete(&v);
	assert_string_equal(v.run.incomplete,
			    "cpu 3 ended early, after 11.0 s: the CPU went offline; cpu 7 was "
			    "offline for 3.00 s, and measured before and after that");
	strcpy(v.run.cut_short, "its threads were not watched");
	v.cpu[1].ended = NULL;
	v.cpu[2].offline.times = 0;
	view_incomplete(&v);
	assert_string_equal(v.run.incomplete, "its threads were not watched");
	view_free(&v);
}

/* As many as no line can name. */
static void many(void **state)
{
	static const char reason[] = "its sampler was moved to another CPU (by a cpuset, taskset "
				     "or hotplug)";
	unsigned cpus[256];
	struct view v = {0};

	(void)state;
	for (unsigned i = 0; i < 256; i++)
		cpus[i] = 1000 + 2 * i;
	assert_int_equal(view_cpus(&v, cpus, 256), 0);
	for (unsigned i = 0; i < 256; i++) {
		v.cpu[i].observed_ns = (500 - i) * S;
		v.cpu[i].ended = i % 2 ? reason : NULL;
		if (i % 2 == 0)
			offline_add(&v.cpu[i].offline, 10 * S, (11 + i) * S);
	}
	view_incomplete(&v);
	assert_string_equal(v.run.incomplete,
			    "cpus 1002,1006,1010,1014,1018,1022,1026,1030,... (128) ended early, "
			    "the first, cpu 1510, after 4.1 min: its sampler was moved to "
			    "another CPU (by a cpuset, taskset or hotplug); cpus "
			    "1000,1004,1008,1012,1016,1020,1024,1028,... (128) were offline for "
			    "4.3 min at most, and measured before and after that");
	view_free(&v);
}

static void of_one(void **state)
{
	struct offline o = twice();
	char text[OFFLINE_SAID];

	(void)state;
	assert_string_equal(offline_say(&o, text),
			    "was offline for 3.00 s, and measured before and after that");
	offline_cut(&o, 11 * S, 30 * S);
	assert_string_equal(offline_say(&o, text),
			    "was offline for 3.00 s at most, and measured before and after that");
}

static void again(void **state)
{
	const unsigned cpus[] = {0, 1, 0, 0};
	struct view v = {0};

	(void)state;
	assert_int_equal(view_cpus(&v, cpus, 4), 0);
	view_cut(&v, 2);
	assert_int_equal(view_again(&v, 5), 0);
	assert_int_equal(v.ncpus, 3);
	assert_int_equal(v.cpu[2].number, 5);
	assert_int_equal(v.cpu[2].hiccups.count, 0);
	view_free(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it), cmocka_unit_test(parts), cmocka_unit_test(forged),
		cmocka_unit_test(said),      cmocka_unit_test(many),  cmocka_unit_test(of_one),
		cmocka_unit_test(again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
