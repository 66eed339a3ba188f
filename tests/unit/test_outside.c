/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time outside the kernel: the verdict of each gap, and that every nanosecond gets one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../world/world.h"
#include "model/outside.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define KEPT         512 /* gaps a CPU that wait */
#define RECENT       256 /* gaps a CPU that another's may coincide with */
#define STEP_NS      10000000
#define OLD_NS       30000000000
#define FEW          3
#define MANY         64

static struct view s;
static struct outside *o;
static uint64_t added_ns[MANY], added[MANY];

static int begin_with(uint32_t ncpus)
{
	unsigned cpus[MANY];

	memset(added, 0, sizeof(added));
	memset(added_ns, 0, sizeof(added_ns));
	for (uint32_t i = 0; i < ncpus; i++)
		cpus[i] = 2 * i + 1;
	world_view(&s, "", cpus, ncpus);
	strcpy(s.run.rest, "other");
	o = outside_new(&s, WORD_REST);
	return o ? 0 : -1;
}

static int begin(void **state)
{
	(void)state;
	return begin_with(FEW);
}

static int begin_many(void **state)
{
	(void)state;
	return begin_with(MANY);
}

static int end(void **state)
{
	(void)state;
	outside_free(o);
	view_free(&s);
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
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s %llu in %llu",
				       i ? ", " : "", row->name, (unsigned long long)row->net.sum,
				       (unsigned long long)row->net.count);
	}
	return text;
}

static void check_totals(void)
{
	for (uint32_t cpu = 0; cpu < s.ncpus; cpu++) {
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

/* Compares what each CPU has after all is decided. */
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
	gap(2, 90000, 96000);
	assert_string_equal(said(0), "");
	assert_string_equal(said(2), "");
	finish("other 5000 in 1", "", "other 6000 in 1");
}

/* ---- simultaneous ---- */

struct pair {
	const char *what;
	uint64_t a, a_end, b, b_end;
	bool simultaneous;
};

/* 10000 and longer ones may differ by 1500, 100000 and longer ones by 6000. */
static const struct pair pairs[] = {
	{"the same", 10000, 20000, 10000, 20000, true},
	{"apart", 10000, 20000, 30000, 40000, false},
	{"they touch", 10000, 20000, 20000, 30000, false},
	{"half of each", 10000, 20000, 15000, 25000, false},
	{"a little later", 10000, 20000, 11500, 21500, true},
	{"a little too late", 10000, 20000, 11501, 21501, false},
	{"begins a little earlier", 10000, 20000, 8500, 20000, true},
	{"begins too early", 10000, 20000, 8499, 20000, false},
	{"ends a little later", 10000, 20000, 10000, 21500, true},
	{"ends too late", 10000, 20000, 10000, 21501, false},
	{"one in the other, most of it", 10000, 20000, 11000, 19000, true},
	{"one in the other, more than half of it", 10000, 20000, 12000, 18000, false},
	{"a short one in a long one", 10000, 100000, 50000, 56000, false},
	{"a short one as a long one begins", 10000, 100000, 10000, 16000, false},
	{"a short one as a long one ends", 10000, 100000, 94000, 100000, false},
	{"long ones, a little later", 100000, 200000, 106000, 206000, true},
	{"long ones, a little too late", 100000, 200000, 106001, 206001, false},
	{"long ones, the shorter counts", 100000, 200000, 100000, 206000, true},
	{"long ones, the shorter counts, too late", 100000, 200000, 100000, 206001, false},
	{"both just long enough", 10000, 15000, 10000, 15000, true},
	{"one too short", 10000, 15000, 10000, 14999, false},
};

static void test_pairs(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2 * COUNT(pairs); i++) {
		const struct pair *p = &pairs[i / 2];
		uint64_t shift = i * 1000000;
		unsigned was = s.cpu[0].sources.count ? (unsigned)s.cpu[0].sources.row[0]->net.count
						      : 0,
			 is;

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
	gap(1, 51000,
	    61000); /* coincides with the first and with the third, which do not coincide */
	gap(2, 52000, 62000);
	gap(0, 90000, 95000);
	finish("simultaneous 20000 in 2, other 5000 in 1", "simultaneous 20000 in 2",
	       "simultaneous 20000 in 2");
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
	add(0, 10000, 30000, 9999);
	add(1, 10000, 30000, 10000);
	add(2, 10000, 30000, 19000);
	assert_string_equal(said(0), "other 9999 in 1"); /* at once */
	finish("other 9999 in 1", "simultaneous 10000 in 1", "simultaneous 19000 in 1");
}

/* The batches come CPU by CPU: the other CPU's gap may be some hundred gaps ago, no more. */
static void test_late(void **state)
{
	(void)state;
	for (unsigned i = 0; i < RECENT; i++)
		gap(0, 100000 * i, 100000 * i + 6000);
	gap(1, 200, 6000);
	gap(1, 100000 * (RECENT - 1), 100000 * (RECENT - 1) + 5800);
	gap(0, 100000 * RECENT, 100000 * RECENT + 6000);
	gap(0, 100000 * (RECENT + 1), 100000 * (RECENT + 1) + 6000);
	gap(2, 100000 + 200, 106000); /* is forgotten */
	gap(2, 200000 + 300, 206000);
	finish("simultaneous 18000 in 3, other 1530000 in 255", "simultaneous 11600 in 2",
	       "other 5800 in 1, simultaneous 5700 in 1");
}

/* ---- many CPUs ---- */

static uint64_t below(uint64_t n)
{
	return (uint64_t)random() % n;
}

static uint64_t said_to_be(uint32_t cpu, const char *verdict)
{
	for (uint32_t i = 0; i < s.cpu[cpu].sources.count; i++)
		if (!strcmp(s.cpu[cpu].sources.row[i]->name, verdict))
			return s.cpu[cpu].sources.row[i]->net.count;
	return 0;
}

/* Each CPU's gaps come and go by themselves; they are read every 10 ms, CPU by CPU. */
static void test_chance(void **state)
{
	uint64_t next[MANY], simultaneous = 0, all = 0;
	clock_t began = clock();

	(void)state;
	srandom(64);
	for (uint32_t cpu = 0; cpu < MANY; cpu++)
		next[cpu] = below(2 * 994000);
	for (uint64_t now = 10000000; now <= 2000000000; now += 10000000)
		for (uint32_t cpu = 0; cpu < MANY; cpu++)
			for (; next[cpu] + 6000 <= now; next[cpu] += 6000 + below(2 * 994000))
				gap(cpu, next[cpu], next[cpu] + 6000);
	outside_finish(o);
	check_totals();
	for (uint32_t cpu = 0; cpu < MANY; cpu++) {
		simultaneous += said_to_be(cpu, "simultaneous");
		all += added[cpu];
	}
	assert_in_range(all, 126000, 130000);
	assert_true(simultaneous * 1000 < all);
	assert_true(clock() - began < CLOCKS_PER_SEC);
}

/* Now and then all stop at once, for 6 us to 1 ms; no CPU sees quite the same of it. */
static void test_all_at_once(void **state)
{
	uint64_t start[10], end[10], now = 0;

	(void)state;
	srandom(65);
	for (unsigned batch = 0; batch < 20; batch++) {
		for (unsigned i = 0; i < COUNT(start); i++) {
			start[i] = now + 2000 + below(1000000);
			end[i] = start[i] + 6000 + below(994000);
			now = end[i];
		}
		for (uint32_t cpu = 0; cpu < MANY; cpu++)
			for (unsigned i = 0; i < COUNT(start); i++)
				gap(cpu, start[i] + below(800), end[i] + below(800));
	}
	outside_finish(o);
	check_totals();
	for (uint32_t cpu = 0; cpu < MANY; cpu++)
		assert_int_equal(said_to_be(cpu, "simultaneous"), 200);
}

/* A quarter of the other CPUs must be away, too. */
static void test_quarter(void **state)
{
	(void)state;
	for (uint32_t cpu = 0; cpu < MANY / 4; cpu++) /* each with 15 others */
		gap(cpu, 10000, 20000);
	for (uint32_t cpu = 0; cpu <= MANY / 4; cpu++) /* with 16 */
		gap(MANY - 1 - cpu, 100000, 110000);
	outside_finish(o);
	check_totals();
	for (uint32_t cpu = 0; cpu < MANY / 4; cpu++)
		assert_string_equal(said(cpu), "other 10000 in 1");
	for (uint32_t cpu = 0; cpu <= MANY / 4; cpu++)
		assert_string_equal(said(MANY - 1 - cpu), "simultaneous 10000 in 1");
}

/* A file's, of a workload whose windows overlap: a CPU is one CPU, however often it says so. */
static void test_overlapping(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MANY / 4; i++)
		gap(1, 10000, 20000);
	gap(0, 10000, 20000);
	for (uint32_t cpu = 2; cpu < 2 + MANY / 4; cpu++) {
		gap(cpu, 100000, 900000);
		gap(cpu, 100000, 110000);
		gap(cpu, 200000, 210000); /* in the first, still */
	}
	gap(0, 200000, 210000);
	outside_finish(o);
	check_totals();
	assert_string_equal(said(0), "other 20000 in 2");
	assert_string_equal(said(1), "other 160000 in 16");
}

/* Time of 20,000 gaps of one CPU, where each of the others has two of its own, earlier and later.
 */
static clock_t one_of(uint32_t ncpus)
{
	unsigned *cpus = malloc(ncpus * sizeof(*cpus));
	clock_t took;

	assert_non_null(cpus);
	for (uint32_t i = 0; i < ncpus; i++)
		cpus[i] = i;
	world_view(&s, "", cpus, ncpus);
	free(cpus);
	strcpy(s.run.rest, "other");
	o = outside_new(&s, WORD_REST);
	assert_non_null(o);
	for (uint32_t i = 1; i < ncpus; i++) {
		outside_add(o, i, 1000000, 1006000, 6000);
		outside_add(o, i, 9000000000 + 10000 * i, 9000006000 + 10000 * i, 6000);
	}
	took = clock();
	for (uint64_t i = 0; i < 20000; i++)
		outside_add(o, 0, 10000000 + 10000 * i, 10006000 + 10000 * i, 6000);
	took = clock() - took;
	outside_finish(o);
	assert_string_equal(said(0), "other 120000000 in 20000");
	assert_int_equal(said_to_be(ncpus - 1, "simultaneous"), 1);
	assert_int_equal(said_to_be(ncpus - 1, "other"), 1);
	return took;
}

/* A gap is not compared with each of the CPUs. */
static void test_one_of_very_many(void **state)
{
	clock_t few = one_of(MANY), many;

	end(state);
	many = one_of(CPUS_MAX);
	assert_true(many < 10 * few);
}

/* The evidence comes late for the first CPUs, and much longer gaps are kept: it counts all the
 * same. */
static void test_all_at_once_after_many(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < KEPT + 100; i++)
		for (uint32_t cpu = 0; cpu < MANY; cpu++)
			gap(cpu, 10000000 * i + 100000 * cpu, 10000000 * i + 100000 * cpu + 50000);
	for (uint32_t cpu = 0; cpu < MANY; cpu++)
		gap(cpu, 9000000000, 9000006000);
	for (uint32_t cpu = 0; cpu < MANY; cpu++)
		gap(cpu, 9000010000 + 100000 * cpu, 9000060000 + 100000 * cpu);
	outside_finish(o);
	check_totals();
	for (uint32_t cpu = 0; cpu < MANY; cpu++)
		assert_int_equal(said_to_be(cpu, "simultaneous"), 1);
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
	gap(0, 1000000, 1005000);
	gap(0, 10000000, 16000000);
	gap(0, 20000000, 20007000);
	gap(0, 30000000, 37000000);
	gap(0, 50000000, 50009000);
	outside_steal(o, 0, STEP_NS);
	/* 7 ms, 6 ms; then nothing is left of it. */
	assert_string_equal(said(0), "steal 13000000 in 2, other 21000 in 3");
	gap(0, 60000000, 60005000);
	finish("steal 13000000 in 2, other 26000 in 4", "", "");
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
	gap(0, 20000000,
	    40000000); /* one step more than the clock has made since: it may have begun before */
	gap(0, 60000000, 61000000);
	outside_steal(o, 0, 5 * STEP_NS);
	finish("steal 24000000 in 2, other 1000000 in 1", "", "");
}

/* Time that the hypervisor did not count was something else. */
static void test_much_longer_than_stolen(void **state)
{
	(void)state;
	outside_steal(o, 0, 0);
	gap(0, 10000000, 30000001);
	gap(0, 40000000, 41000000);
	outside_steal(o, 0, STEP_NS);
	assert_string_equal(said(0), "other 20000001 in 1, steal 1000000 in 1");
	gap(0, 100000000, 125000000);
	gap(0, 200000000, 215000001); /* 5 ms are left, and a step */
	gap(0, 300000000, 315000000);
	outside_steal(o, 0, 4 * STEP_NS);
	finish("other 35000002 in 2, steal 41000000 in 3", "", "");
}

static void test_old(void **state)
{
	(void)state;
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		uint64_t first = 1000000000 * (cpu + 1), later = first + OLD_NS + (cpu ? 0 : 1);

		outside_steal(o, cpu, 0);
		gap(cpu, first, first + 10000000);
		gap(cpu, later - 5000000, later + 1000000);
		gap(cpu, later + 5000000,
		    later + 10000000); /* 30 s after the first, to the ns on the second CPU */
		outside_steal(o, cpu, STEP_NS);
	}
	finish("other 10000000 in 1, steal 11000000 in 2",
	       "steal 10000000 in 1, other 11000000 in 2", "");
}

/* The earlier of equally long gaps take it, however they are sorted: the newest is in the place of
 * one that had to go. */
static void test_equally_long(void **state)
{
	(void)state;
	outside_steal(o, 0, 0);
	gap(1, 10000000, 10006000);
	gap(0, 1000000, 1005000);
	for (uint64_t i = 1; i <= KEPT; i++)
		gap(0, 10000000 * i, 10000000 * i + 6000);
	assert_string_equal(said(0), "other 5000 in 1");
	outside_steal(o, 0, 1); /* the first, which is simultaneous, takes it */
	finish("other 3071000 in 512, simultaneous 6000 in 1", "simultaneous 6000 in 1", "");
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

/* The shortest are decided when too many wait, but not the newest: another CPU's may still
 * coincide. */
static void test_more_than_are_kept(void **state)
{
	uint64_t now = 0;

	(void)state;
	outside_steal(o, 0, 0);
	for (unsigned i = 0; i < KEPT; i++, now += 1000000)
		gap(0, now, now + 5000 + i);
	assert_string_equal(said(0), "");
	gap(0, now, now + 5000); /* no longer than the shortest */
	assert_string_equal(said(0), "other 5000 in 1");
	for (unsigned i = 0; i < RECENT - 1; i++) {
		now += 1000000;
		gap(0, now, now + 10000);
	}
	assert_string_equal(said(0), "other 1312640 in 256"); /* 5000 to 5255 */
	now += 1000000;
	gap(0, now, now + 10000);
	assert_string_equal(said(0), "other 1317640 in 257"); /* the short one is new no more */
	outside_steal(o, 0, STEP_NS);                         /* enough for all */
	finish("other 1317640 in 257, steal 3938176 in 512", "", "");
}

/* ---- all of it ---- */

static void test_totals(void **state)
{
	uint64_t clock[FEW] = {0}, steal[FEW] = {0};

	(void)state;
	srandom(5);
	for (unsigned i = 0; i < 4000; i++) {
		uint32_t cpu = (uint32_t)below(FEW);

		for (unsigned batch = (unsigned)below(20); batch; batch--) {
			uint64_t start = clock[cpu] + below(20000),
				 ns = 1 + below(below(2) ? 4000 : 100000);

			clock[cpu] = start + ns;
			add(cpu, start, clock[cpu], 1 + below(ns));
		}
		if (!below(30))
			outside_steal(o, cpu, steal[cpu] += below(3) * STEP_NS / 10);
	}
	outside_finish(o);
	check_totals();
	for (uint32_t cpu = 0; cpu < FEW; cpu++)
		assert_int_equal(s.cpu[cpu].sources.count, 3); /* each verdict came */
}

#define TEST(f)      cmocka_unit_test_setup_teardown(f, begin, end)
#define TEST_MANY(f) cmocka_unit_test_setup_teardown(f, begin_many, end)

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
		TEST_MANY(test_chance),
		TEST_MANY(test_all_at_once),
		TEST_MANY(test_quarter),
		TEST_MANY(test_overlapping),
		TEST_MANY(test_all_at_once_after_many),
		cmocka_unit_test_teardown(test_one_of_very_many, end),
		TEST(test_base_is_not_stolen),
		TEST(test_longest_take_it),
		TEST(test_several_steps),
		TEST(test_much_longer_than_stolen),
		TEST(test_old),
		TEST(test_equally_long),
		TEST(test_simultaneous_before_steal),
		TEST(test_more_than_are_kept),
		TEST(test_totals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
