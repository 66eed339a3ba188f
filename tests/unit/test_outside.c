/* Time outside the kernel: which verdict each gap gets, and that every nanosecond of it gets one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/outside.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define KEPT         256 /* gaps a CPU that wait */
#define STEP_NS      10000000

static const unsigned cpus[] = {1, 2, 7};
static struct summary s;
static struct outside *o;
static uint64_t added_ns[COUNT(cpus)], added[COUNT(cpus)];

static int begin(void **state)
{
	(void)state;
	memset(added, 0, sizeof(added));
	memset(added_ns, 0, sizeof(added_ns));
	if (summary_init(&s, cpus, COUNT(cpus)))
		return -1;
	o = outside_new(&s, "other");
	return o ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	outside_free(o);
	summary_free(&s);
	return 0;
}

static void add(uint32_t cpu, uint64_t start_ns, uint64_t end_ns, uint64_t outside_ns)
{
	outside_add(o, cpu, start_ns, end_ns, outside_ns);
	added_ns[cpu] += outside_ns;
	added[cpu]++;
}

/* All of a hiccup is a gap. */
static void gap(uint32_t cpu, uint64_t start_ns, uint64_t end_ns)
{
	add(cpu, start_ns, end_ns, end_ns - start_ns);
}

static const char *said(uint32_t cpu)
{
	static char text[256];
	size_t at = 0;

	text[0] = 0;
	for (uint32_t i = 0; i < s.cpu[cpu].sources.count; i++) {
		const struct source *row = s.cpu[cpu].sources.row[i];

		assert_int_equal(row->kind, SOURCE_OUTSIDE);
		assert_int_equal(row->hiccups, row->net.count);
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s %llu in %llu", i ? ", " : "", row->name,
				       (unsigned long long)row->net.sum, (unsigned long long)row->net.count);
	}
	return text;
}

static void check_totals(void)
{
	for (uint32_t cpu = 0; cpu < COUNT(cpus); cpu++) {
		const struct sources *t = &s.cpu[cpu].sources;
		uint64_t sum = 0, count = 0;

		for (uint32_t i = 0; i < t->count; i++) {
			sum += t->row[i]->net.sum;
			count += t->row[i]->net.count;
		}
		assert_int_equal(sum, added_ns[cpu]);
		assert_int_equal(count, added[cpu]);
	}
}

/* What each CPU is said to have had after all is decided. */
static void finish(const char *first, const char *second, const char *third)
{
	outside_finish(o);
	check_totals();
	assert_string_equal(said(0), first);
	assert_string_equal(said(1), second);
	assert_string_equal(said(2), third);
	outside_finish(o); /* nothing is left */
	check_totals();
}

static void test_nothing(void **state)
{
	(void)state;
	outside_steal(o, 0, 5);
	outside_steal(o, 0, 5 + STEP_NS);
	finish("", "", "");
}

static void test_waits_until_decided(void **state)
{
	(void)state;
	gap(0, 10000, 15000);
	gap(2, 90000, 93000);
	assert_string_equal(said(0), "");
	assert_string_equal(said(2), "");
	finish("other 5000 in 1", "", "other 3000 in 1");
}

/* ---- simultaneous ---- */

struct pair {
	const char *what;
	uint64_t a, a_end, b, b_end;
	bool simultaneous;
};

static const struct pair pairs[] = {
	{"the same", 10000, 20000, 10000, 20000, true},
	{"apart", 10000, 20000, 30000, 40000, false},
	{"they touch", 10000, 20000, 20000, 30000, false},
	{"half of each", 10000, 20000, 15000, 25000, false},
	{"more than half of each", 10000, 20000, 14999, 24999, true},
	{"one in the other, half of it", 10000, 20000, 12000, 17000, false},
	{"one in the other, more than half of it", 10000, 20000, 12000, 17001, true},
	{"a short one in a long one", 10000, 100000, 50000, 53000, false},
	{"both just long enough", 10000, 12000, 10000, 12000, true},
	{"one too short", 10000, 12000, 10000, 11999, false},
};

static void test_pairs(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2 * COUNT(pairs); i++) {
		const struct pair *p = &pairs[i / 2];
		uint64_t shift = i * 1000000;
		unsigned was = s.cpu[0].sources.count ? (unsigned)s.cpu[0].sources.row[0]->net.count : 0, is;

		if (i & 1) /* the other first */
			gap(1, shift + p->b, shift + p->b_end);
		gap(0, shift + p->a, shift + p->a_end);
		if (!(i & 1))
			gap(1, shift + p->b, shift + p->b_end);
		if (!i) /* the first row is of those */
			assert_string_equal(said(0), "");
		outside_finish(o);
		assert_string_equal(s.cpu[0].sources.row[0]->name, "simultaneous");
		assert_string_equal(s.cpu[1].sources.row[0]->name, "simultaneous");
		is = (unsigned)s.cpu[0].sources.row[0]->net.count;
		if (is != was + p->simultaneous)
			print_message("# %s\n", p->what);
		assert_int_equal(is, was + p->simultaneous);
		assert_int_equal(s.cpu[1].sources.row[0]->net.count, is);
		check_totals();
	}
}

static void test_three(void **state)
{
	(void)state;
	gap(0, 10000, 20000);
	gap(1, 11000, 21000);
	gap(2, 10500, 20500);
	gap(0, 50000, 60000);
	gap(1, 54000, 64000); /* in the first and in the third, which do not coincide */
	gap(2, 58000, 68000);
	gap(0, 90000, 95000);
	finish("simultaneous 20000 in 2, other 5000 in 1", "simultaneous 20000 in 2", "simultaneous 20000 in 2");
}

static void test_not_with_itself(void **state)
{
	(void)state;
	gap(0, 10000, 20000);
	gap(0, 10000, 20000);
	finish("other 20000 in 2", "", "");
}

/* A hiccup that is mostly something else does not show when the CPU was stopped. */
static void test_mostly_something_else(void **state)
{
	(void)state;
	add(0, 10000, 20000, 4999);
	add(1, 10000, 20000, 5000);
	add(2, 10000, 20000, 9000);
	assert_string_equal(said(0), "other 4999 in 1"); /* at once */
	finish("other 4999 in 1", "simultaneous 5000 in 1", "simultaneous 9000 in 1");
}

/* The batches come CPU by CPU: the other CPU's gap may be some hundred gaps ago, no more. */
static void test_late(void **state)
{
	(void)state;
	for (unsigned i = 0; i < KEPT; i++)
		gap(0, 100000 * i, 100000 * i + 5000);
	gap(1, 200, 5000);
	gap(1, 100000 * (KEPT - 1), 100000 * (KEPT - 1) + 4800);
	gap(0, 100000 * KEPT, 100000 * KEPT + 5000);
	gap(0, 100000 * (KEPT + 1), 100000 * (KEPT + 1) + 5000);
	gap(2, 100000 + 200, 105000); /* is forgotten */
	gap(2, 200000 + 300, 205000);
	finish("other 1275000 in 255, simultaneous 15000 in 3", "simultaneous 9600 in 2",
	       "other 4800 in 1, simultaneous 4700 in 1");
}

/* ---- steal ---- */

static void test_base_is_not_stolen(void **state)
{
	(void)state;
	gap(0, 10000, 20000);
	outside_steal(o, 0, 77 * STEP_NS);
	assert_string_equal(said(0), "");
	outside_steal(o, 0, 77 * STEP_NS);
	assert_string_equal(said(0), "");
	outside_steal(o, 1, 78 * STEP_NS); /* another CPU's clock */
	outside_steal(o, 0, 76 * STEP_NS); /* backwards: a new base */
	assert_string_equal(said(0), "");
	outside_steal(o, 0, 77 * STEP_NS);
	finish("steal 10000 in 1", "", "");
}

static void test_longest_take_it(void **state)
{
	(void)state;
	outside_steal(o, 0, 0);
	gap(0, 1000000, 1002000);
	gap(0, 10000000, 16000000);
	gap(0, 20000000, 20003000);
	gap(0, 30000000, 37000000);
	gap(0, 50000000, 50004000);
	outside_steal(o, 0, STEP_NS);
	/* 7 ms, 6 ms; then nothing is left of it. */
	assert_string_equal(said(0), "steal 13000000 in 2, other 9000 in 3");
	gap(0, 60000000, 60005000);
	finish("steal 13000000 in 2, other 14000 in 4", "", "");
}

static void test_several_steps(void **state)
{
	(void)state;
	outside_steal(o, 0, STEP_NS);
	outside_steal(o, 0, 2 * STEP_NS); /* nothing waits: this step is not kept for later gaps */
	gap(0, 10000000, 14000000);
	outside_steal(o, 0, 2 * STEP_NS);
	assert_string_equal(said(0), "");
	outside_steal(o, 0, 4 * STEP_NS);
	assert_string_equal(said(0), "steal 4000000 in 1");
	gap(0, 20000000, 50000000);
	gap(0, 60000000, 61000000);
	outside_steal(o, 0, 5 * STEP_NS);
	finish("steal 34000000 in 2, other 1000000 in 1", "", "");
}

/* Of equally long ones the earlier take it, whatever sorts them. */
static void test_equally_long(void **state)
{
	(void)state;
	outside_steal(o, 0, 0);
	for (unsigned i = 0; i < 4; i++)
		gap(0, 10000000 * (i ^ 3), 10000000 * (i ^ 3) + 4000);
	gap(1, 20000000, 20004000);
	outside_steal(o, 0, 1); /* the first is said to be stolen, the third is simultaneous */
	finish("steal 4000 in 1, other 8000 in 2, simultaneous 4000 in 1", "simultaneous 4000 in 1", "");
}

static void test_simultaneous_before_steal(void **state)
{
	(void)state;
	outside_steal(o, 0, 0);
	gap(0, 10000000, 20000000);
	gap(1, 10000000, 20000000);
	gap(0, 30000000, 30005000);
	outside_steal(o, 0, STEP_NS);
	finish("simultaneous 10000000 in 1, other 5000 in 1", "simultaneous 10000000 in 1", "");
}

/* The shortest are decided at once when too many wait. */
static void test_more_than_are_kept(void **state)
{
	(void)state;
	outside_steal(o, 0, 0);
	for (unsigned i = 0; i < KEPT; i++)
		gap(0, 1000000 * i, 1000000 * i + 3000 + i);
	assert_string_equal(said(0), "");
	gap(0, 900000000, 900003000); /* no longer than the shortest */
	assert_string_equal(said(0), "other 3000 in 1");
	gap(0, 910000000, 910009000); /* instead of the shortest */
	assert_string_equal(said(0), "other 6000 in 2");
	gap(0, 920000000, 920003001);
	assert_string_equal(said(0), "other 9001 in 3");
	outside_steal(o, 0, STEP_NS); /* enough for all */
	finish("other 9001 in 3, steal 806640 in 256", "", "");
}

/* ---- all of it ---- */

static uint64_t below(uint64_t n)
{
	return (uint64_t)random() % n;
}

static void test_totals(void **state)
{
	uint64_t clock[COUNT(cpus)] = {0}, steal[COUNT(cpus)] = {0};

	(void)state;
	srandom(5);
	for (unsigned i = 0; i < 4000; i++) {
		uint32_t cpu = (uint32_t)below(COUNT(cpus));

		for (unsigned batch = (unsigned)below(20); batch; batch--) {
			uint64_t start = clock[cpu] + below(20000), ns = 1 + below(below(2) ? 4000 : 100000);

			clock[cpu] = start + ns;
			add(cpu, start, clock[cpu], 1 + below(ns));
		}
		if (!below(30))
			outside_steal(o, cpu, steal[cpu] += below(3) * STEP_NS / 10);
	}
	outside_finish(o);
	check_totals();
	for (uint32_t cpu = 0; cpu < COUNT(cpus); cpu++)
		assert_int_equal(s.cpu[cpu].sources.count, 3); /* each verdict came */
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_nothing),
		TEST(test_waits_until_decided),
		TEST(test_pairs),
		TEST(test_three),
		TEST(test_not_with_itself),
		TEST(test_mostly_something_else),
		TEST(test_late),
		TEST(test_base_is_not_stolen),
		TEST(test_longest_take_it),
		TEST(test_several_steps),
		TEST(test_equally_long),
		TEST(test_simultaneous_before_steal),
		TEST(test_more_than_are_kept),
		TEST(test_totals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
