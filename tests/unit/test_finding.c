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
	assert_null(findings_boot(&f));
	add(&f, "a", FINDING_FAIL, 0, "isolcpus=managed_irq,domain,3");
	add(&f, "b", FINDING_OK, 0, "never=1");
	add(&f, "c", FINDING_WARN, 0, "isolcpus=managed_irq,domain,3 nohz_full=3");
	add(&f, "d", FINDING_WARN, 0, "nosmt");
	add(&f, "e", FINDING_WARN, 0, "nosmt");
	add(&f, "f", FINDING_INFO, 0, "psi=0");
	add(&f, "g", FINDING_INFO, 0, "no=1");
	line = findings_boot(&f);
	assert_string_equal(line, "isolcpus=managed_irq,domain,3 nohz_full=3 nosmt psi=0 no=1");
	free(line);
	findings_free(&f);
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
	x->number = 37;
	assert_false(finding_explains(x, 3, &irq));
	x->number = 36;
	assert_true(finding_explains(x, 3, &irq));
	x->level = FINDING_OK;
	assert_false(finding_explains(x, 3, &irq));
	findings_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_boot),
		cmocka_unit_test(test_explains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
