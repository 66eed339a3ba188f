/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPUs that are isolated, by facts as kernels of all ages show them; and where culprit runs, on
 * made-up machines of 2 to 256 CPUs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/isolation.h"
#include "model/place.h"

#define CPU_DIR "sys/devices/system/cpu/"
#define CGROUP  "sys/fs/cgroup/"

static void add(struct facts *f, const char *name, const char *text)
{
	assert_int_equal(facts_add(f, name, 0, text, strlen(text)), 0);
}

static struct cpus set_of(const char *list)
{
	struct cpus set;
	char why[128];

	assert_int_equal(cpus_parse(list, &set, why, sizeof(why)), 0);
	return set;
}

static void same(const struct cpus *set, const char *want)
{
	char list[256];

	assert_string_equal(cpus_format(set, list, sizeof(list)), want);
}

/* ---- isolation ---- */

static void test_isolation(void **state)
{
	struct facts f = {0};
	struct isolation i;

	(void)state;
	isolation_of(&f, &i);
	same(&i.all, "");
	assert_false(i.boot_known || i.cpusets_known);
	facts_add(&f, CPU_DIR "isolated", -EACCES, NULL, 0);
	isolation_of(&f, &i);
	assert_false(i.boot_known);

	/* a list by the kernel, which counts those of isolcpus= among them */
	add(&f, CPU_DIR "isolated", "2-3\n");
	add(&f, CGROUP "cpuset.cpus.isolated", "3,5\n");
	isolation_of(&f, &i);
	assert_true(i.boot_known && i.cpusets_known);
	same(&i.boot, "2-3");
	same(&i.cpusets, "3,5");
	same(&i.all, "2-3,5");

	/* as a controller of the second hierarchy beside the first */
	add(&f, CGROUP "unified/cpuset.cpus.isolated", "9\n");
	isolation_of(&f, &i);
	same(&i.all, "2-3,5,9");
	facts_free(&f);
}

/* No list: kernels before 6.7. */
static void test_partitions(void **state)
{
	struct facts f = {0};
	struct isolation i;
	char path[64];

	(void)state;
	add(&f, CPU_DIR "isolated", "\n");
	add(&f, CGROUP "rt/cpuset.cpus.partition", "isolated\n");
	add(&f, CGROUP "rt/cpuset.cpus.effective", "4-7\n");
	add(&f, CGROUP "a/b/cpuset.cpus.partition", "isolated\n");
	add(&f, CGROUP "a/b/cpuset.cpus.effective", "12\n");
	add(&f, CGROUP "bad/cpuset.cpus.partition",
	    "isolated invalid (Cpu list in cpuset.cpus not exclusive)\n");
	add(&f, CGROUP "bad/cpuset.cpus.effective", "0-15\n");
	add(&f, CGROUP "own/cpuset.cpus.partition", "root\n");
	add(&f, CGROUP "own/cpuset.cpus.effective", "8-9\n");
	facts_add(&f, CGROUP "x/cpuset.cpus.partition", -EACCES, NULL, 0);
	isolation_of(&f, &i);
	assert_true(i.cpusets_known);
	same(&i.all, "4-7,12");

	assert_true(isolation_cgroup(&f, 5, path, sizeof(path)));
	assert_string_equal(path, "sys/fs/cgroup/rt");
	assert_true(isolation_cgroup(&f, 12, path, sizeof(path)));
	assert_string_equal(path, "sys/fs/cgroup/a/b");
	assert_true(isolation_cgroup(&f, 9, path, sizeof(path))); /* balanced, but its own */
	assert_string_equal(path, "sys/fs/cgroup/own");
	assert_false(isolation_cgroup(&f, 0, path, sizeof(path)));
	facts_free(&f);
}

/* ---- where culprit runs ---- */

/* A machine as x86 numbers it: the second thread of core n is CPU n + half; nodes have equal parts
 * of the cores. */
static void machine(struct facts *f, unsigned cpus, bool threads, unsigned nodes,
		    const char *isolated)
{
	unsigned cores = threads ? cpus / 2 : cpus, part = cores / nodes;
	char name[96], text[96];

	memset(f, 0, sizeof(*f));
	add(f, CPU_DIR "isolated", isolated);
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		snprintf(name, sizeof(name), CPU_DIR "cpu%u/topology/thread_siblings_list", cpu);
		snprintf(text, sizeof(text), threads ? "%u,%u\n" : "%u\n", cpu % cores,
			 cpu % cores + cores);
		add(f, name, text);
	}
	for (unsigned n = 0; n < nodes; n++) {
		unsigned first = n * part, last = first + part - 1;

		snprintf(name, sizeof(name), "sys/devices/system/node/node%u/cpulist", n);
		snprintf(text, sizeof(text), threads ? "%u-%u,%u-%u\n" : "%u-%u\n", first, last,
			 first + cores, last + cores);
		add(f, name, text);
	}
}

static const struct {
	unsigned cpus;
	bool threads;
	unsigned nodes;
	const char *isolated, *targets, *chosen;
	enum place place;
} cases[] = {
	{2, false, 1, "", "1", "0", PLACE_GOOD},
	{2, false, 1, "1", "1", "0", PLACE_GOOD},
	{2, true, 1, "1", "1", "0", PLACE_SIBLING},
	{2, false, 1, "1", "0", "1", PLACE_ISOLATED},
	{2, true, 1, "1", "0", "1", PLACE_BOTH},
	{2, false, 1, "", "0-1", "", PLACE_NONE},
	/* no isolation: neither the target nor its sibling */
	{8, true, 1, "", "3", "0-2,4-6", PLACE_GOOD},
	/* isolated with their siblings, as one should */
	{8, true, 1, "2-3,6-7", "2-3,6-7", "0-1,4-5", PLACE_GOOD},
	/* one of several isolated ones: the others belong to somebody else */
	{8, true, 1, "2-3,6-7", "2", "0-1,4-5", PLACE_GOOD},
	/* isolated without their siblings: these do housekeeping only if nobody else can */
	{8, true, 1, "1-3", "1-3", "0,4", PLACE_GOOD},
	{8, true, 1, "0-3", "0-3", "4-7", PLACE_SIBLING},
	{8, true, 1, "0-6", "0,1,5", "7", PLACE_GOOD},
	{8, true, 1, "0-7", "0-2", "3,7", PLACE_ISOLATED},
	{8, true, 1, "0-7", "0-3", "4-7", PLACE_BOTH},
	/* on the targets' node, where that has one left */
	{8, true, 2, "", "2-3", "0-1,4-5", PLACE_GOOD},
	{64, true, 2, "4-15,36-47", "4-15,36-47", "0-3,32-35", PLACE_GOOD},
	{64, true, 2, "16-31,48-63", "20", "0-15,32-47", PLACE_GOOD},
	{64, true, 2, "4-31,36-63", "4-31", "0-3,32-35", PLACE_GOOD},
	{256, true, 8, "1-127,129-255", "1-127,129-255", "0,128", PLACE_GOOD},
	{256, true, 8, "8-127,136-255", "16-19", "0-7,128-135", PLACE_GOOD},
	{256, false, 4, "", "64-126", "127", PLACE_GOOD},
	{256, false, 4, "64-191", "70,140", "0-63,192-255", PLACE_GOOD},
	{256, true, 2, "", "0-127", "128-255", PLACE_SIBLING},
};

static void test_choose(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cpus targets = set_of(cases[i].targets), chosen, usable;
		char all[16];
		struct facts f;

		snprintf(all, sizeof(all), "0-%u", cases[i].cpus - 1);
		usable = set_of(all);
		machine(&f, cases[i].cpus, cases[i].threads, cases[i].nodes, cases[i].isolated);
		assert_int_equal(place_choose(&f, &usable, &targets, &chosen), cases[i].place);
		same(&chosen, cases[i].chosen);
		facts_free(&f);
	}
}

/* CPUs that this process may not use, or that are offline; and a machine that tells nothing. */
static void test_usable(void **state)
{
	struct cpus targets = set_of("2"), usable = set_of("1-4,6"), chosen;
	struct facts f;

	(void)state;
	machine(&f, 8, true, 1, "");
	assert_int_equal(place_choose(&f, &usable, &targets, &chosen), PLACE_GOOD);
	same(&chosen, "1,3-4");
	usable = set_of("2,6");
	assert_int_equal(place_choose(&f, &usable, &targets, &chosen), PLACE_SIBLING);
	same(&chosen, "6");
	facts_free(&f);
	assert_int_equal(place_choose(&f, &usable, &targets, &chosen), PLACE_GOOD);
	same(&chosen, "6");
}

static void test_siblings(void **state)
{
	struct cpus set = set_of("1-2,5,7"), second;
	struct facts f;

	(void)state;
	machine(&f, 8, true, 1, "");
	place_siblings(&f, &set, &second);
	same(&second, "5");
	set = set_of("0-3");
	place_siblings(&f, &set, &second);
	same(&second, "");
	facts_free(&f);
	place_siblings(&f, &set, &second);
	same(&second, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_isolation), cmocka_unit_test(test_partitions),
		cmocka_unit_test(test_choose),    cmocka_unit_test(test_usable),
		cmocka_unit_test(test_siblings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
