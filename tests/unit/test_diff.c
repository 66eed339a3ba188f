/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diff: what is paired with what, verdicts on equal runs and on runs with one known noise more, and
 * intervals that cover the truth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "model/diff.h"
#include "../world/made.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const unsigned one_cpu[] = {3}, other_cpu[] = {5}, two_cpus[] = {2, 3};
static struct view a, b, c;
static struct diff d;

static void make(void)
{
	static const struct view *const views[] = {&a, &b}; /* outlives the diff */

	assert_int_equal(diff_of(&d, views, 2, 1), 0);
}

static int end(void **state)
{
	(void)state;
	diff_free(&d);
	view_free(&a);
	view_free(&b);
	view_free(&c);
	memset(&c, 0, sizeof(c));
	return 0;
}

static const struct diff_row *find(enum source_kind kind, const char *name, const char *function)
{
	for (uint32_t i = 0; i < d.rows; i++) {
		const struct diff_row *r = &d.row[i];

		if (r->kind == kind && !strcmp(r->name, name) &&
		    !strcmp(r->function ? r->function : "", function))
			return r;
	}
	fail_msg("no row %s > %s", name, function);
	return NULL;
}

static void check_verdict(enum diff_verdict got, enum diff_verdict want)
{
	assert_string_equal(diff_verdict_name(got), diff_verdict_name(want));
}

static void check_near(double got, double want, double by)
{
	if (!(fabs(got - want) <= by * fabs(want)))
		fail_msg("got %.9g, want %.9g", got, want);
}

/* ---- names ---- */

static void test_names(void **state)
{
	static const struct {
		enum source_kind kind;
		uint32_t id;
		const char *name, *kept, *gone;
	} rows[] = {
		{SOURCE_THREAD, 812, "kworker/3:1", "kworker/3:*", "kworker/*:*"},
		{SOURCE_THREAD, 812, "kworker/3:12H", "kworker/3:*H", "kworker/*:*H"},
		{SOURCE_THREAD, 812, "kworker/u8:2", "kworker/u*:*", "kworker/u*:*"},
		{SOURCE_THREAD, 812, "kworker/u129:0H", "kworker/u*:*H", "kworker/u*:*H"},
		{SOURCE_THREAD, 812, "kworker/R-rcu_g", "kworker/R-rcu_g", "kworker/R-rcu_g"},
		{SOURCE_THREAD, 812, "kworker/x", "kworker/x", "kworker/x"},
		{SOURCE_THREAD, 28, "ksoftirqd/3", "ksoftirqd/3", "ksoftirqd/*"},
		{SOURCE_THREAD, 28, "rcuop/12", "rcuop/12", "rcuop/*"},
		{SOURCE_THREAD, 28, "a/b", "a/b", "a/b"},
		{SOURCE_THREAD, 28, "a/1b", "a/1b", "a/1b"},
		{SOURCE_THREAD, 28, "a/", "a/", "a/"},
		{SOURCE_THREAD, 99, "irq/36-virtio1", "irq/*-virtio1", "irq/*-virtio1"},
		{SOURCE_THREAD, 99, "irq/x", "irq/x", "irq/x"},
		{SOURCE_THREAD, 99, "vhost-4711", "vhost-*", "vhost-*"},
		{SOURCE_THREAD, 99, "vhost-", "vhost-", "vhost-"},
		{SOURCE_THREAD, 99, "poke4", "poke4", "poke4"},
		{SOURCE_THREAD, 99, "", "", ""},
		{SOURCE_IRQ, 36, "virtio1-req.0", "virtio1-req.0", "virtio1-req.0"},
		{SOURCE_IRQ, 36, "x/3", "x/3", "x/3"}, /* no CPU's number */
		{SOURCE_IRQ, 36, "", "36", "36"},
		{SOURCE_SOFTIRQ, 1, "TIMER", "TIMER", "TIMER"},
	};
	char name[DIFF_NAME];

	(void)state;
	for (unsigned i = 0; i < COUNT(rows); i++) {
		struct source s = {.kind = rows[i].kind, .id = rows[i].id};

		strcpy(s.name, rows[i].name);
		diff_name(&s, true, name);
		assert_string_equal(name, rows[i].kept);
		diff_name(&s, false, name);
		assert_string_equal(name, rows[i].gone);
	}
}

static void test_paired(void **state)
{
	const struct diff_row *r;

	(void)state;
	run_init(&a, two_cpus, 2, 10);
	run_init(&b, two_cpus, 2, 5);
	run_add(&a, 0, 1, SOURCE_THREAD, 812, "kworker/3:1", "vmstat_update", 1000);
	run_add(&a, 1, 2, SOURCE_THREAD, 813, "kworker/3:2", "vmstat_update", 3000);
	run_add(&b, 1, 2, SOURCE_THREAD, 99, "kworker/3:0", "vmstat_update", 7000);
	run_add(&b, 1, 3, SOURCE_THREAD, 99, "kworker/3:0", NULL, 500);
	run_add(&a, 0, 4, SOURCE_IRQ, 36, "eth0", "handler.isra.0", 2000);
	run_add(&b, 0, 4, SOURCE_IRQ, 41, "eth0", "handler", 2000);
	run_add(&a, 0, 4.1, SOURCE_IRQ, 37, "eth0", "handler.other", 2000);
	run_add(&b, 0, 4.1, SOURCE_IRQ, 42, "eth0", "handler.constprop.0.cold", 2000);
	run_add(&a, 0, 5, SOURCE_THREAD, 20, "ksoftirqd/2", NULL, 600);
	run_add(&b, 1, 5, SOURCE_THREAD, 21, "ksoftirqd/3", NULL, 600);
	make();
	assert_true(d.same_cpus);
	assert_int_equal(d.rows, 6);
	r = find(SOURCE_THREAD, "kworker/3:*", "vmstat_update");
	assert_int_equal(r->cell[0].count, 2);
	assert_int_equal(r->cell[0].total_ns, 4000);
	assert_int_equal(r->cell[1].count, 1);
	check_near(r->cell[0].ns_per_s, 4000 / 20.0, 1e-12); /* two CPUs, ten seconds */
	check_near(r->cell[1].ns_per_s, 700, 1e-12);
	check_near(r->cell[1].time_ratio.value, 3.5, 1e-12);
	check_near(r->cell[1].count_ratio.value, 1, 1e-12);
	check_verdict(r->cell[1].verdict, DIFF_SAME);
	assert_ptr_equal(r, &d.row[0]); /* the source that changed most */
	assert_int_equal(find(SOURCE_IRQ, "eth0", "handler")->cell[0].count, 1);
	assert_int_equal(find(SOURCE_IRQ, "eth0", "handler")->cell[1].count, 2);
	assert_int_equal(find(SOURCE_IRQ, "eth0", "handler.other")->cell[1].count, 0);
	find(SOURCE_THREAD, "ksoftirqd/2", "");
	assert_int_equal(find(SOURCE_THREAD, "ksoftirqd/3", "")->cell[0].count, 0);
	assert_int_equal(d.total[0].count, 5);
	assert_int_equal(d.total[0].total_ns, 8600);
	assert_int_equal(d.total[0].max_ns, 3000);
}

/* A kernel thread is not a thread that bears its name; a function that ran second in its
 * interruptions ran, but interrupted nobody. */
static void test_fakes_and_runs(void **state)
{
	struct sources *t;
	uint32_t row;

	(void)state;
	run_init(&a, two_cpus, 2, 10);
	run_init(&b, two_cpus, 2, 10);
	run_add(&a, 0, 1, SOURCE_THREAD, 812, "kworker/3:1", NULL, 1000);
	run_add(&b, 0, 1, SOURCE_THREAD, 812, "kworker/3:1", NULL, 1000);
	t = &b.cpu[1].sources;
	row = sources_find_key(
		t, &(struct source_key){SOURCE_THREAD, 812, "kworker/3:1", NULL, true, 812});
	source_add(t->row[row], 5000, true);
	row = sources_find(t, SOURCE_SOFTIRQ, 1, "TIMER", "second");
	source_add(t->row[row], 300, false);
	source_add(t->row[row], 400, false);
	make();
	assert_int_equal(d.rows, 3);
	for (uint32_t i = 0; i < d.rows; i++)
		if (d.row[i].kind == SOURCE_THREAD) {
			assert_string_equal(d.row[i].name, "kworker/3:*");
			assert_int_equal(d.row[i].cell[0].total_ns,
					 d.row[i].kernel_thread ? 0 : 1000);
			assert_int_equal(d.row[i].cell[1].total_ns,
					 d.row[i].kernel_thread ? 5000 : 1000);
		}
	assert_int_equal(find(SOURCE_SOFTIRQ, "TIMER", "second")->cell[1].count, 0);
	assert_int_equal(find(SOURCE_SOFTIRQ, "TIMER", "second")->cell[1].runs, 2);
}

static void test_other_cpus(void **state)
{
	(void)state;
	run_init(&a, one_cpu, 1, 10);
	run_init(&b, other_cpu, 1, 10);
	run_add(&a, 0, 5, SOURCE_THREAD, 20, "ksoftirqd/3", NULL, 600);
	run_add(&b, 0, 5, SOURCE_THREAD, 21, "ksoftirqd/5", NULL, 600);
	make();
	assert_false(d.same_cpus);
	assert_int_equal(d.rows, 1);
	assert_int_equal(find(SOURCE_THREAD, "ksoftirqd/*", "")->cell[1].count, 1);
	diff_free(&d);
	/* the number of a watched thread's lane is no CPU's */
	a.run.watch = b.run.watch = true;
	a.cpu[0].number = b.cpu[0].number = 0;
	make();
	assert_false(d.same_cpus);
}

/* ---- verdicts ---- */

/* A machine as usual: a tick, a few bursts of network traffic, workers, and unexplained time. */
static void make_machine(struct view *v, double seconds)
{
	run_init(v, two_cpus, 2, seconds);
	for (uint32_t i = 0; i < 2; i++) {
		for (double at = 0.001; at < seconds; at += 0.004)
			run_add(v, i, at, SOURCE_VECTOR, 236, "local_timer", "tick_nohz_handler",
				2000 + 500 * uniform());
		run_noise(v, i, 100, 50, SOURCE_SOFTIRQ, 3, "NET_RX", NULL, 8000);
		run_noise(v, i, 3, 1, SOURCE_THREAD, 800 + i, i ? "kworker/3:1" : "kworker/2:1",
			  "vmstat_update", 6000);
		run_noise(v, i, 1, 1, SOURCE_THREAD, 15, "rcu_preempt", NULL, 50000);
		run_noise(v, i, 400, 1, SOURCE_OUTSIDE, 0, "hardware or hypervisor", NULL, 5000);
	}
}

static unsigned not_same(void)
{
	unsigned n = d.total[1].verdict != DIFF_SAME;

	for (uint32_t i = 0; i < d.rows; i++)
		n += d.row[i].cell[1].verdict != DIFF_SAME;
	return n;
}

/* One of twenty pairs of equal settings may have a verdict on its sources, and one on the whole. */
static void test_same(void **state)
{
	unsigned wrong = 0;

	(void)state;
	seed = 1;
	for (unsigned i = 0; i < 40; i++) {
		make_machine(&a, 10);
		make_machine(&b, i % 2 ? 10 : 4);
		make();
		wrong += !!not_same();
		end(NULL);
	}
	if (wrong > 4)
		fail_msg("%u of 40 pairs of equal settings differ", wrong);
}

/* Three of sixty sources would differ by chance at 95 % each: over all it must be one pair in
 * twenty. */
static void test_many_sources(void **state)
{
	unsigned wrong = 0;

	(void)state;
	seed = 7;
	for (unsigned i = 0; i < 40; i++) {
		run_init(&a, one_cpu, 1, 10);
		run_init(&b, one_cpu, 1, 10);
		for (unsigned k = 0; k < 60; k++) {
			char name[16];

			snprintf(name, sizeof(name), "thread %u", k);
			run_noise(&a, 0, 4, 1, SOURCE_THREAD, k, name, NULL, 50000);
			run_noise(&b, 0, 4, 1, SOURCE_THREAD, k, name, NULL, 50000);
		}
		make();
		wrong += not_same() - (d.total[1].verdict != DIFF_SAME) > 0;
		end(NULL);
	}
	if (wrong > 4)
		fail_msg("%u of 40 pairs of equal settings have sources that differ", wrong);
}

static void check_change(const char *name, double ns_per_s, enum diff_verdict want)
{
	const struct diff_row *r = find(SOURCE_THREAD, name, "");

	check_verdict(r->cell[1].verdict, want);
	check_near(r->cell[1].ns_per_s - r->cell[0].ns_per_s, ns_per_s, 0.25);
	assert_ptr_equal(r, &d.row[0]);
}

/* 2 ms a second more, on both CPUs. */
static void test_new(void **state)
{
	const struct diff_row *r;

	(void)state;
	seed = 2;
	make_machine(&a, 10);
	make_machine(&b, 10);
	for (uint32_t i = 0; i < 2; i++)
		run_noise(&b, i, 20, 1, SOURCE_THREAD, 4711, "poke", NULL, 100000);
	make();
	check_change("poke", 2e6, DIFF_NEW);
	r = &d.row[0];
	assert_true(isinf(r->cell[1].time_ratio.value) && isinf(r->cell[1].time_ratio.high));
	assert_true(r->cell[1].count_ratio.low > 1);
	check_verdict(d.total[1].verdict, DIFF_WORSE);
	check_near(d.total[1].ns_per_s - d.total[0].ns_per_s, 2e6, 0.3);
	assert_int_equal(not_same(), 2);
	assert_true(diff_worse_by(&d, 1, 20));
	assert_false(diff_worse_by(&d, 1, 400));
}

static void test_gone(void **state)
{
	(void)state;
	seed = 3;
	make_machine(&a, 10);
	make_machine(&b, 10);
	run_noise(&a, 0, 40, 1, SOURCE_THREAD, 4711, "poke", NULL, 100000);
	make();
	check_change("poke", -2e6, DIFF_GONE);
	assert_true(d.row[0].cell[1].time_ratio.value == 0 &&
		    d.row[0].cell[1].count_ratio.high < 1);
	check_verdict(d.total[1].verdict, DIFF_BETTER);
	assert_false(diff_worse_by(&d, 1, 0.1));
}

static void test_more_and_less(void **state)
{
	(void)state;
	seed = 4;
	make_machine(&a, 10);
	make_machine(&b, 20);
	run_noise(&a, 0, 40, 1, SOURCE_THREAD, 4711, "poke", NULL, 50000);
	run_noise(&b, 0, 40, 1, SOURCE_THREAD, 4712, "poke", NULL, 100000);
	make();
	check_change("poke", 1e6, DIFF_WORSE);
	diff_free(&d);
	c = a;
	a = b;
	b = c;
	memset(&c, 0, sizeof(c));
	make();
	check_change("poke", -1e6, DIFF_BETTER);
}

static bool is_asked(void *name, const struct view *v, const struct source *s)
{
	(void)v;
	return !strncmp(s->name, name, strlen(name));
}

static void check_asked(char *name, enum diff_verdict verdict)
{
	struct diff_cell cell[DIFF_FILES];

	assert_int_equal(diff_together(&d, is_asked, name, cell), 0);
	check_verdict(cell[1].verdict, verdict);
	assert_true(cell[1].lacking == (verdict == DIFF_UNCLEAR));
}

/* Hiccups and records that are missing make a source less, and records what is in none more,
 * whatever chance says. */
static void test_lost_records(void **state)
{
	static const struct {
		unsigned lossy; /* sides, as bits */
		bool of_hiccups;
		enum diff_verdict more, less, outside, ended; /* ended: outside, in the first */
	} all[] = {{0, false, DIFF_WORSE, DIFF_BETTER, DIFF_NEW, DIFF_GONE},
		   {1, false, DIFF_UNCLEAR, DIFF_BETTER, DIFF_NEW, DIFF_UNCLEAR},
		   {1, true, DIFF_UNCLEAR, DIFF_BETTER, DIFF_UNCLEAR, DIFF_GONE},
		   {2, false, DIFF_WORSE, DIFF_UNCLEAR, DIFF_UNCLEAR, DIFF_GONE},
		   {2, true, DIFF_WORSE, DIFF_UNCLEAR, DIFF_NEW, DIFF_UNCLEAR},
		   {3, false, DIFF_UNCLEAR, DIFF_UNCLEAR, DIFF_UNCLEAR, DIFF_UNCLEAR}};

	(void)state;
	for (size_t i = 0; i < COUNT(all); i++)
		for (unsigned least = 0; least < 2; least++) {
			bool cap = all[i].lossy && !least; /* 1 % alone tells nothing */

			seed = 4;
			make_machine(&a, 10);
			make_machine(&b, 10);
			run_noise(&a, 0, 40, 1, SOURCE_THREAD, 4711, "more", NULL, 50000);
			run_noise(&b, 0, 40, 1, SOURCE_THREAD, 4711, "more", NULL, 200000);
			run_noise(&a, 0, 40, 1, SOURCE_THREAD, 4712, "less", NULL, 200000);
			run_noise(&b, 0, 40, 1, SOURCE_THREAD, 4712, "less", NULL, 50000);
			run_noise(&b, 0, 40, 1, SOURCE_OUTSIDE, 0, "smi", NULL, 300000);
			run_noise(&a, 0, 40, 1, SOURCE_OUTSIDE, 1, "stop", NULL, 300000);
			for (unsigned k = 0; k < 2; k++) {
				struct cpu *cpu = k ? &b.cpu[0] : &a.cpu[0];
				bool lossy = all[i].lossy >> k & 1;

				cpu->counts.seen = 9900;
				cpu->counts.lost = !lossy || all[i].of_hiccups ? 0 : 101 - least;
				cpu->hiccups_lost = !lossy || !all[i].of_hiccups ? 0
						    : least                      ? 1
							    : cpu->hiccups.count / 50;
			}
			make();
			check_verdict(find(SOURCE_THREAD, "more", "")->cell[1].verdict,
				      cap ? all[i].more : DIFF_WORSE);
			check_verdict(find(SOURCE_THREAD, "less", "")->cell[1].verdict,
				      cap ? all[i].less : DIFF_BETTER);
			check_verdict(find(SOURCE_OUTSIDE, "smi", "")->cell[1].verdict,
				      cap ? all[i].outside : DIFF_NEW);
			check_verdict(find(SOURCE_OUTSIDE, "stop", "")->cell[1].verdict,
				      cap ? all[i].ended : DIFF_GONE);
			assert_true(find(SOURCE_THREAD, "less", "")->cell[1].lacking ==
				    (cap && all[i].less == DIFF_UNCLEAR));
			check_asked("more", cap ? all[i].more : DIFF_WORSE);
			check_asked("less", cap ? all[i].less : DIFF_BETTER);
			check_asked("smi", cap ? all[i].outside : DIFF_NEW);
			check_asked("stop", cap ? all[i].ended : DIFF_GONE);
			end(NULL);
		}
}

/* A source that was asked about before is judged by itself: of a small one half is no less there,
 * and several are taken as one. What did not change differs as seldom as 95 % say. */
static void test_together(void **state)
{
	struct diff_cell cell[DIFF_FILES];
	unsigned wrong = 0;

	(void)state;
	seed = 11;
	make_machine(&a, 10);
	make_machine(&b, 10);
	for (unsigned i = 0; i < 400; i++) {
		run_add(&b, 0, 0.01 + 0.024 * i, SOURCE_THREAD, 2 + i % 2,
			i % 2 ? "light" : "lighter", NULL, 300);
		if (i % 8 < 2)
			run_add(&a, 0, 0.01 + 0.024 * i, SOURCE_THREAD, 2 + i % 2,
				i % 2 ? "light" : "lighter", NULL, 300);
	}
	make();
	check_verdict(find(SOURCE_THREAD, "light", "")->cell[1].verdict, DIFF_SAME);
	assert_int_equal(diff_together(&d, is_asked, "light", cell), 0);
	check_verdict(cell[1].verdict, DIFF_WORSE);
	assert_int_equal(cell[0].count, 100);
	assert_int_equal(cell[1].count, 400);
	assert_int_equal(cell[1].total_ns, 400 * 300);
	assert_int_equal(diff_together(&d, is_asked, "none", cell), 0);
	check_verdict(cell[1].verdict, DIFF_SAME);
	end(NULL);
	for (unsigned i = 0; i < 40; i++) {
		make_machine(&a, 10);
		make_machine(&b, 10);
		make();
		assert_int_equal(diff_together(&d, is_asked, "kworker/", cell), 0);
		wrong += cell[1].verdict != DIFF_SAME;
		end(NULL);
	}
	/* Binomial of 40 at 5 %: more than 11 come once in three million. The seed is fixed. */
	if (wrong > 11)
		fail_msg("%u of 40 pairs of equal settings have another kworker", wrong);
}

/* Four and none may be chance; a negligible source is no change, unless it lasts longer than nearly
 * all others, or one side has next to nothing of it: what has ended is not the same. */
static void test_chance_and_weight(void **state)
{
	(void)state;
	seed = 5;
	make_machine(&a, 10);
	make_machine(&b, 10);
	for (unsigned i = 0; i < 4; i++)
		run_add(&b, 0, 0.5 + 2.1 * i, SOURCE_THREAD, 1, "four", NULL, 2000000);
	for (unsigned i = 0; i < 40; i++)
		run_add(&b, 0, 0.01 + 0.24 * i, SOURCE_THREAD, 2, "light", NULL, 300);
	for (unsigned i = 0; i < 1000; i++) {
		if (i % 25)
			run_add(&a, 0, 0.003 + 0.0099 * i, SOURCE_THREAD, 4, "most", NULL, 30);
		if (!(i % 2))
			run_add(&a, 0, 0.004 + 0.0099 * i, SOURCE_THREAD, 5, "half", NULL, 30);
		run_add(i % 25 ? &a : &b, 0, 0.005 + 0.0099 * i, SOURCE_THREAD, 6, "nearly", NULL,
			30);
		run_add(&b, 0, 0.006 + 0.0099 * i, SOURCE_THREAD, 5, "half", NULL, 30);
	}
	for (unsigned i = 0; i < 18; i++)
		run_add(&b, 0, 0.3 + 0.52 * i, SOURCE_THREAD, 3, "long", NULL,
			i == 5 ? 300000 : 300);
	make();
	check_verdict(find(SOURCE_THREAD, "four", "")->cell[1].verdict, DIFF_SAME);
	check_verdict(find(SOURCE_THREAD, "light", "")->cell[1].verdict, DIFF_NEW);
	check_verdict(find(SOURCE_THREAD, "most", "")->cell[1].verdict, DIFF_GONE);
	check_verdict(find(SOURCE_THREAD, "nearly", "")->cell[1].verdict, DIFF_BETTER);
	check_verdict(find(SOURCE_THREAD, "half", "")->cell[1].verdict, DIFF_SAME);
	check_verdict(find(SOURCE_THREAD, "long", "")->cell[1].verdict, DIFF_NEW);
}

/* ---- intervals ---- */

static void test_covers(void **state)
{
	static const struct {
		double per_s, times;
		unsigned burst;
	} cases[] = {{0.3, 1, 1},   {1, 2, 1},    {5, 0.5, 1}, {50, 1, 1},
		     {500, 1.3, 1}, {200, 1, 40}, {60, 2, 10}};

	(void)state;
	for (unsigned i = 0; i < COUNT(cases); i++) {
		unsigned counts = 0, times = 0, pairs = 200;

		seed = 100 + i;
		for (unsigned k = 0; k < pairs; k++) {
			const struct diff_cell *cell;

			run_init(&a, one_cpu, 1, 10);
			run_init(&b, one_cpu, 1, 6);
			run_noise(&a, 0, cases[i].per_s, cases[i].burst, SOURCE_THREAD, 1, "x",
				  NULL, 7000);
			run_noise(&b, 0, cases[i].per_s * cases[i].times, cases[i].burst,
				  SOURCE_THREAD, 1, "x", NULL, 7000);
			make();
			cell = &d.total[1];
			counts += cell->count_ratio.low <= cases[i].times &&
				  cases[i].times <= cell->count_ratio.high;
			times += cell->time_ratio.low <= cases[i].times &&
				 cases[i].times <= cell->time_ratio.high;
			end(NULL);
		}
		if (counts < 0.93 * pairs || times < 0.93 * pairs)
			fail_msg("%g a second, times %g, bursts of %u: of %u intervals %u cover it "
				 "by count, %u by time",
				 cases[i].per_s, cases[i].times, cases[i].burst, pairs, counts,
				 times);
	}
}

/* ---- the rest ---- */

static void test_distributions(void **state)
{
	uint64_t sum = 0;

	(void)state;
	run_init(&a, one_cpu, 1, 10);
	run_init(&b, one_cpu, 1, 10);
	run_add(&a, 0, 1, SOURCE_IRQ, 1, "x", NULL, 100);
	run_add(&a, 0, 2, SOURCE_IRQ, 1, "x", NULL, 10000);
	run_add(&b, 0, 1, SOURCE_IRQ, 1, "x", NULL, 1000000);
	make();
	assert_int_equal(d.low_ns, 100);
	assert_int_equal(d.high_ns, 1000000);
	check_near(diff_bin_ns(&d, DIFF_BINS / 2), 10000, 1e-9);
	assert_int_equal(d.total[0].bin[0], 1);
	assert_int_equal(d.total[0].bin[DIFF_BINS / 2] + d.total[0].bin[DIFF_BINS / 2 - 1], 1);
	assert_int_equal(d.row[0].cell[1].bin[DIFF_BINS - 1], 1);
	for (unsigned i = 0; i < DIFF_BINS; i++)
		sum += d.total[0].bin[i];
	assert_int_equal(sum, 2);
}

/* Nothing happened: nothing is reported, and nothing fails. */
static void test_quiet(void **state)
{
	(void)state;
	run_init(&a, one_cpu, 1, 10);
	run_init(&b, one_cpu, 1, 10);
	make();
	assert_int_equal(d.rows, 0);
	check_verdict(d.total[1].verdict, DIFF_SAME);
	assert_false(diff_worse_by(&d, 1, 1));
}

static void test_lost_hiccups_are_lost_time(void **state)
{
	(void)state;
	run_init(&a, one_cpu, 1, 10);
	run_init(&b, one_cpu, 1, 10);
	run_noise(&a, 0, 100, 1, SOURCE_IRQ, 1, "x", NULL, 1000);
	run_noise(&b, 0, 100, 1, SOURCE_IRQ, 1, "x", NULL, 1000);
	b.cpu[0].hiccups_lost = 2000;
	b.cpu[0].hiccups_lost_ns = 2000000;
	make();
	assert_true(d.total[1].total_ns > 2500000 && d.total[1].count > 2500);
	check_verdict(d.total[1].verdict, DIFF_WORSE);
	check_verdict(d.row[0].cell[1].verdict, DIFF_SAME);
}

static void test_three(void **state)
{
	const struct view *views[] = {&a, &b, &c};

	(void)state;
	seed = 6;
	make_machine(&a, 10);
	make_machine(&b, 10);
	make_machine(&c, 10);
	run_noise(&c, 0, 40, 1, SOURCE_THREAD, 4711, "poke", NULL, 100000);
	assert_int_equal(diff_of(&d, views, 3, 1), 0);
	assert_string_equal(d.row[0].name, "poke");
	check_verdict(d.row[0].cell[1].verdict, DIFF_SAME);
	check_verdict(d.row[0].cell[2].verdict, DIFF_NEW);
	check_verdict(d.total[2].verdict, DIFF_WORSE);
}

/* Threads that may have lost anything count neither by their losses, nor by their sources or time.
 */
static void test_threads_left_out(void **state)
{
	static struct cpu *left_out;

	(void)state;
	run_init(&a, two_cpus, 2, 10);
	run_init(&b, two_cpus, 2, 10);
	a.run.watch = b.run.watch = true;
	for (int i = 0; i < 100; i++) {
		run_add(&a, 0, 0.05 + 0.1 * i, SOURCE_THREAD, 812, "make", NULL, 2000);
		run_add(&b, 0, 0.05 + 0.1 * i, SOURCE_THREAD, 812, "make", NULL, 2000);
		run_add(&b, 1, 0.05 + 0.1 * i, SOURCE_THREAD, 812, "make", NULL, 9000000);
		run_add(&b, 1, 0.06 + 0.1 * i, SOURCE_THREAD, 813, "poke", NULL, 9000000);
	}
	for (int how = 0; how < 3; how++) {
		left_out = &b.cpu[1];
		left_out->reported = how == 0;
		left_out->unpaired = how == 1;
		left_out->observed_ns = how == 2 ? 0 : 10000000000;
		make();
		assert_int_equal(diff_left_out(&a), 0);
		assert_int_equal(diff_left_out(&b), 1);
		check_near(d.seconds[1], 10, 1e-12);
		assert_int_equal(d.rows, 1);
		check_near(find(SOURCE_THREAD, "make", "")->cell[1].ns_per_s, 20000, 1e-12);
		check_near(d.total[0].ns_per_s, 10000, 1e-12);
		check_near(d.total[1].ns_per_s, 20000, 1e-12);
		check_near(d.total[1].time_ratio.value, 2, 1e-12);
		assert_int_equal(d.attributed_ns[1], 200000);
		assert_int_equal(d.total[1].max_ns, 2000);
		diff_free(&d);
	}
}

static void test_untraced(void **state)
{
	(void)state;
	make_machine(&a, 1);
	make_machine(&b, 1);
	b.run.traced = false;
	make();
	assert_int_equal(d.rows, 0);
	assert_int_equal(d.facts, 1);
	assert_string_equal(d.fact[0].what, "traced");
}

/* ---- the environment ---- */

/* "what: A | B", each difference on a line. */
static void check_facts(const char *const *want)
{
	char line[512];

	for (uint32_t i = 0; i < d.facts; i++) {
		const struct diff_fact *f = &d.fact[i];

		snprintf(line, sizeof(line), "%s: %s | %s", f->what,
			 f->value[0] ? f->value[0] : "-", f->value[1] ? f->value[1] : "-");
		if (!want[i])
			fail_msg("one more: %s", line);
		assert_string_equal(line, want[i]);
	}
	assert_null(want[d.facts]);
}

static void add_fact(struct view *v, const char *name, int err, const char *text)
{
	assert_int_equal(facts_add(&v->facts, name, err, text, strlen(text)), 0);
}

static void test_environment(void **state)
{
	static char lacks[] = "csd_function_entry", lacks_too[] = "ipi_send_cpu";
	static char *some[] = {lacks, lacks_too};
	static const char *const want[] = {
		"kernel: 6.12.9 | 6.12.10",
		"hypervisor: - | KVM",
		"isolated CPUs: - | 3",
		"cmdline console: console=a console=b | console=a",
		"cmdline isolcpus: - | isolcpus=3",
		"cmdline mitigations: mitigations=auto | mitigations=off",
		"cmdline quiet: quiet | -",
		"threshold: 200 ns (auto) | 300 ns (auto)",
		"not observed ipi_send_cpu: ipi_send_cpu | -",
		"etc/absent: - | x",
		"proc/sys/vm/stat_interval: 1 | 120",
		"run/kconfig CONFIG_HZ: CONFIG_HZ=250 | CONFIG_HZ=1000",
		"sys/secret: (not readable) | 5",
		NULL};

	(void)state;
	run_init(&a, one_cpu, 1, 10);
	run_init(&b, one_cpu, 1, 10);
	strcpy(b.host.kernel, "6.12.10");
	strcpy(b.host.hypervisor, "KVM");
	strcpy(a.host.cmdline,
	       "root=/dev/sda quiet mitigations=auto console=a console=b x=\"1 2\"");
	strcpy(b.host.cmdline, "  root=/dev/sda isolcpus=3 console=a x=\"1 2\" mitigations=off");
	cpus_add(&b.host.isolated, 3);
	b.cpu[0].threshold_ns = 300;
	view_not_observed(&a, some[0]);
	view_not_observed(&a, some[1]);
	view_not_observed(&b, some[0]);
	add_fact(&a, "proc/sys/vm/stat_interval", 0, "1\n");
	add_fact(&b, "proc/sys/vm/stat_interval", 0, "120\n");
	add_fact(&a, "proc/stat", 0, "cpu 1\n");
	add_fact(&b, "proc/stat", 0, "cpu 2\n");
	add_fact(&a, "sys/kernel/irq/5/per_cpu_count", 0, "1,2\n");
	add_fact(&b, "sys/kernel/irq/5/per_cpu_count", 0, "1,3\n");
	add_fact(&a, "run/kconfig", 0, "CONFIG_A=y\nCONFIG_HZ=250\n");
	add_fact(&b, "run/kconfig", 0, "CONFIG_A=y\nCONFIG_HZ=1000\n");
	add_fact(&a, "etc/absent", -ENOENT, "");
	add_fact(&b, "etc/absent", 0, "x");
	add_fact(&a, "sys/secret", -EACCES, "");
	add_fact(&b, "sys/secret", 0, "5");
	add_fact(&a, "sys/equal", 0, "5");
	add_fact(&b, "sys/equal", 0, "5");
	make();
	check_facts(want);
}

static void test_environment_alike(void **state)
{
	static const char *const none[] = {NULL};

	(void)state;
	run_init(&a, one_cpu, 1, 10);
	run_init(&b, one_cpu, 1, 7);
	b.cpu[0].threshold_ns = 210;   /* learned: nearly the same */
	add_fact(&a, "sys/x", 0, "5"); /* nobody read it on the other side */
	make();
	check_facts(none);
}

/* ---- what workloads measured ---- */

/* Gives the run's CPU a series of n latencies by chance: exponential around a mean. */
static void measured(struct view *v, const char *name, uint32_t n, double mean_ns)
{
	struct cpu *cpu = &v->cpu[0];

	if (!cpu->series)
		cpu->series = calloc(SERIES_MAX, sizeof(*cpu->series));
	assert_non_null(cpu->series);
	snprintf(cpu->series[cpu->nseries].name, SERIES_NAME, "%s", name);
	assert_int_equal(hist_init(&cpu->series[cpu->nseries].hist, SERIES_BITS), 0);
	for (uint32_t i = 0; i < n; i++)
		hist_add(&cpu->series[cpu->nseries].hist, 1 - mean_ns * log(uniform()));
	cpu->nseries++;
}

static const struct diff_value *figure(const char *name, uint32_t side, enum diff_figure which)
{
	for (uint32_t i = 0; i < d.nseries; i++)
		if (!strcmp(d.series[i].name, name))
			return &d.series[i].side[side][which];
	fail_msg("no series %s", name);
	return NULL;
}

/* One recording a side: what is more than chance is no more than unclear while two windows may
 * differ by as much; and a maximum tells nothing. */
static void test_series(void **state)
{
	const struct view *views[] = {&a, &b};

	(void)state;
	run_init(&a, one_cpu, 1, 1);
	run_init(&b, one_cpu, 1, 1);
	measured(&a, "latency", 4000, 30000);
	measured(&b, "latency", 4000, 60000);
	measured(&b, "only here", 10, 500);
	make();
	assert_int_equal(d.nseries, 2);
	check_near(figure("latency", 1, FIGURE_P50)->ratio.value, 2, 0.15);
	check_verdict(figure("latency", 1, FIGURE_P50)->verdict, DIFF_WORSE);
	check_verdict(figure("latency", 1, FIGURE_P99)->verdict, DIFF_WORSE);
	assert_true(diff_value_worse_by(figure("latency", 1, FIGURE_P50), 50));
	assert_false(diff_value_worse_by(figure("latency", 1, FIGURE_P50), 150));
	assert_int_equal(figure("latency", 1, FIGURE_MAX)->verdict, -1);
	assert_true(isinf(figure("latency", 1, FIGURE_MAX)->ratio.high));
	/* a hundred times the maximum, and yet one value */
	hist_add(&b.cpu[0].series[0].hist, 100 * a.cpu[0].series[0].hist.max);
	diff_free(&d);
	make();
	check_near(figure("latency", 1, FIGURE_MAX)->ratio.value, 100, 1);
	assert_false(diff_value_worse_by(figure("latency", 1, FIGURE_MAX), 10));
	assert_true(diff_value_not_judged(figure("latency", 1, FIGURE_MAX), 10));
	assert_false(diff_value_not_judged(figure("latency", 1, FIGURE_MAX), 10000));
	assert_false(diff_value_not_judged(figure("latency", 1, FIGURE_P999), 10));
	assert_false(diff_value_not_judged(figure("only here", 1, FIGURE_MAX), 10));
	assert_int_equal(figure("latency", 1, FIGURE_MAX)->value, b.cpu[0].series[0].hist.max);
	assert_true(isnan(figure("only here", 1, FIGURE_P50)->ratio.value));
	assert_int_equal(figure("only here", 1, FIGURE_P50)->verdict, -1);
	diff_free(&d);
	assert_int_equal(diff_of(&d, views, 2, 3), 0);
	check_verdict(figure("latency", 1, FIGURE_P50)->verdict, DIFF_UNCLEAR);
	assert_false(diff_value_worse_by(figure("latency", 1, FIGURE_P50), 50));
}

/* Recordings in turn tell how far windows differ: what differs by more is better or worse, also
 * less than the factor assumed otherwise. */
static void test_series_in_turn(void **state)
{
	static struct view v[6];
	const struct view *first[3], *other[3];
	const struct diff_side side[] = {{first, 3}, {other, 3}};
	static const double unsteady[] = {10000, 30000, 40000, 20000, 20000, 50000};

	(void)state;
	for (int i = 0; i < 6; i++) {
		run_init(&v[i], one_cpu, 1, 1);
		v[i].run.started[18] = '0' + i;
		measured(&v[i], "faster", 4000, i % 2 ? 20000 : 30000);
		measured(&v[i], "unsteady", 4000, unsteady[i]);
		*(i % 2 ? &other[i / 2] : &first[i / 2]) = &v[i];
	}
	assert_int_equal(diff_make(&d, side, 2, 3), 0);
	assert_true(d.in_turn[1]);
	check_verdict(figure("faster", 1, FIGURE_P50)->verdict, DIFF_BETTER);
	check_near(figure("faster", 1, FIGURE_P50)->ratio.value, 2.0 / 3, 0.1);
	check_verdict(figure("unsteady", 1, FIGURE_P50)->verdict, DIFF_SAME);
	assert_true(figure("unsteady", 1, FIGURE_P50)->ratio.low <= 1 &&
		    figure("unsteady", 1, FIGURE_P50)->ratio.high >= 1);
	assert_true(figure("faster", 1, FIGURE_MAX)->verdict >= 0);
	assert_false(diff_value_not_judged(figure("faster", 1, FIGURE_MAX), -50));
	for (int i = 0; i < 6; i++)
		view_free(&v[i]);
}

#define COMPARISONS 200
#define SERIES      20

/* Makes three recordings a side, in turn, of SERIES series that come from one distribution, and
 * returns how many of their figures --fail-if-worse 10 would tell of. */
static uint32_t told_of_nothing(struct view *v)
{
	const struct view *first[3], *other[3];
	const struct diff_side side[] = {{first, 3}, {other, 3}};
	uint32_t told = 0;

	for (int i = 0; i < 6; i++) {
		run_init(&v[i], one_cpu, 1, 1);
		v[i].run.started[18] = '0' + i;
		for (int k = 0; k < SERIES; k++) {
			char name[SERIES_NAME];

			snprintf(name, sizeof(name), "call%d", k);
			measured(&v[i], name, 40, 30000);
		}
		*(i % 2 ? &other[i / 2] : &first[i / 2]) = &v[i];
	}
	assert_int_equal(diff_make(&d, side, 2, 3), 0);
	assert_int_equal(d.nseries, SERIES);
	for (uint32_t s = 0; s < d.nseries; s++)
		for (int i = 0; i < DIFF_FIGURES; i++) {
			const struct diff_value *f = &d.series[s].side[1][i];
			bool worse = diff_value_worse_by(f, 10);

			assert_true(!worse || f->verdict == DIFF_WORSE);
			told += worse;
		}
	diff_free(&d);
	for (int i = 0; i < 6; i++)
		view_free(&v[i]);
	return told;
}

/* Many figures of an unchanged machine are no more often worse than one is: of 100 comparisons 2.5
 * at most. More than 20 of 200 have a chance of 1e-7 (binomial distribution). */
static void test_series_unchanged(void **state)
{
	static struct view v[6];
	int told = 0;

	(void)state;
	for (int i = 0; i < COMPARISONS; i++)
		told += told_of_nothing(v) != 0;
	if (told > 20)
		fail_msg("%d of %d comparisons without a change tell of one", told, COMPARISONS);
}

/* Intervals of a percentile of equal distributions miss 1 five times in 100: of these 400, with a
 * fixed seed, as often as the binomial distribution says. */
static void test_series_covers(void **state)
{
	int missed[2] = {0};

	(void)state;
	for (int i = 0; i < 400; i++) {
		run_init(&a, one_cpu, 1, 1);
		run_init(&b, one_cpu, 1, 1);
		measured(&a, "latency", 1000, 30000);
		measured(&b, "latency", 700, 30000);
		make();
		for (int k = 0; k < 2; k++) {
			const struct diff_value *f =
				figure("latency", 1, k ? FIGURE_P90 : FIGURE_P50);

			missed[k] += f->ratio.low > 1 || f->ratio.high < 1;
		}
		end(NULL);
	}
	for (int k = 0; k < 2; k++)
		if (missed[k] < 2 || missed[k] > 40)
			fail_msg("%d of 400 intervals missed 1", missed[k]);
}

#define TEST(f) cmocka_unit_test_teardown(f, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		TEST(test_paired),
		TEST(test_fakes_and_runs),
		TEST(test_other_cpus),
		TEST(test_same),
		TEST(test_many_sources),
		TEST(test_new),
		TEST(test_gone),
		TEST(test_more_and_less),
		TEST(test_lost_records),
		TEST(test_together),
		TEST(test_chance_and_weight),
		TEST(test_covers),
		TEST(test_distributions),
		TEST(test_quiet),
		TEST(test_lost_hiccups_are_lost_time),
		TEST(test_three),
		TEST(test_threads_left_out),
		TEST(test_untraced),
		TEST(test_series),
		TEST(test_series_in_turn),
		TEST(test_series_unchanged),
		TEST(test_series_covers),
		TEST(test_environment),
		TEST(test_environment_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
