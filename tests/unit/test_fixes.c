/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPUs that a fix hands work to: culprit's own place is for a single thread or interrupt alone;
 * what is for all work gets all other CPUs but those that are to be quiet, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "cmd/fixes.h"
#include "collect/knobs.h"

static char set_path[128], set_value[128];

/* ---- what is not there in this test ---- */

int knobs_plan(struct knobs *k, const char *root, enum knob_kind kind, const char *path,
	       const char *value, unsigned tid, char *why)
{
	(void)k;
	(void)root;
	(void)kind;
	(void)tid;
	(void)why;
	snprintf(set_path, sizeof(set_path), "%s", path);
	snprintf(set_value, sizeof(set_value), "%s", value);
	return 0;
}

const char *knob_rival(const struct knob *k, const char *root)
{
	(void)k;
	(void)root;
	return NULL;
}

/* ---- the tests ---- */

static struct cpus set_of(const char *list)
{
	struct cpus set;
	char why[128];

	assert_int_equal(cpus_parse(list, &set, why, sizeof(why)), 0);
	return set;
}

static int plan(const char *word, struct host *host, const char *online)
{
	const struct measure m = {.cpus = set_of("3"), .housekeeping = set_of("0")};
	struct tried t = {.host = host};
	char *words[] = {(char *)word};
	struct wish wish[TRIED_FIXES];
	uint32_t n;

	host->online = set_of(online);
	set_path[0] = set_value[0] = 0;
	assert_int_equal(fixes_parse(words, 1, wish, &n), 0);
	return fixes_plan(&t, wish, n, NULL, &m, 1);
}

static void test_others(void **state)
{
	static const struct {
		const char *word, *path, *value;
	} rows[] = {
		{"T17", "/proc/sys/kernel/watchdog_cpumask", "0,4-7"},
		{"I05", "/proc/irq/default_smp_affinity", "f1"},
		{"K09", "/sys/devices/virtual/workqueue/cpumask", "f1"},
		{"K10", "/sys/devices/virtual/workqueue/writeback/cpumask", "f1"},
		{"P18", "/sys/class/net/*/queues/rx-*/rps_cpus", "f1"},
		{"I01:36", "/proc/irq/36/smp_affinity_list", "0"},
		{"K34:812", "", "0"},
	};
	struct host host = {.isolated = set_of("2-3"), .nohz_full = set_of("1-3")};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(plan(rows[i].word, &host, "0-7"), 0);
		assert_string_equal(set_path, rows[i].path);
		assert_string_equal(set_value, rows[i].value);
	}
	assert_int_equal(plan("T17", &host, "2-3"), -1); /* the other one is isolated */
	assert_int_equal(plan("T17", &host, "3"), -1);
	assert_string_equal(set_value, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_others)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
