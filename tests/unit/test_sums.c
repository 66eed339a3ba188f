/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums, which the probes add up in place of records: random intervals of all levels go both ways,
 * and each source has the same count, runs, time, least and most. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../world/chance.h"
#include "../world/letters.h"
#include "base/units.h"
#include "model/nest.h"
#include "model/sums.h"
#include "sums.bpf.h"

#define OUTERMOST 20000
#define STEPS     6

const volatile __u8 highest_bit[256] = HIGHEST_BITS;

static struct cpu_state state;
static struct sum table[SUM_ROWS];
static uint64_t now;
static struct nest *nest;
static struct sources by_records;

static __always_inline struct sum *sum_at(struct cpu_state *c, __u32 row)
{
	assert_ptr_equal(c, &state);
	assert_true(row < SUM_ROWS);
	return &table[row];
}

static const struct names names = {.irq = name_irq, .symbol = name_symbol};

/* ---- one CPU, both ways ---- */

static uint64_t read_clock(int level)
{
	state.own.sums.inside[level] = sum_inside(&state, level);
	return now;
}

/* To seconds; no two things at once, which the order of records would not tell apart. */
static void pass(void)
{
	now += 1 + below(1ULL << below(one_in(100) ? 33 : 16));
}

static void choose(struct record *r, int place)
{
	static const char comms[][17] = {"worker", "poke", "poke", "sixteen bytes..."};
	uint32_t one = below(3);

	r->level = sum_level(place);
	if (place == SUM_THREAD) {
		r->kind = RECORD_THREAD;
		r->id = 100 + below(4);
		memcpy(r->name, comms[r->id - 100], sizeof(r->name));
		r->flags = r->id == 100 ? RECORD_KTHREAD : 0;
		r->arg = r->id;
	} else if (place == SUM_SOFTIRQ) {
		r->kind = RECORD_SOFTIRQ;
		r->id = one;
	} else if (one_in(2)) {
		r->kind = RECORD_IRQ;
		r->id = one;
		r->arg = 'p' + one;
	} else {
		r->kind = RECORD_VECTOR;
		r->id = VECTOR_LOCAL_TIMER + one;
		r->arg = 236 + one;
	}
}

static void nmi(void)
{
	struct record r = {.kind = RECORD_NMI, .level = LEVEL_NMI, .arg = 'n'};

	pass();
	r.start_ns = now;
	pass();
	r.end_ns = now;
	sum_nmi(&state, &r);
	nest_take(nest, &r, 0, UINT64_MAX);
}

static void mark_function(int place, const struct record *open)
{
	struct record mark = {.kind = RECORD_MARK, .level = open->level, .mark = MARK_TIMER};

	mark.arg = 'a' + below(3);
	mark.start_ns = mark.end_ns = read_clock(open->level);
	sum_mark(&state, place, open, mark.arg, now);
	nest_take(nest, &mark, 0, UINT64_MAX);
}

static void interval(int place)
{
	struct record r = {0};

	choose(&r, place);
	pass();
	r.start_ns = read_clock(r.level);
	sum_begin(&state, place);
	for (uint64_t steps = below(STEPS); steps; steps--) {
		pass();
		if (one_in(8))
			nmi();
		else if (one_in(2))
			mark_function(place, &r);
		else if (place == SUM_THREAD && one_in(2))
			interval(SUM_SOFTIRQ);
		else if (place <= SUM_SOFTIRQ)
			interval(SUM_IRQ);
		else if (place == SUM_IRQ && one_in(4))
			interval(SUM_IRQ_INSIDE);
	}
	pass();
	r.end_ns = read_clock(r.level);
	sum_end(&state, place, &r, false);
	nest_take(nest, &r, 0, UINT64_MAX);
}

/* ---- what both say ---- */

struct total {
	uint64_t count, runs, ns, least, most;
};

/* Adds up a source of a table over its rows: threads of one name have one each by records. */
static struct total total_of(const struct sources *t, const struct source *like)
{
	struct total sum = {.least = UINT64_MAX};

	for (uint32_t i = 0; i < t->count; i++) {
		const struct source *s = t->row[i];

		if (s->kind != like->kind || strcmp(s->name, like->name) ||
		    s->kernel_thread != like->kernel_thread ||
		    strcmp(s->function ? s->function : "", like->function ? like->function : ""))
			continue;
		sum.count += s->count;
		sum.runs += s->net.count;
		sum.ns += s->net.sum;
		sum.least = s->net.min < sum.least ? s->net.min : sum.least;
		sum.most = s->net.max > sum.most ? s->net.max : sum.most;
	}
	return sum;
}

static void begin(struct view *v)
{
	memset(&state, 0, sizeof(state));
	memset(table, 0, sizeof(table));
	now = 1000;
	assert_int_equal(view_cpus(v, (const unsigned[]){3}, 1), 0);
}

static void test_both_ways(void **unused)
{
	struct view v = {.run.sums = true};
	unsigned stuck;

	(void)unused;
	begin(&v);
	assert_int_equal(sources_init(&by_records), 0);
	nest = nest_new(&by_records, (struct edge_bounds){0}, &names, false);
	assert_non_null(nest);
	for (int i = 0; i < OUTERMOST; i++) {
		uint64_t from = now;

		nest_open(nest);
		interval(below(3));
		nest_close(nest, from, now, &stuck);
		assert_int_equal(stuck, 0);
	}
	for (int again = 0; again < 2; again++) { /* filling replaces what was there */
		assert_int_equal(sums_fill(&v, 0, table, &names), 0);
		assert_true(by_records.count > v.cpu[0].sources.count && by_records.count > 40);
		for (uint32_t i = 0; i < by_records.count; i++) {
			struct total a = total_of(&by_records, by_records.row[i]);
			struct total b = total_of(&v.cpu[0].sources, by_records.row[i]);

			assert_memory_equal(&a, &b, sizeof(a));
		}
	}
	nest_free(nest);
	sources_free(&by_records);
	view_free(&v);
}

static void thread_comes(uint64_t start)
{
	state.thread.start_ns = start;
	sum_begin(&state, SUM_THREAD);
}

/* Net time of the thread that leaves now. */
static uint64_t thread_goes(void)
{
	struct record r = {.kind = RECORD_THREAD, .id = 7, .name = "x"};
	uint64_t before = state.own.sums.net_ns[LEVEL_THREAD];

	r.start_ns = state.thread.start_ns;
	r.end_ns = read_clock(LEVEL_THREAD);
	sum_end(&state, SUM_THREAD, &r, false);
	return state.own.sums.net_ns[LEVEL_THREAD] - before;
}

static void softirq_of(uint64_t ns)
{
	struct record r = {.kind = RECORD_SOFTIRQ, .id = 1, .start_ns = read_clock(LEVEL_SOFTIRQ)};

	sum_begin(&state, SUM_SOFTIRQ);
	now += ns;
	r.end_ns = read_clock(LEVEL_SOFTIRQ);
	sum_end(&state, SUM_SOFTIRQ, &r, false);
}

/* A waiting thread goes elsewhere, and comes back or not, while another one runs. */
static void test_moved_waits(void **unused)
{
	struct view v = {.run.sums = true};

	(void)unused;
	begin(&v);
	thread_comes(read_clock(LEVEL_THREAD));
	assert_false(sum_was_in_the_way(&state));
	now += 1000;
	softirq_of(300);
	for (int i = 0; i < 2; i++) { /* nobody waits for 5 us, twice */
		sum_left(&state, now);
		assert_true(sum_was_in_the_way(&state));
		now += 5000;
		sum_gap(&state, now);
		now += 200;
	}
	assert_int_equal(thread_goes(), 1000 + 2 * 200);

	sum_left(&state, now); /* as a watched thread that leaves: the next one comes then */
	thread_comes(read_clock(LEVEL_THREAD));
	assert_false(sum_was_in_the_way(&state));
	now += 70000;
	sum_gap(&state, now);
	now += 40;
	assert_int_equal(thread_goes(), 40);

	/* Comes while somebody waits, and a softirq runs inside it; leaves when nobody does. */
	thread_comes(read_clock(LEVEL_THREAD));
	softirq_of(300000);
	sum_left(&state, now);
	now += 10;
	state.thread.start_ns = 0;
	sum_idle(&state);
	assert_false(sum_was_in_the_way(&state));
	now += 20;
	state.thread.start_ns = now; /* somebody waits for the next one */
	now += 2000;
	assert_int_equal(thread_goes(), 2000);
	assert_int_equal(state.own.sums.misfits, 0);

	thread_comes(read_clock(LEVEL_THREAD));
	now += 50;
	state.own.sums.open[SUM_THREAD].gap_ns = 51; /* another CPU's clock read came later */
	assert_int_equal(thread_goes(), 0);
	assert_int_equal(state.own.sums.misfits, 1);
	view_free(&v);
}

static void test_percentiles(void **unused)
{
	struct view v = {.run.sums = true};
	struct record r = {.kind = RECORD_SOFTIRQ, .id = 1};
	const struct hist *h;

	(void)unused;
	begin(&v);
	for (uint64_t ns = 1; ns < 20000000000; ns += 1 + ns / 50) {
		memset(table, 0, sizeof(table));
		sum_add(&state, LEVEL_SOFTIRQ, &r, 0, ns, SUM_WHOLE);
		for (int i = 0; i < 99; i++) /* longer runs behind it */
			sum_add(&state, LEVEL_SOFTIRQ, &r, 0, 1ULL << 40, SUM_WHOLE);
		assert_int_equal(sums_fill(&v, 0, table, &names), 0);
		h = &v.cpu[0].sources.row[0]->net;
		assert_int_equal(h->count, 100);
		assert_true(hist_percentile(h, 1) >= ns);
		if (ns >= 64 && ns < 1ULL << SUM_LAST)
			assert_true(hist_percentile(h, 1) <= ns + ns / 2 + ns / 64);
	}
	view_free(&v);
}

/* Time without a row of its own is in its kind's rest. */
static void test_rest(void **unused)
{
	struct view v = {.run.sums = true};
	struct record r = {.kind = RECORD_SOFTIRQ};
	const struct source *rest;

	(void)unused;
	begin(&v);
	for (uint32_t i = 0; i < 1000; i++) {
		r.id = i;
		sum_add(&state, LEVEL_SOFTIRQ, &r, 0, 1000, SUM_WHOLE);
	}
	assert_int_equal(sums_fill(&v, 0, table, &names), 0);
	assert_int_equal(v.cpu[0].attributed_ns, 1000 * 1000);
	assert_int_equal(v.cpu[0].hiccups.count, 1000);
	rest = v.cpu[0].sources.rest[SOURCE_SOFTIRQ];
	assert_non_null(rest);
	assert_in_range(rest->count, 1000 - SUM_SOFTIRQS, 999);
	view_free(&v);
	begin(&v);
	for (uint32_t i = 0; i < 2000; i++) { /* two kinds of one level */
		r.kind = i % 2 ? RECORD_VECTOR : RECORD_IRQ;
		r.id = i;
		sum_add(&state, LEVEL_IRQ, &r, 0, r.kind == RECORD_IRQ ? 1000 : 10, SUM_WHOLE);
	}
	assert_int_equal(sums_fill(&v, 0, table, &names), 0);
	assert_int_equal(v.cpu[0].attributed_ns, 1000 * 1010);
	for (int i = 0; i < 2; i++) {
		rest = v.cpu[0].sources.rest[i ? SOURCE_VECTOR : SOURCE_IRQ];
		assert_non_null(rest);
		assert_in_range(rest->count, 1000 - SUM_IRQS, 999);
		assert_int_equal(rest->net.sum, rest->count * (i ? 10 : 1000));
	}
	view_free(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_moved_waits),
		cmocka_unit_test(test_percentiles),
		cmocka_unit_test(test_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
