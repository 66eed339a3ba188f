/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU lists: the syntax both ways, refusals and their words, and the set operations against a plain
 * bool array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"

static const struct {
	const char *text, *list;
} good[] = {
	{"0", "0"},
	{"1-3,8", "1-3,8"},
	{"8,3,2,1", "1-3,8"},
	{"1,2", "1-2"},
	{"0-3,2-5", "0-5"},
	{"5-5", "5"},
	{"007", "7"},
	{"0-15:2/4", "0-1,4-5,8-9,12-13"},
	{"0-6:1/2", "0,2,4,6"},
	{"1-10:3/4", "1-3,5-7,9-10"},
	{"3-4:2/100", "3-4"},
	{"0-7:4/4", "0-7"},
	{"8191", "8191"},
	{"62-65", "62-65"},
	{"0-8191", "0-8191"},
	{"", ""},
	{"\n", ""},
	{" \t\n", ""},
	{"0-3\n", "0-3"},
	{" 2 \n", "2"},
};

static const struct {
	const char *text;
	int err;
	const char *part; /* must be named */
} bad[] = {
	{"x", -EINVAL, "'x'"},
	{",", -EINVAL, "''"},
	{"1,", -EINVAL, "''"},
	{"1,\n", -EINVAL, "''"},
	{",1", -EINVAL, "''"},
	{"1,,2", -EINVAL, "''"},
	{"1-", -EINVAL, "'1-'"},
	{"-1", -EINVAL, "'-1'"},
	{"+1", -EINVAL, "'+1'"},
	{"0,5-3,9", -EINVAL, "'5-3' runs backwards"},
	{"1-2-3", -EINVAL, "'1-2-3'"},
	{"1 2", -EINVAL, "'1 2'"},
	{"1, 2", -EINVAL, "' 2'"},
	{"0x3", -EINVAL, "'0x3'"},
	{"1.5", -EINVAL, "'1.5'"},
	{"all", -EINVAL, "'all'"},
	{"0-7:", -EINVAL, "'0-7:'"},
	{"0-7:2", -EINVAL, "'0-7:2'"},
	{"0-7:2/", -EINVAL, "'0-7:2/'"},
	{"0-7:2x4", -EINVAL, "'0-7:2x4'"},
	{"0-7x2/4", -EINVAL, "'0-7x2/4'"},
	{"0x7", -EINVAL, "'0x7'"},
	{"0-7:2/0", -EINVAL, "'0-7:2/0'"},
	{"0-7:0/2", -EINVAL, "'0-7:0/2'"},
	{"0-7:3/2", -EINVAL, "'0-7:3/2'"},
	{"3:1/2", -EINVAL, "'3:1/2'"},
	{"8192", -ERANGE, "'8192'"},
	{"0-8192", -ERANGE, "'0-8192'"},
	{"4294967296", -ERANGE, "'4294967296'"},
	{"18446744073709551616", -ERANGE, "'18446744073709551616'"},
	{"1,99999999999999999999999999999999999999999999999999", -ERANGE, "'9999999999"},
};

static void test_good_lists(void **state)
{
	char buf[256], why[128];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct cpus set;

		memset(&set, 0xff, sizeof(set));
		assert_int_equal(cpus_parse(good[i].text, &set, why, sizeof(why)), 0);
		assert_string_equal(cpus_format(&set, buf, sizeof(buf)), good[i].list);
	}
}

static void test_bad_lists_name_the_part_and_leave_the_set(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct cpus set, kept;
		char why[160] = "";

		memset(&set, 0x5a, sizeof(set));
		kept = set;
		assert_int_equal(cpus_parse(bad[i].text, &set, why, sizeof(why)), bad[i].err);
		if (!strstr(why, bad[i].part))
			fail_msg("'%s': the reason \"%s\" does not name %s", bad[i].text, why,
				 bad[i].part);
		assert_null(strchr(why, '\n'));
		assert_memory_equal(&set, &kept, sizeof(set));
	}
}

/* A text of some kB is no work of seconds: a list names each CPU some times at most. */
static void test_lists_that_repeat(void **state)
{
	char text[7 * 9000 + 1] = "", why[160];
	struct cpus set;

	(void)state;
	for (size_t i = 0; i < 9000; i++)
		memcpy(text + 7 * i, "0-8191,", 7);
	text[7 * 500 - 1] = 0;
	assert_int_equal(cpus_parse(text, &set, why, sizeof(why)), 0);
	assert_int_equal(cpus_count(&set), CPUS_MAX);
	text[7 * 500 - 1] = ',';
	text[7 * 9000 - 1] = 0;
	assert_int_equal(cpus_parse(text, &set, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "'0-8191' names CPUs that were named many times"));
	/* The kernel's longest list names each once. */
	assert_int_equal(cpus_parse("0-8191:1/2,1-8191:1/2", &set, why, sizeof(why)), 0);
	assert_int_equal(cpus_count(&set), CPUS_MAX);
}

static void test_reason_is_cut_to_its_buffer(void **state)
{
	char why[8] = "-------";
	struct cpus set;

	(void)state;
	assert_int_equal(cpus_parse("nonsense", &set, why, 5), -EINVAL);
	assert_string_equal(why, "'non");
	assert_int_equal(why[5], '-');
	assert_int_equal(cpus_parse("nonsense", &set, NULL, 0), -EINVAL);
}

static void test_format_cuts_between_parts(void **state)
{
	struct cpus set;
	char buf[32], why[64];

	(void)state;
	assert_int_equal(cpus_parse("1-3,8,10-12,100", &set, why, sizeof(why)), 0);
	assert_string_equal(cpus_format(&set, buf, 16), "1-3,8,10-12,100");
	assert_string_equal(cpus_format(&set, buf, 15), "1-3,8,...");
	assert_string_equal(cpus_format(&set, buf, 10), "1-3,8,...");
	assert_string_equal(cpus_format(&set, buf, 9), "1-3,...");
	assert_string_equal(cpus_format(&set, buf, 8), "1-3,...");
	assert_string_equal(cpus_format(&set, buf, 7), "...");
	assert_string_equal(cpus_format(&set, buf, 3), "..");
	assert_string_equal(cpus_format(&set, buf, 1), "");
	buf[0] = 'x';
	assert_ptr_equal(cpus_format(&set, buf, 0), buf);
	assert_int_equal(buf[0], 'x');
}

static void test_the_longest_list_and_mask(void **state)
{
	char list[CPUS_LIST], mask[CPUS_MASK], why[64];
	struct cpus set, again;

	(void)state;
	cpus_clear(&set);
	for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++)
		if (cpu % 3 < 2)
			cpus_add(&set, cpu);
	assert_int_equal(
		cpus_parse(cpus_format(&set, list, sizeof(list)), &again, why, sizeof(why)), 0);
	assert_memory_equal(&set, &again, sizeof(set));
	assert_true(cpus_parse_mask(cpus_format_mask(&set, mask, sizeof(mask)), &again));
	assert_memory_equal(&set, &again, sizeof(set));
}

/* Every cut is a prefix of the list up to a comma, then dots, for sets and sizes of all kinds. */
static void test_format_of_random_sets_reads_back(void **state)
{
	static char full[65536];
	char why[64], cut[128];

	(void)state;
	srandom(1);
	for (int round = 0; round < 50; round++) {
		struct cpus set, again;

		cpus_clear(&set);
		for (long n = random() % 400; n >= 0; n--)
			cpus_add(&set, (unsigned)(random() % (round % 2 ? 200 : CPUS_MAX)));
		cpus_format(&set, full, sizeof(full));
		assert_int_equal(cpus_parse(full, &again, why, sizeof(why)), 0);
		assert_memory_equal(&set, &again, sizeof(set));
		for (size_t len = 8; len <= sizeof(cut); len++) {
			size_t n = strlen(cpus_format(&set, cut, len));

			assert_true(n < len);
			if (strlen(full) < len) {
				assert_string_equal(cut, full);
				continue;
			}
			assert_string_equal(cut + n - 3, "...");
			assert_memory_equal(cut, full, n - 3);
			assert_true(n == 3 || cut[n - 4] == ',');
		}
	}
}

static void check_against_array(const struct cpus *set, const bool *want)
{
	unsigned count = 0, end = 0;
	int next = cpus_next(set, 0);

	for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
		assert_int_equal(cpus_has(set, cpu), want[cpu]);
		if (!want[cpu])
			continue;
		assert_int_equal(next, cpu);
		next = cpus_next(set, cpu + 1);
		count++;
		end = cpu + 1;
	}
	assert_int_equal(next, -1);
	assert_int_equal(cpus_count(set), count);
	assert_int_equal(cpus_end(set), end);
	assert_int_equal(cpus_empty(set), count == 0);
}

static void test_numbers_with_holes_end_behind_the_highest(void **state)
{
	static const struct {
		const char *list;
		unsigned end;
	} sets[] = {{"", 0}, {"0", 1}, {"0-3,6-7", 8}, {"63", 64}, {"64", 65}, {"8191", 8192}};
	struct cpus set;
	char why[64];

	(void)state;
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		assert_int_equal(cpus_parse(sets[i].list, &set, why, sizeof(why)), 0);
		assert_int_equal(cpus_end(&set), sets[i].end);
	}
}

static void random_set(struct cpus *set, bool *has)
{
	cpus_clear(set);
	memset(has, 0, CPUS_MAX * sizeof(*has));
	for (int i = 0; i < 6000; i++) {
		unsigned cpu = (unsigned)(random() % CPUS_MAX);

		has[cpu] = random() % 4 != 0;
		if (has[cpu])
			cpus_add(set, cpu);
		else
			cpus_del(set, cpu);
	}
}

static void test_operations_against_an_array(void **state)
{
	static bool a_has[CPUS_MAX], b_has[CPUS_MAX], want[CPUS_MAX];
	struct cpus a, b, result;

	(void)state;
	srandom(2);
	random_set(&a, a_has);
	random_set(&b, b_has);
	check_against_array(&a, a_has);
	for (int op = 0; op < 3; op++) {
		result = a;
		(op == 0 ? cpus_and : op == 1 ? cpus_or : cpus_sub)(&result, &b);
		for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++)
			want[cpu] = op == 0   ? a_has[cpu] && b_has[cpu]
				    : op == 1 ? a_has[cpu] || b_has[cpu]
					      : a_has[cpu] && !b_has[cpu];
		check_against_array(&result, want);
	}
	cpus_clear(&a);
	memset(want, 0, sizeof(want));
	check_against_array(&a, want);
}

static void test_cpus_past_the_end_are_in_no_set(void **state)
{
	struct cpus guarded[2];

	(void)state;
	memset(guarded, 0, sizeof(guarded));
	cpus_add(&guarded[0], CPUS_MAX);
	cpus_add(&guarded[0], UINT32_MAX);
	assert_true(cpus_empty(&guarded[0]));
	assert_true(cpus_empty(&guarded[1]));
	memset(guarded, 0xff, sizeof(guarded));
	cpus_del(&guarded[0], CPUS_MAX);
	assert_int_equal(cpus_count(&guarded[1]), CPUS_MAX);
	assert_false(cpus_has(&guarded[0], CPUS_MAX));
	assert_true(cpus_has(&guarded[0], CPUS_MAX - 1));
	assert_int_equal(cpus_next(&guarded[0], CPUS_MAX - 1), CPUS_MAX - 1);
	assert_int_equal(cpus_next(&guarded[0], CPUS_MAX), -1);
	assert_int_equal(cpus_next(&guarded[0], UINT32_MAX), -1);
}

static void test_masks(void **state)
{
	static const struct {
		const char *mask, *list, *canonical; /* NULL: it is no mask */
	} rows[] = {
		{"0", "", "0"},
		{"3", "0-1", "3"},
		{"00000000,0000000f\n", "0-3", "f"},
		{"1,00000000", "32", "1,00000000"},
		{"80000000,00000001,ff000000", "24-32,95", "80000000,00000001,ff000000"},
		{"", NULL, NULL},
		{"0x3", NULL, NULL},
		{"3 ", NULL, NULL},
	};
	char list[64], mask[64];
	struct cpus set;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(cpus_parse_mask(rows[i].mask, &set), rows[i].list != NULL);
		if (!rows[i].list)
			continue;
		assert_string_equal(cpus_format(&set, list, sizeof(list)), rows[i].list);
		assert_string_equal(cpus_format_mask(&set, mask, sizeof(mask)), rows[i].canonical);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_lists),
		cmocka_unit_test(test_bad_lists_name_the_part_and_leave_the_set),
		cmocka_unit_test(test_lists_that_repeat),
		cmocka_unit_test(test_reason_is_cut_to_its_buffer),
		cmocka_unit_test(test_format_cuts_between_parts),
		cmocka_unit_test(test_the_longest_list_and_mask),
		cmocka_unit_test(test_format_of_random_sets_reads_back),
		cmocka_unit_test(test_numbers_with_holes_end_behind_the_highest),
		cmocka_unit_test(test_operations_against_an_array),
		cmocka_unit_test(test_cpus_past_the_end_are_in_no_set),
		cmocka_unit_test(test_masks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
