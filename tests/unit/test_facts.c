/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The set of facts: order, replacement, bounds, globs, and texts of any bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef fail /* cmocka's, which the audit has another of */
#include "audit/checks.h"
#include "model/facts.h"
#include "model/view.h"

static void add(struct facts *f, const char *name, const char *text)
{
	assert_int_equal(facts_add(f, name, 0, text, strlen(text)), 0);
}

static void test_find(void **state)
{
	struct facts f = {0};

	(void)state;
	assert_null(facts_find(&f, "proc/cmdline"));
	add(&f, "proc/swaps", "none");
	add(&f, "proc/cmdline", "quiet");
	add(&f, "proc/irq/36/smp_affinity_list", "0-1\n");
	assert_int_equal(facts_add(&f, "proc/config.gz", -ENOENT, NULL, 0), 0);
	assert_string_equal(facts_text(&f, "proc/cmdline"), "quiet");
	assert_int_equal(facts_find(&f, "proc/config.gz")->err, -ENOENT);
	assert_string_equal(facts_find(&f, "proc/config.gz")->text, "");
	assert_null(facts_text(&f, "proc/config.gz"));
	assert_null(facts_find(&f, "proc/cmdlin"));
	assert_null(facts_find(&f, "proc/cmdline2"));
	for (uint32_t i = 1; i < f.count; i++)
		assert_true(strcmp(f.row[i - 1].name, f.row[i].name) < 0);
	add(&f, "proc/cmdline", "isolcpus=1");
	assert_string_equal(facts_text(&f, "proc/cmdline"), "isolcpus=1");
	assert_int_equal(f.count, 4);
	facts_free(&f);
	assert_int_equal(f.count, 0);
	assert_null(facts_next(&f, "*", NULL));
}

static void test_bytes(void **state)
{
	struct facts f = {0};
	static const char binary[] = "a\0b\xff\n";

	(void)state;
	assert_int_equal(facts_add(&f, "x", 0, binary, sizeof(binary) - 1), 0);
	assert_int_equal(facts_find(&f, "x")->len, 5);
	assert_memory_equal(facts_find(&f, "x")->text, binary, sizeof(binary));
	assert_int_equal(facts_add(&f, "x", 0, "", 0), 0);
	assert_string_equal(facts_text(&f, "x"), "");
	assert_int_equal(f.bytes, 1);
	facts_free(&f);
}

static void test_bounds(void **state)
{
	char *big = calloc(1, FACT_MAX + 1), name[FACT_NAME_MAX + 2];
	struct facts f = {0};
	int err = 0;

	(void)state;
	memset(big, 'x', FACT_MAX + 1);
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = 0;
	assert_int_equal(facts_add(&f, "", 0, "a", 1), -EINVAL);
	assert_int_equal(facts_add(&f, name, 0, "a", 1), -EINVAL);
	name[sizeof(name) - 2] = 0;
	assert_int_equal(facts_add(&f, name, 0, "a", 1), 0);
	assert_int_equal(facts_add(&f, "exact", 0, big, FACT_MAX), 0);
	assert_int_equal(facts_find(&f, "exact")->err, 0);
	assert_int_equal(facts_add(&f, "over", 0, big, FACT_MAX + 1), 0);
	assert_int_equal(facts_find(&f, "over")->err, FACT_TOO_LONG);
	assert_int_equal(facts_find(&f, "over")->len, FACT_MAX);
	for (int i = 0; !err && i < 1000; i++) {
		snprintf(name, sizeof(name), "fill/%d", i);
		err = facts_add(&f, name, 0, big, FACT_MAX);
	}
	assert_int_equal(err, -ENOSPC);
	assert_true(f.bytes <= FACTS_ALL_MAX);
	assert_null(facts_find(&f, name));
	assert_non_null(facts_text(&f, "exact"));
	facts_free(&f);
	free(big);
}

static void test_count_bound(void **state)
{
	struct facts f = {0};
	char name[16];

	(void)state;
	for (uint32_t i = 0; i < FACTS_MAX; i++) {
		snprintf(name, sizeof(name), "%08u", i);
		assert_int_equal(facts_add(&f, name, 0, "", 0), 0);
	}
	assert_int_equal(facts_add(&f, "one more", 0, "", 0), -ENOSPC);
	assert_int_equal(facts_add(&f, "00000007", 0, "seven", 5), 0);
	facts_free(&f);
}

static void expect(const struct facts *f, const char *glob, const char *want)
{
	char got[256] = "";

	for (const struct fact *x = facts_next(f, glob, NULL); x; x = facts_next(f, glob, x))
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s ", x->name);
	assert_string_equal(got, want);
}

static void test_globs(void **state)
{
	struct facts f = {0};

	(void)state;
	add(&f, "irq/1/list", "");
	add(&f, "irq/1/name", "");
	add(&f, "irq/12/list", "");
	add(&f, "irq/default", "");
	add(&f, "irq/12/deep/list", "");
	add(&f, "irqs", "");
	expect(&f, "irq/*/list", "irq/1/list irq/12/list ");
	expect(&f, "irq/1*/list", "irq/1/list irq/12/list ");
	expect(&f, "irq/*", "irq/default ");
	expect(&f, "irq/*/*", "irq/1/list irq/1/name irq/12/list ");
	expect(&f, "irq/*/*/list", "irq/12/deep/list ");
	expect(&f, "irq/default", "irq/default ");
	expect(&f, "irq/defaul", "");
	expect(&f, "*", "irqs ");
	expect(&f, "i*q*s", "irqs ");
	expect(&f, "none/*", "");
	facts_free(&f);
}

static void blames(struct view *v, const char *level, const char *cap, const char *sysctl)
{
	const char *why;

	if (level)
		add(&v->facts, "proc/sys/kernel/kptr_restrict", level);
	why = view_names_hidden(v);
	assert_non_null(why);
	assert_int_equal(!strstr(why, "CAP_SYSLOG"), !cap);
	assert_int_equal(!strstr(why, "kptr_restrict"), !sysctl);
}

static void test_hidden_names(void **state)
{
	struct view *v = calloc(1, sizeof(*v));

	(void)state;
	assert_non_null(v);
	v->run.traced = true;
	assert_null(view_names_hidden(v));
	v->run.symbols_hidden = true;
	blames(v, NULL, "it may be", "it may be");
	blames(v, "0\n", "it is", NULL);
	blames(v, "1\n", "it is", NULL);
	blames(v, "1", "it is", NULL);
	blames(v, "2\n", NULL, "it is");
	blames(v, "", "it may be", "it may be");
	blames(v, "20\n", "it may be", "it may be");
	v->run.traced = false;
	assert_null(view_names_hidden(v));
	facts_free(&v->facts);
	free(v);
}

static void test_parameters(void **state)
{
	struct facts f = {0};
	const struct audit a = {.facts = &f};
	char value[8] = "all";

	(void)state;
	assert_false(parameter(&a, "rcu_nocbs", value, sizeof(value)));
	assert_string_equal(value, ""); /* not what was there before */
	strcpy(value, "all");
	add(&f, "proc/cmdline", "quiet rcu_nocbs_x=2 -- rcu_nocbs=3\n");
	assert_false(parameter(&a, "rcu_nocbs", value, sizeof(value)));
	assert_string_equal(value, "");
	add(&f, "proc/cmdline", "rcu_nocbs=all rcu_nocbs=3 quiet\n");
	assert_true(parameter(&a, "rcu_nocbs", value, sizeof(value)));
	assert_string_equal(value, "3");
	facts_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),       cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_bounds),     cmocka_unit_test(test_count_bound),
		cmocka_unit_test(test_globs),      cmocka_unit_test(test_hidden_names),
		cmocka_unit_test(test_parameters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
