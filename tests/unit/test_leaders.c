/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Leaders: few counters, which never fall, and whose growth is all of the lost time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "base/now.h"
#include "../world/world.h"
#include "base/hash.h"
#include "model/groups.h"
#include "model/leaders.h"
#include "render/openmetrics.h"

struct counted {
	struct view view;
	struct leaders set;
};

static void counted_init(struct counted *w)
{
	static const unsigned cpu = 3;

	memset(w, 0, sizeof(*w));
	world_view(&w->view, "", &cpu, 1);
	assert_int_equal(leaders_init(&w->set, 1), 0);
}

static void counted_free(struct counted *w)
{
	leaders_free(&w->set);
	view_free(&w->view);
}

static void run(struct counted *w, enum source_kind kind, uint32_t id, const char *name,
		const char *function, uint64_t ns)
{
	world_runs(&w->view, 0, kind, id, name, function, 1, ns);
}

static const struct leaders_cpu *update(struct counted *w)
{
	assert_int_equal(leaders_update(&w->set, &w->view), 0);
	return &w->set.cpu[0];
}

static const struct leader *find(const struct leaders_cpu *c, const char *name)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (!strcmp(c->own[i].name, name))
			return &c->own[i];
	return NULL;
}

static void test_one_series_a_name(void **state)
{
	const struct leaders_cpu *c;
	struct counted w;

	(void)state;
	counted_init(&w);
	run(&w, SOURCE_THREAD, 10, "make", NULL, 5);
	run(&w, SOURCE_THREAD, 11, "make", NULL, 6);
	run(&w, SOURCE_THREAD, 12, "make", "", 1); /* no function is an empty one */
	run(&w, SOURCE_THREAD, 13, "kworker/3:1", "vmstat_update", 100);
	run(&w, SOURCE_THREAD, 14, "kworker/3:7", "vmstat_update", 200);
	run(&w, SOURCE_THREAD, 14, "kworker/3:7", "drain", 9);
	run(&w, SOURCE_IRQ, 10, "make", NULL, 3);
	source_add(w.view.cpu[0].sources.row[sources_rest(&w.view.cpu[0].sources, SOURCE_IRQ)], 4,
		   true);
	c = update(&w);
	assert_int_equal(c->count, 4);
	assert_int_equal(c->own[0].sum.ns, 300);
	assert_int_equal(c->own[0].sum.count, 2);
	assert_string_equal(c->own[0].name, "kworker/*:*");
	assert_int_equal(c->own[1].sum.ns, 12);
	assert_int_equal(c->own[1].sum.count, 3);
	assert_int_equal(c->own[2].sum.ns, 9);
	assert_int_equal(c->own[3].sum.ns, 3);
	assert_int_equal(c->rest[SOURCE_IRQ].ns, 4);
	assert_int_equal(c->rest[SOURCE_IRQ].count, 1);
	assert_int_equal(c->rest[SOURCE_THREAD].ns, 0);
	counted_free(&w);
}

static void test_who_comes_later(void **state)
{
	const struct leaders_cpu *c;
	struct counted w;
	char name[16];

	(void)state;
	counted_init(&w);
	for (int i = 0; i < LEADERS_TOP + 1; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		run(&w, SOURCE_THREAD, 100 + i, name, NULL, 1000 - i);
	}
	c = update(&w);
	assert_int_equal(c->count, LEADERS_TOP);
	assert_null(find(c, "t20"));
	assert_int_equal(c->rest[SOURCE_THREAD].ns, 980);

	/* Time in the rest stays there; new time is all the source's own. */
	run(&w, SOURCE_THREAD, 120, "t20", NULL, 5000);
	run(&w, SOURCE_NMI, 0, "new", NULL, 7000);
	c = update(&w);
	assert_int_equal(find(c, "new")->sum.ns, 7000);
	assert_int_equal(find(c, "t20")->sum.ns, 0);
	assert_int_equal(c->rest[SOURCE_THREAD].ns, 5980);
	assert_int_equal(c->rest[SOURCE_NMI].ns, 0);
	run(&w, SOURCE_THREAD, 120, "t20", NULL, 11);
	c = update(&w);
	assert_int_equal(find(c, "t20")->sum.ns, 11);
	assert_int_equal(find(c, "t20")->sum.count, 1);
	assert_int_equal(c->rest[SOURCE_THREAD].ns, 5980);
	counted_free(&w);
}

#define NAMES 90

/* Counters as a monitoring system sees them, by name; [NAMES]: the rest. One that is away is not
 * known any more. */
struct seen {
	uint64_t ns[NAMES + 1];
	bool there[NAMES + 1];
};

static struct seen look(const struct leaders_cpu *c)
{
	struct seen s = {.there[NAMES] = true, .ns[NAMES] = c->rest[SOURCE_THREAD].ns};

	for (uint32_t i = 0; i < c->count; i++) {
		int k;

		assert_int_equal(sscanf(c->own[i].name, "t%d", &k), 1);
		assert_false(s.there[k]);
		s.there[k] = true;
		s.ns[k] = c->own[i].sum.ns;
	}
	return s;
}

/* Names rise and sink all the time: a series that made room and comes back begins anew. */
static void test_nothing_falls_and_nothing_is_missing(void **state)
{
	struct seen before, now = {0};
	uint64_t random = 1;
	unsigned evicted = 0;
	struct counted w;
	char name[16];

	(void)state;
	counted_init(&w);
	for (int round = 0; round < 3000; round++) {
		uint64_t grown = 0, came = 0;

		for (int i = 0; i < 8; i++) {
			uint64_t k, ns;

			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			k = round < 20 ? (random >> 33) % 30 : (random >> 33) % NAMES;
			ns = (random >> 40) % 1000 << (k + round / 40) % 7;
			snprintf(name, sizeof(name), "t%u", (unsigned)k);
			run(&w, SOURCE_THREAD, 500 + k, name, NULL, ns);
			came += ns;
		}
		before = now;
		now = look(update(&w));
		assert_true(w.set.cpu[0].count <= LEADERS_MAX);
		for (int k = 0; k <= NAMES; k++) {
			evicted += before.there[k] && !now.there[k];
			if (!now.there[k])
				continue;
			assert_true(!before.there[k] || now.ns[k] >= before.ns[k]);
			grown += now.ns[k] - (before.there[k] ? before.ns[k] : 0);
		}
		assert_int_equal(grown, came);
	}
	assert_true(evicted > 10);
	counted_free(&w);
}

static void run_kernel(struct counted *w, uint32_t id, const char *name, uint64_t ns)
{
	struct sources *t = &w->view.cpu[0].sources;
	uint32_t row =
		sources_find_key(t, &(struct source_key){SOURCE_THREAD, id, name, NULL, true, id});

	source_add(t->row[row], ns, true);
}

/* A thread that poses as a kernel thread, or as the rest, has a series of its own. */
static void test_fakes(void **state)
{
	const struct leaders_cpu *c;
	struct counted w;

	(void)state;
	counted_init(&w);
	run_kernel(&w, 12, "kworker/3:1", 100);
	run_kernel(&w, 13, "kworker/3:2", 100);
	run(&w, SOURCE_THREAD, 14, "kworker/3:3", NULL, 50);
	run(&w, SOURCE_THREAD, 12, "kworker/3:1", NULL, 30);
	run(&w, SOURCE_THREAD, 15, "(others)", NULL, 20);
	c = update(&w);
	assert_int_equal(c->count, 3);
	assert_true(c->own[0].kernel_thread && !c->own[1].kernel_thread);
	assert_string_equal(c->own[0].name, c->own[1].name);
	assert_int_equal(c->own[0].sum.ns, 200);
	assert_int_equal(c->own[1].sum.ns, 80);
	assert_string_not_equal(c->own[2].name, "(others)");
	assert_int_equal(c->rest[SOURCE_THREAD].ns, 0);
	counted_free(&w);
}

/* Sources go into their kind's rest all the time, and some come back: still nothing falls, and
 * nothing is missing. */
static void test_storm(void **state)
{
	struct leader_sums before = {0}, before_rest = {0};
	uint64_t random = 1, came = 0, runs = 0, sum, merged;
	const struct leaders_cpu *c;
	struct counted w;
	char name[16];

	(void)state;
	counted_init(&w);
	for (int round = 0; round < 400; round++) {
		for (int i = 0; i < 150; i++) {
			uint64_t ns;

			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			ns = (random >> 40) % 1000;
			snprintf(name, sizeof(name), "t%u",
				 (unsigned)(random >> 33) % (i % 2 ? 900 : 100000));
			run(&w, SOURCE_THREAD, 500 + (random >> 50) % 3, name, NULL, ns);
			came += ns;
			runs++;
		}
		run(&w, SOURCE_THREAD, 7, "steady", NULL, 5000);
		came += 5000;
		runs++;
		c = update(&w);
		assert_true(find(c, "steady")->sum.ns >= before.ns + 5000 * (round > 0));
		before = find(c, "steady")->sum;
		assert_true(c->rest[SOURCE_THREAD].ns >= before_rest.ns);
		assert_true(c->rest[SOURCE_THREAD].runs >= before_rest.runs &&
			    c->rest[SOURCE_THREAD].runs <= runs);
		assert_int_equal(c->rest[SOURCE_THREAD].runs, c->rest[SOURCE_THREAD].count);
		before_rest = c->rest[SOURCE_THREAD];
		sum = before_rest.ns + c->gone[SOURCE_THREAD].ns;
		for (uint32_t i = 0; i < c->count; i++)
			sum += c->own[i].sum.ns;
		assert_int_equal(sum, came); /* the table lost nothing */
	}
	assert_int_equal(before.ns, 400 * 5000);
	assert_true(sources_merged(&w.view.cpu[0].sources, SOURCE_THREAD, &merged) > 10000);
	counted_free(&w);
}

/* Sum of all samples of a family, in its least unit. */
static uint64_t told(const char *text, const char *family)
{
	uint64_t sum = 0;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		const char *at;
		unsigned long long whole, ns = 0;

		line += *line == '\n';
		if (strncmp(line, family, strlen(family)) || line[strlen(family)] != '{')
			continue;
		at = strstr(line, "} ");
		assert_non_null(at);
		assert_true(sscanf(at, "} %llu.%9llu", &whole, &ns) >= 1);
		sum += strstr(family, "_seconds_") ? whole * 1000000000 + ns : whole;
	}
	return sum;
}

/* A textfile's totals are the report's, also when threads by the hundred have gone into the rest
 * and series have made room. (What these had was missing in it: here 656 of 60,000 runs.) */
static void test_textfile_has_all(void **state)
{
	uint64_t random = 1, came = 0, runs = 0, merged;
	struct counted w;
	char *text = NULL, name[16];
	size_t len;
	FILE *out;

	(void)state;
	counted_init(&w);
	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 300; i++) {
			uint64_t ns;

			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			ns = (random >> 40) % 100000;
			snprintf(name, sizeof(name), "t%u", (unsigned)(random >> 33) % 5000);
			run(&w, SOURCE_THREAD, 500 + i, name, NULL, ns);
			came += ns;
			runs++;
		}
		update(&w);
	}
	assert_true(w.set.cpu[0].gone[SOURCE_THREAD].ns);
	assert_true(sources_merged(&w.view.cpu[0].sources, SOURCE_THREAD, &merged));
	out = open_memstream(&text, &len);
	assert_int_equal(render_textfile(&w.view, &w.set, false, false, out), 0);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(told(text, "culprit_lost_seconds_total") +
				 told(text, "culprit_series_ended_seconds_total"),
			 came);
	assert_int_equal(told(text, "culprit_interruptions_total") +
				 told(text, "culprit_series_ended_interruptions_total"),
			 runs);
	assert_int_equal(told(text, "culprit_function_runs_total") +
				 told(text, "culprit_series_ended_function_runs_total"),
			 runs);
	free(text);
	counted_free(&w);
}

/* All CPUs together: few series, none of which falls, and whose growth is all that is lost. */
static void test_parts(void **state)
{
	static const unsigned cpus[] = {4, 5, 6};
	static const uint32_t of[] = {0, 0, 0};
	uint64_t lost = 0, before[LEADERS_MAX] = {0};
	struct leaders set;
	struct view view = {0};
	char name[24];

	(void)state;
	world_view(&view, "", cpus, 3);
	assert_int_equal(leaders_init_parts(&set, 3, of, 1), 0);
	assert_int_equal(leaders_lane(&set, 0, 0), 0);
	assert_int_equal(leaders_lane(&set, 0, 2), 2);
	assert_int_equal(leaders_lane(&set, 0, 3), 3);
	for (unsigned round = 0; round < 60; round++) {
		const struct leaders_cpu *c = &set.cpu[0];
		uint64_t all = 0;

		for (uint32_t i = 0; i < 3; i++) {
			snprintf(name, sizeof(name), "eth0-TxRx-%u", i);
			world_runs(&view, i, SOURCE_IRQ, 40 + i, name, NULL, 1, 100000);
			snprintf(name, sizeof(name), "job-%c%c", 'a' + round % 26, 'a' + i);
			world_runs(&view, i, SOURCE_THREAD, round, name, NULL, 1, 1000 * round);
			lost += 100000 + 1000 * round;
		}
		assert_int_equal(leaders_update(&set, &view), 0);
		assert_in_range(c->count, 1, LEADERS_FEW_MOST);
		for (uint32_t i = 0; i < c->count; i++)
			all += c->own[i].sum.ns;
		for (int k = 0; k < SOURCE_KINDS; k++)
			all += c->rest[k].ns + c->gone[k].ns;
		assert_int_equal(all, lost);
		assert_string_equal(c->own[0].name, "eth0-TxRx-*"); /* one series of three IRQs */
		assert_true(c->own[0].sum.ns >= before[0]);
		before[0] = c->own[0].sum.ns;
		if (round == 3)
			assert_int_equal(c->own[0].sum.ns, 4 * 300000);
	}
	leaders_free(&set);
	view_free(&view);
}

static void own(struct counted *w, uint32_t row, uint32_t cgroup, const char *path)
{
	source_owned(w->view.cpu[0].sources.row[row], cgroup, path);
}

/* Threads of one name in two units; one of them goes over to the other. */
static void test_labels(void **state)
{
	static const char a[] = "/system.slice/a.service", b[] = "/system.slice/b.service";
	const struct leaders_cpu *c;
	struct counted w;

	(void)state;
	counted_init(&w);
	w.set.label = BY_UNIT;
	run(&w, SOURCE_THREAD, 10, "make", NULL, 5);
	run(&w, SOURCE_THREAD, 11, "make", NULL, 60);
	run(&w, SOURCE_THREAD, 12, "make", NULL, 700);
	run(&w, SOURCE_THREAD, 13, "make", NULL, 8000);
	own(&w, 1, 7, a);
	own(&w, 2, 8, b);
	own(&w, 3, 7, a);
	c = update(&w);
	assert_int_equal(c->count, 3);
	assert_string_equal(c->own[0].label, "a.service");
	assert_int_equal(c->own[0].sum.ns, 8060);
	assert_string_equal(c->own[1].label, "b.service");
	assert_int_equal(c->own[1].sum.ns, 700);
	assert_string_equal(c->own[2].label, "");
	assert_int_equal(c->own[2].sum.ns, 5);

	own(&w, 0, 9, a);
	own(&w, 1, 8, b);
	run(&w, SOURCE_THREAD, 11, "make", NULL, 40);
	run(&w, SOURCE_THREAD, 10, "make", NULL, 1);
	c = update(&w);
	assert_int_equal(c->count, 3);
	assert_int_equal(c->own[0].sum.ns, 8100);
	assert_int_equal(c->own[1].sum.ns, 700);
	assert_int_equal(c->own[2].sum.ns, 6);
	assert_int_equal(c->rest[SOURCE_THREAD].ns, 0);
	counted_free(&w);
}

/* More threads of one name than have rows, in two units: what was counted is counted once. */
static void test_labels_that_meet(void **state)
{
	static const char *const units[] = {"/system.slice/a.service", "/system.slice/b.service"};
	uint64_t lost = 0, before = 0;
	struct counted w;

	(void)state;
	counted_init(&w);
	w.set.label = BY_UNIT;
	for (uint32_t round = 0; round < 40; round++) {
		const struct sources *t = &w.view.cpu[0].sources;
		const struct leaders_cpu *c;
		uint64_t all = 0, rest = 0;

		for (uint32_t i = 0; i < 5; i++) {
			uint32_t tid = 100 + round * 3 + i;
			uint64_t ns = 1000 + 77 * ((round * 7 + i * 3) % 11);

			run(&w, SOURCE_THREAD, tid, "worker", NULL, ns);
			lost += ns;
			for (uint32_t k = 0; k < t->count; k++)
				if (t->row[k]->id == tid || (!t->row[k]->id && round % 3 == 2))
					source_owned(t->row[k], 7 + tid % 2, units[tid % 2]);
		}
		c = update(&w);
		for (uint32_t i = 0; i < c->count; i++)
			all += c->own[i].sum.ns;
		for (int k = 0; k < SOURCE_KINDS; k++)
			rest += c->rest[k].ns + c->gone[k].ns;
		assert_int_equal(all + rest, lost);
		assert_true(rest >= before && rest <= lost);
		before = rest;
	}
	counted_free(&w);
}

static double seconds(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) / 1e9;
}

#define LANES 60
#define EACH  1000
#define SLOTS 131072 /* at least twice as many as names */

/* True for a name with a plain hash that falls into a thirty-second part of as many slots. */
static bool is_crowded(const char *name)
{
	uint64_t h = hash_byte(hash_byte(hash_text(HASH_BEGIN, name), SOURCE_THREAD), 0);

	return ((h ^ h >> 32) & (SLOTS - 1)) < SLOTS / 32;
}

/* A name is looked up among all of a host, in about the time that it takes to make it. */
static void look_up_names(bool crowded)
{
	static const uint32_t host[LANES];
	unsigned cpus[LANES];
	struct leaders set;
	double start, one;
	struct view v;

	for (unsigned i = 0; i < LANES; i++)
		cpus[i] = i;
	world_view(&v, "", cpus, LANES);
	for (uint32_t i = 0, n = 0; n < LANES * EACH; i++) {
		char name[16];

		for (uint32_t k = 0, x = i; k < 6; k++, x /= 26, name[k] = 0)
			name[k] = 'a' + x % 26;
		if (crowded && !is_crowded(name))
			continue;
		world_runs(&v, n % LANES, SOURCE_THREAD, n, name, NULL, 1, 1000 + n);
		n++;
	}
	start = seconds();
	for (uint32_t i = 0; i < LANES * EACH; i++) {
		const struct sources *t = &v.cpu[i / EACH].sources;
		char name[DIFF_NAME];

		group_name(t->row[i % EACH % t->count], name);
	}
	one = seconds() - start;
	assert_int_equal(leaders_init_parts(&set, LANES, host, 1), 0);
	start = seconds();
	assert_int_equal(leaders_update(&set, &v), 0);
	assert_true(seconds() - start < 30 * one);
	assert_int_equal(set.cpu[0].count, LEADERS_FEW);
	leaders_free(&set);
	view_free(&v);
}

static void test_many_names(void **state)
{
	(void)state;
	look_up_names(false);
}

/* Users chose them so that they lie together in a table whose hash everybody knows. */
static void test_chosen_names(void **state)
{
	(void)state;
	look_up_names(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_labels_that_meet),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_one_series_a_name),
		cmocka_unit_test(test_who_comes_later),
		cmocka_unit_test(test_nothing_falls_and_nothing_is_missing),
		cmocka_unit_test(test_fakes),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_storm),
		cmocka_unit_test(test_textfile_has_all),
		cmocka_unit_test(test_many_names),
		cmocka_unit_test(test_chosen_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
