/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings as a set: their order, the boot parameters of all together, and which source one
 * explains. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "model/finding.h"

static struct finding *add(struct findings *f, const char *id, enum finding_level level,
			   uint64_t cost, const char *boot)
{
	struct finding *x = findings_add(f, id, level);

	x->title = strdup(id);
	x->cost_ns = cost;
	x->fix = boot ? strdup(boot) : NULL;
	x->fix_kind = FIX_BOOT;
	return x;
}

static void test_order(void **state)
{
	static const char *const want[] = {"fail dear", "fail", "fail too", "warn dear",
					   "warn",      "info", "ok"};
	struct findings f = {0};
	uint32_t order[7];

	(void)state;
	add(&f, "warn", FINDING_WARN, 0, NULL);
	add(&f, "ok", FINDING_OK, 0, NULL);
	add(&f, "fail", FINDING_FAIL, 0, NULL);
	add(&f, "info", FINDING_INFO, 0, NULL);
	add(&f, "fail too", FINDING_FAIL, 0, NULL);
	add(&f, "warn dear", FINDING_WARN, 5, NULL);
	add(&f, "fail dear", FINDING_FAIL, 1, NULL);
	findings_order(&f, order);
	for (int i = 0; i < 7; i++)
		assert_string_equal(f.row[order[i]].id, want[i]);
	f.row[2].known = false;
	assert_int_equal(findings_count(&f, FINDING_FAIL), 2);
	findings_free(&f);
	assert_int_equal(f.count, 0);
}

static void test_boot(void **state)
{
	struct findings f = {0};
	char *line;

	(void)state;
	assert_null(findings_boot(&f, FINDING_INFO));
	add(&f, "a", FINDING_FAIL, 0, "isolcpus=managed_irq,domain,3");
	add(&f, "b", FINDING_OK, 0, "never=1");
	add(&f, "c", FINDING_WARN, 0, "isolcpus=managed_irq,domain,3 nohz_full=3");
	add(&f, "d", FINDING_WARN, 0, "nosmt");
	add(&f, "e", FINDING_WARN, 0, "nosmt");
	add(&f, "f", FINDING_INFO, 0, "psi=0");
	add(&f, "g", FINDING_INFO, 0, "no=1");
	line = findings_boot(&f, FINDING_INFO);
	assert_string_equal(line, "isolcpus=managed_irq,domain,3 nohz_full=3 nosmt psi=0 no=1");
	free(line);
	line = findings_boot(&f, FINDING_WARN);
	assert_string_equal(line, "isolcpus=managed_irq,domain,3 nohz_full=3 nosmt");
	free(line);
	add(&f, "h", FINDING_INFO, 0, "nosmt=force psi=0 tsc=reliable");
	line = findings_boot_wanted(&f);
	assert_string_equal(line, "psi=0 no=1 tsc=reliable");
	free(line);
	findings_free(&f);
}

static void replaced(const char *line, const char *parameters, const char *expected)
{
	struct facts f = {0};
	char *words;

	assert_int_equal(facts_add(&f, "proc/cmdline", 0, line, strlen(line)), 0);
	assert_int_equal(boot_replaced(&f, parameters, &words), 0);
	if (!expected)
		assert_null(words);
	else
		assert_string_equal(words, expected);
	free(words);
	facts_free(&f);
}

static void test_replaced(void **state)
{
	(void)state;
	replaced("quiet nohz_full=2\n", "nohz_full=2-3", "nohz_full=2");
	replaced("quiet nohz_full=2\n", "isolcpus=2-3 nohz_full=2-3", "nohz_full=2");
	replaced("nohz_full=2 isolcpus=2 quiet nohz_full=4", "nohz_full=2-3 isolcpus=2-3",
		 "nohz_full=2 isolcpus=2 nohz_full=4");
	replaced("nohz_full=2-3 nohz_full_x=1 nohz=2\n", "nohz_full=2-3", NULL);
	replaced("nohz_full=2-34\n", "nohz_full=2-3", "nohz_full=2-34");
	replaced("nohz_full=2-3\n", "nohz_full=2-34 nosmt", "nohz_full=2-3");
	replaced("nosmt=force\n", "nohz_full=2-34 nosmt", "nosmt=force");
	replaced("quiet -- nohz_full=2\n", "nohz_full=2-3", NULL);
	replaced("\n", "nohz_full=2-3", NULL);
}

static void test_explains(void **state)
{
	struct source tick = {.kind = SOURCE_VECTOR, .id = 236, .cause = "T01"};
	struct source irq = {.kind = SOURCE_IRQ, .id = 36, .cause = "I01"};
	struct findings f = {0};
	struct finding *x = add(&f, "nohz_full", FINDING_FAIL, 0, NULL);

	(void)state;
	assert_false(finding_explains(x, 3, &tick));
	x->cause = "T01";
	assert_true(finding_explains(x, 3, &tick));
	cpus_add(&x->cpus, 2);
	assert_false(finding_explains(x, 3, &tick));
	assert_true(finding_explains(x, 2, &tick));
	x->known = false;
	assert_false(finding_explains(x, 2, &tick));
	x = add(&f, "irq", FINDING_WARN, 0, NULL);
	x->cause = "I01";
	assert_false(finding_explains(x, 3, &irq));
	x->about = true;
	x->kind = SOURCE_IRQ;
	assert_non_null(finding_items_add(&x->list, "a", 37));
	assert_false(finding_explains(x, 3, &irq));
	cpus_add(&finding_items_add(&x->list, "b", 36)->cpus, 3);
	assert_true(finding_explains(x, 3, &irq));
	assert_ptr_equal(finding_item(x, 3, &irq), &x->list.row[1]);
	assert_false(finding_explains(x, 2, &irq));
	x->level = FINDING_OK;
	assert_false(finding_explains(x, 3, &irq));
	findings_free(&f);
}

static void list(struct finding *x, const char *name, uint32_t irq, uint64_t count, uint64_t cost)
{
	struct finding_item *one = finding_items_add(&x->list, name, irq);

	assert_non_null(one);
	one->count = count;
	one->cost_ns = cost;
}

/* The title of a list names the first of it, which are the busiest only where something was
 * counted. */
static void test_list(void **state)
{
	struct findings f = {0};
	struct finding *x = findings_add(&f, "irq", FINDING_WARN);
	char title[FINDING_TITLE];

	(void)state;
	x->title = strdup("IRQs come");
	x->kind = SOURCE_IRQ;
	list(x, "d", 74, 0, 0);
	assert_string_equal(finding_title(x, title, sizeof(title)), "IRQs come");
	list(x, "c", 73, 0, 0);
	assert_string_equal(finding_title(x, title, sizeof(title)),
			    "IRQs come: d (irq 74), c (irq 73)");
	list(x, "b", 72, 0, 0);
	list(x, "a", 71, 0, 0);
	list(x, "z", 80, 0, 0);
	findings_rank(&f);
	assert_string_equal(finding_title(x, title, sizeof(title)),
			    "IRQs come: a (irq 71), b (irq 72), c (irq 73) and 2 more");
	list(x, "few", 99, 1, 0);
	list(x, "many", 98, 9, 0);
	list(x, "dear", 97, 0, 1);
	findings_rank(&f);
	assert_string_equal(finding_title(x, title, sizeof(title)),
			    "IRQs come: the busiest dear (irq 97), many (irq 98), few (irq 99)");
	x->kind = SOURCE_KINDS;
	assert_string_equal(finding_title(x, title, 32), "IRQs come: the busiest dear, ma");
	findings_free(&f);
}

static void test_rest(void **state)
{
	struct findings f = {0};
	struct findings_rest rest[2];
	char words[FINDINGS_REST];
	uint32_t order[6];

	(void)state;
	add(&f, "dear", FINDING_WARN, 5, "nosmt");
	add(&f, "info", FINDING_INFO, 0, NULL)->costed = true;
	add(&f, "none", FINDING_WARN, 0, NULL)->costed = true;
	add(&f, "not known", FINDING_WARN, 0, NULL);
	add(&f, "nor of this", FINDING_FAIL, 0, NULL);
	add(&f, "nor this", FINDING_FAIL, 0, NULL)->known = false;
	assert_int_equal(findings_costly(&f, order, rest), 1);
	assert_string_equal(findings_rest(&rest[true], true, words), "1 more warning");
	assert_string_equal(findings_rest(&rest[false], false, words),
			    "2 warnings, 1 of them FAIL,");
	assert_string_equal(findings_uncosted(true, true),
			    "this run, without names of functions, does not show the cost");
	assert_string_equal(findings_uncosted(true, false), "no run shows the cost");
	findings_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),    cmocka_unit_test(test_boot),
		cmocka_unit_test(test_replaced), cmocka_unit_test(test_explains),
		cmocka_unit_test(test_list),     cmocka_unit_test(test_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
