/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups: which CPUs are alike, what a group says of them, and the sentence on it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/conclude.h"
#include "model/groups.h"
#include "model/report.h"
#include "../world/made.h"

#define CPUS 6

static struct view v;

/* CPUs 4-9, observed for 10 s, that lose the same: 1,000 ticks of 5 us. */
static int begin(void **state)
{
	static const unsigned cpus[CPUS] = {4, 5, 6, 7, 8, 9};

	(void)state;
	run_init(&v, cpus, CPUS, 10);
	for (uint32_t i = 0; i < CPUS; i++)
		for (unsigned k = 0; k < 1000; k++)
			run_add(&v, i, 0.001 + 0.009 * k, SOURCE_VECTOR, 1, "local_timer",
				"tick_nohz_handler", 5000);
	return 0;
}

static int end(void **state)
{
	(void)state;
	view_free(&v);
	return 0;
}

static void add(uint32_t lane, enum source_kind kind, uint32_t id, const char *name, unsigned n,
		uint64_t ns)
{
	for (unsigned k = 0; k < n; k++)
		run_add(&v, lane, 9.2 + 0.001 * k, kind, id, name, NULL, ns);
}

/* "4-7,9 8": the groups in their order. */
static void expect(const char *want)
{
	char got[256] = "", list[64];

	assert_int_equal(groups_make(&v), 0);
	for (uint32_t k = 0; k < v.groups.n; k++) {
		const struct cpu_group *g = &v.groups.row[k];

		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", k ? " " : "",
			 cpus_format(&g->cpus, list, sizeof(list)));
		for (uint32_t i = 0; i < g->n; i++)
			assert_int_equal(v.groups.of[g->lane[i]], k);
	}
	assert_string_equal(got, want);
}

/* The newest row of a lane is of this kind, on this CPU of the host. */
static void on_host(uint32_t lane, enum source_kind kind, uint32_t cpu)
{
	const struct sources *t = &v.cpu[lane].sources;

	t->row[t->count - 1]->host_kind = kind;
	t->row[t->count - 1]->host_cpu = 1 + cpu;
	v.cpu[lane].host_ns += t->row[t->count - 1]->net.sum;
}

/* Sources of the host: by their kind there, and nameless interrupts by their number. */
static void test_hosts_sources(void **state)
{
	const struct cpu_group *g;

	(void)state;
	for (uint32_t i = 0; i < CPUS; i++) {
		add(i, SOURCE_HOST, 9, "", 10, 4000);
		on_host(i, SOURCE_IRQ, 3);
		add(i, SOURCE_HOST, 10, "", 10, 3000);
		on_host(i, SOURCE_IRQ, i);
		add(i, SOURCE_HOST, 0, "x", 10, 2000);
		on_host(i, SOURCE_SOFTIRQ, 3);
		add(i, SOURCE_HOST, 1, "x", 10, 1000);
		on_host(i, SOURCE_VECTOR, 3);
	}
	expect("4-9");
	g = &v.groups.row[0];
	assert_int_equal(g->host_ns, CPUS * 10 * 10000);
	assert_int_equal(g->nsources, 5);
	for (uint32_t i = 1; i < 5; i++)
		assert_int_equal(g->source[i].total_ns, CPUS * 10 * 1000 * (5 - i));
	assert_int_equal(g->source[1].who.host_cpu, 1 + 3);
	assert_int_equal(g->source[2].who.host_cpu, SOURCE_CPUS);
	assert_true(group_has(&g->source[3], v.cpu[5].sources.row[3]));
	assert_false(group_has(&g->source[3], v.cpu[5].sources.row[4]));
}

static void test_all_alike(void **state)
{
	(void)state;
	expect("4-9");
	assert_true(groups_shown(&v));
	assert_int_equal(v.groups.row[0].nsources, 1);
	assert_int_equal(v.groups.row[0].source[0].cpus, CPUS);
	assert_int_equal(v.groups.row[0].source[0].total_ns, 6 * 1000 * 5000);
	assert_true(v.groups.row[0].lost.least == v.groups.row[0].lost.most);
	view_cut(&v, 2);
	expect("4-5");
	assert_false(groups_shown(&v)); /* two CPUs are read one by one */
}

/* ---- a workload, and watched threads ---- */

static void give_values(uint32_t lane, const char *name, uint64_t usual, uint64_t last)
{
	struct cpu *c = &v.cpu[lane];
	struct series *s;

	c->series = realloc(c->series, (c->nseries + 1) * sizeof(*c->series));
	assert_non_null(c->series);
	s = &c->series[c->nseries++];
	memset(s, 0, sizeof(*s));
	strcpy(s->name, name);
	assert_int_equal(hist_init(&s->hist, SERIES_BITS), 0);
	hist_add_n(&s->hist, usual, 99);
	hist_add(&s->hist, last);
}

/* Medians decide as well as what was slow, and a CPU with another series is another. */
static void test_workload(void **state)
{
	(void)state;
	v.run.windows = true;
	for (uint32_t i = 0; i < CPUS; i++)
		give_values(i, "latency", i == 1 ? 6200 : 3000 + 10 * i, i == 2 ? 100000 : 20000);
	expect("4,7-9 5 6");
	assert_true(groups_shown(&v));
	assert_int_equal(v.groups.row[0].nseries, 1);
	assert_int_equal(v.groups.row[0].series[0].count, 400);
	assert_true(v.groups.row[0].series[0].median.most >= 3050);
	assert_int_equal(v.groups.row[0].series[0].max.most, 20000);
	give_values(4, "under load", 3000, 3000);
	expect("4,7,9 5 6 8");
	give_values(5, "under load", 3000, 3000);
	expect("4,7 5 6 8-9");
	for (uint32_t i = 0; i < CPUS; i++)
		give_values(i, i % 2 ? "odd" : "even", 500 << 2 * i, 500 << 2 * i);
	expect("4 5 6 7 8 9");
	assert_false(groups_shown(&v)); /* each has parts of its own */
}

static void test_threads(void **state)
{
	char name[REPORT_CPUS];

	(void)state;
	v.run.windows = v.run.watch = true;
	for (uint32_t i = 0; i < CPUS; i++) {
		v.cpu[i].tid = 800 + i;
		snprintf(v.cpu[i].comm, sizeof(v.cpu[i].comm), i < 4 ? "feed-%u" : "gui\33", i);
	}
	assert_int_equal(groups_make(&v), 0);
	assert_int_equal(v.groups.n, 2);
	assert_string_equal(report_cpus(&v, &v.groups.row[0], name), "threads feed-* (4)");
	assert_string_equal(report_cpus(&v, &v.groups.row[1], name), "threads gui\\x1b (2)");
	assert_true(cpus_empty(&v.groups.row[0].cpus));
	v.cpu[1].kernel_thread = true;
	assert_int_equal(groups_make(&v), 0);
	assert_int_equal(v.groups.n, 3);
	assert_string_equal(report_cpus(&v, &v.groups.row[1], name), "[feed-1] [801]");
	v.cpu[0].kernel_thread = true;
	strcpy(v.cpu[4].comm, "[feed-8]"); /* poses as one of the kernel's */
	strcpy(v.cpu[5].comm, "[feed-9]");
	assert_int_equal(groups_make(&v), 0);
	assert_string_equal(report_cpus(&v, &v.groups.row[0], name), "threads [feed-*] (2)");
	assert_string_equal(report_cpus(&v, &v.groups.row[2], name),
			    "threads user thread [feed-*] (2)");
}

/* One gap takes less than all the ticks. */
static void test_rare_and_long(void **state)
{
	(void)state;
	add(4, SOURCE_THREAD, 77, "backup", 1, 2900000);
	expect("8 4-7,9");
	assert_ptr_equal(group_odd(&v.cpu[4].sources), report_first_cause(&v, &v.groups.row[0]));
	assert_string_equal(report_first_cause(&v, &v.groups.row[0])->name, "backup");
	assert_null(group_odd(&v.cpu[0].sources));
	assert_string_equal(group_most(&v.cpu[4].sources)->name, "local_timer");
}

/* Up to 4 x 20 us a single run makes no difference; beyond, one of a quarter must be there. */
static void test_longest(void **state)
{
	(void)state;
	add(1, SOURCE_THREAD, 77, "short", 1, 80000);
	expect("4-9");
	add(2, SOURCE_THREAD, 77, "long", 1, 80001);
	expect("6 4-5,7-9");
	add(3, SOURCE_THREAD, 77, "long", 1, 20001);
	expect("6-7 4-5,8-9");
	for (uint32_t i = 0; i < CPUS; i++)
		add(i, SOURCE_THREAD, 77, "long", 1, 20001);
	expect("4-9");
	add(5, SOURCE_THREAD, 77, "other", 1, 90000); /* as long, but another */
	expect("9 4-8");
}

/* Half of the larger loss may differ. */
static void test_cost(void **state)
{
	(void)state;
	add(0, SOURCE_THREAD, 77, "job", 100, 49000);
	expect("4-9");
	add(0, SOURCE_THREAD, 77, "job", 3, 49000);
	expect("4 5-9");
	/* As much, of another: 5 ms of it are lost to each alone. */
	add(1, SOURCE_THREAD, 78, "job", 103, 49000);
	expect("4-5 6-9"); /* the same name */
	add(2, SOURCE_THREAD, 78, "task", 103, 49000);
	expect("4-5 6 7-9");
}

static void test_quiet(void **state)
{
	static const unsigned cpus[CPUS] = {1, 2, 3, 4, 5, 6};

	(void)state;
	view_free(&v);
	run_init(&v, cpus, CPUS, 10);
	add(0, SOURCE_IRQ, 36, "nvme0q1", 10, 9000);
	add(1, SOURCE_THREAD, 5, "bash", 1, 9000);
	add(2, SOURCE_SOFTIRQ, 1, "TIMER", 100, 9000);
	expect("1-6");
	add(2, SOURCE_SOFTIRQ, 1, "TIMER", 20, 9000); /* more than 0.01 % */
	expect("3 1-2,4-6");
	assert_int_equal(conclude(&v), 0);
	assert_string_equal(group_verdict(&v, 1),
			    "cpus 1-2,4-6 are quiet: they lost 0 to 0.0009 % of their time to "
			    "hiccups, at most 9.00 us at once");
}

static void test_state(void **state)
{
	(void)state;
	cpus_add(&v.host.isolated, 4);
	v.cpu[1].counts.lost = 1;
	v.cpu[2].ended = "the CPU went offline";
	v.cpu[3].ended = "the sampler was killed";
	expect("4 5 6 7 8-9");
	v.cpu[3].ended = v.cpu[2].ended;
	v.cpu[0].counts.lost = 1;
	cpus_add(&v.host.isolated, 5);
	expect("4-5 6-7 8-9");
}

static void assert_name(enum source_kind kind, const char *name, const char *want)
{
	struct source s = {.kind = kind};
	char got[DIFF_NAME];

	strcpy(s.name, name);
	group_name(&s, got);
	assert_string_equal(got, want);
	strcpy(s.name, want); /* a common name is its own */
	group_name(&s, got);
	assert_string_equal(got, want);
}

static void test_names(void **state)
{
	(void)state;
	assert_name(SOURCE_IRQ, "eth0-TxRx-12", "eth0-TxRx-*");
	assert_name(SOURCE_IRQ, "mlx5_comp3@pci:0000:3b:00.0", "mlx5_comp*@pci:0000:3b:00.0");
	assert_name(SOURCE_IRQ, "virtio1-req.0", "virtio1-req.*");
	assert_name(SOURCE_THREAD, "kworker/12:1H", "kworker/*:*H");
	assert_name(SOURCE_THREAD, "lcore-worker-7", "lcore-worker-*");
	assert_name(SOURCE_THREAD, "bash", "bash");
	assert_name(SOURCE_VECTOR, "local_timer2", "local_timer2");
}

/* Facts that all have in common are said of all, and nothing else. */
static void test_common(void **state)
{
	const struct group_source *s;
	char who[256];

	(void)state;
	for (uint32_t i = 0; i < CPUS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "eth0-TxRx-%u", i);
		add(i, SOURCE_IRQ, 40 + i, name, 10, 3000 + i);
		add(i, SOURCE_THREAD, 99, "logger", 5, 2000);
	}
	expect("4-9");
	s = &v.groups.row[0].source[1];
	assert_string_equal(report_who(&s->who, who, sizeof(who)), "eth0-TxRx-*");
	assert_int_equal(s->max_ns, 3005);
	assert_int_equal(v.cpu[s->max_lane].number, 9);
	assert_true(s->ns.least == 30000 && s->ns.median == 30020 && s->ns.most == 30050);
	s = &v.groups.row[0].source[2];
	assert_string_equal(report_who(&s->who, who, sizeof(who)), "logger [99]");
	assert_true(group_has(s, v.cpu[3].sources.row[2]));
	assert_ptr_equal(group_source(&v.groups.row[0], v.cpu[3].sources.row[1]), s - 1);
}

/* Times of all CPUs add up in their group, whatever they are. */
static void test_sums(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < CPUS; i++) {
		add(i, SOURCE_THREAD, 10 + i, "kworker/3:1", 1 + i, 1000 * i + 7);
		add(i, SOURCE_THREAD, 90 + i, "kworker/3:2", 1, 500);
	}
	assert_int_equal(groups_make(&v), 0);
	for (uint32_t k = 0; k < v.groups.n; k++) {
		const struct cpu_group *g = &v.groups.row[k];
		uint64_t ns = 0, cpus = 0;

		for (uint32_t i = 0; i < g->n; i++)
			cpus += v.cpu[g->lane[i]].hiccups.sum;
		for (uint32_t i = 0; i < g->nsources; i++)
			ns += g->source[i].total_ns;
		assert_int_equal(ns, cpus);
		assert_int_equal(g->total_ns, cpus);
	}
}

/* The share that a CPU lost is not known where it was not observed, and it is like no CPU that was.
 */
static void test_not_observed(void **state)
{
	static const unsigned cpus[CPUS] = {4, 5, 6, 7, 8, 9};
	struct report_column column[REPORT_COLUMNS];
	char cell[32];

	(void)state;
	view_free(&v);
	run_init(&v, cpus, CPUS, 10);
	for (uint32_t i = 0; i < CPUS; i++) {
		v.cpu[i].ended = "the CPU went offline";
		if (i < 3)
			v.cpu[i].observed_ns = 0;
	}
	expect("7-9 4-6");
	assert_true(report_columns(&v, column) > 0);
	assert_string_equal(column[0].heading, "lost %");
	column[0].cell(&v.groups.row[0], cell);
	assert_string_equal(cell, "0");
	column[0].cell(&v.groups.row[1], cell);
	assert_string_equal(cell, "?");
}

static void test_verdict(void **state)
{
	(void)state;
	add(4, SOURCE_THREAD, 77, "backup", 1, 900000);
	add(5, SOURCE_VECTOR, 1, "local_timer", 1, 5000);
	assert_int_equal(conclude(&v), 0);
	assert_int_equal(v.groups.n, 2);
	assert_non_null(strstr(group_verdict(&v, 0), "cpu 8 loses 0.05 % to the tick: "));
	assert_non_null(strstr(group_verdict(&v, 0),
			       "; and up to 900 us at once to the thread backup [77]"));
	assert_non_null(strstr(group_verdict(&v, 1), "cpus 4-7,9 lose 0.05 % each to the tick: "
						     "they are not nohz_full"));
	assert_ptr_equal(view_verdict(&v), group_verdict(&v, 0));
	v.run.traced = false;
	assert_int_equal(conclude(&v), 0);
	assert_string_equal(group_verdict(&v, 1),
			    "cpus 4-7,9 lose 0.05 % of their time each, up to 5.00 us at "
			    "once, and nobody can be named: they were not traced");
}

/* CPUs that are not alike, but of which the same is to be said, stand in one sentence; what is rare
 * and long does not. */
static void test_heads(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 2000; k++)
		run_add(&v, 4, 0.0015 + 0.0045 * k, SOURCE_VECTOR, 1, "local_timer",
			"tick_nohz_handler", 5000);
	assert_int_equal(conclude(&v), 0);
	assert_int_equal(v.groups.n, 2);
	assert_non_null(strstr(group_verdict(&v, 0), "cpu 8 loses 0.15 % to the tick: "));
	assert_non_null(strstr(group_head(&v, 0), "cpus 4-9 lose 0.05 to 0.15 % each to the tick: "
						  "they are not nohz_full"));
	assert_string_equal(group_head(&v, 1), "");
	assert_int_equal(v.groups.row[0].head_cpus, CPUS);
	add(4, SOURCE_THREAD, 77, "backup", 1, 900000);
	assert_int_equal(conclude(&v), 0);
	assert_string_equal(group_head(&v, 0), group_verdict(&v, 0));
	assert_string_equal(group_head(&v, 1), group_verdict(&v, 1));
}

/* Hiccups that were not recorded on some CPUs are not said of others. */
static void test_heads_of_what_was_not_recorded(void **state)
{
	(void)state;
	v.cpu[0].hiccups_lost = v.cpu[1].hiccups_lost = 3;
	v.cpu[0].hiccups_lost_ns = v.cpu[1].hiccups_lost_ns = 900000000;
	assert_int_equal(conclude(&v), 0);
	assert_int_equal(v.groups.n, 2);
	assert_non_null(strstr(group_head(&v, 0), "cpus 4-5 lose 9.05 % of their time each (6 "
						  "hiccups, 1.80 s in all, were not recorded), and "
						  "who took most of it is not known; 0.05 % each "
						  "went to the tick"));
	assert_non_null(strstr(group_head(&v, 1), "cpus 6-9 lose 0.05 % each to the tick"));
	v.cpu[0].hiccups_lost_ns = 4000000; /* less than its ticks took */
	v.cpu[1].hiccups_lost_ns = 6000000;
	assert_int_equal(conclude(&v), 0);
	assert_int_equal(v.groups.n, 2);
	assert_non_null(strstr(group_head(&v, 0), ", and who took most of it is not known on some; "
						  "0.05 % each went to the tick"));
	v.cpu[1].hiccups_lost_ns = 4000000;
	assert_int_equal(conclude(&v), 0);
	assert_non_null(strstr(group_head(&v, 0), "were not recorded), 0.05 % each to the tick"));
}

/* Reports that nobody read may be any thread's. */
static void test_reports_not_read(void **state)
{
	(void)state;
	v.run.windows = v.run.watch = true;
	v.run.reports_lost = 3;
	for (uint32_t i = 0; i < CPUS; i++) {
		v.cpu[i].tid = 800 + i;
		v.cpu[i].reported = 1000;
		snprintf(v.cpu[i].comm, sizeof(v.cpu[i].comm), "feed-%u", i);
	}
	assert_int_equal(conclude(&v), 0);
	assert_int_equal(v.groups.n, 1);
	assert_non_null(strstr(group_verdict(&v, 0), "threads feed-* (6) were late by at least "
						     "5.00 ms each, at least 5.00 us at once"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_all_alike, begin, end),
		cmocka_unit_test_setup_teardown(test_hosts_sources, begin, end),
		cmocka_unit_test_setup_teardown(test_workload, begin, end),
		cmocka_unit_test_setup_teardown(test_threads, begin, end),
		cmocka_unit_test_setup_teardown(test_rare_and_long, begin, end),
		cmocka_unit_test_setup_teardown(test_longest, begin, end),
		cmocka_unit_test_setup_teardown(test_cost, begin, end),
		cmocka_unit_test_setup_teardown(test_quiet, begin, end),
		cmocka_unit_test_setup_teardown(test_state, begin, end),
		cmocka_unit_test(test_names),
		cmocka_unit_test_setup_teardown(test_common, begin, end),
		cmocka_unit_test_setup_teardown(test_sums, begin, end),
		cmocka_unit_test_setup_teardown(test_not_observed, begin, end),
		cmocka_unit_test_setup_teardown(test_verdict, begin, end),
		cmocka_unit_test_setup_teardown(test_heads, begin, end),
		cmocka_unit_test_setup_teardown(test_heads_of_what_was_not_recorded, begin, end),
		cmocka_unit_test_setup_teardown(test_reports_not_read, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
