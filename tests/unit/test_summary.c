/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contents of a summary: totals, the worst hiccups in their order, and the bounds of edges from
 * what was learned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "../world/world.h"
#include "model/summary.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MANY         5000

static const unsigned cpus[] = {2, 5, 130};
static struct view s;

static int begin(void **state)
{
	(void)state;
	world_view(&s, "", cpus, COUNT(cpus));
	return 0;
}

static int end(void **state)
{
	(void)state;
	view_free(&s);
	return 0;
}

/* A hiccup without pieces, all edge. start_ns tells it from others. */
static void add(uint32_t cpu, uint64_t duration, uint64_t start)
{
	struct piece none;
	struct account a = {
		.start_ns = start, .duration_ns = duration, .edge_ns = duration, .pieces = &none};

	summary_add(&s, cpu, &a);
}

static void test_empty(void **state)
{
	(void)state;
	assert_int_equal(s.ncpus, COUNT(cpus));
	assert_int_equal(s.nworst, 0);
	for (unsigned i = 0; i < COUNT(cpus); i++) {
		assert_int_equal(s.cpu[i].number, cpus[i]);
		assert_int_equal(s.cpu[i].hiccups.count, 0);
		assert_int_equal(s.cpu[i].sources.count, 0);
	}
}

static void test_totals(void **state)
{
	struct piece none;
	struct account a = {.pieces = &none,
			    .duration_ns = 1000,
			    .attributed_ns = 600,
			    .edge_ns = 150,
			    .outside_ns = 250,
			    .pre_ns = 100,
			    .post_ns = 30};
	const struct source *outside;

	(void)state;
	summary_add(&s, 1, &a);
	a.duration_ns = 750;
	a.outside_ns = 0;
	summary_add(&s, 1, &a);
	a.duration_ns = 760;
	a.outside_ns = 10;
	summary_add(&s, 1, &a);
	assert_int_equal(s.cpu[1].sources.count, 0); /* the verdicts come later */
	summary_outside(&s, 1, 0, 250, WORD_STEAL);
	summary_outside(&s, 2, 0, 5, WORD_STEAL);
	summary_outside(&s, 1, 0, 10, WORD_STEAL);
	summary_outside(&s, 1, 0, 1, WORD_SIMULTANEOUS);
	assert_int_equal(s.cpu[1].hiccups.count, 3);
	assert_int_equal(s.cpu[1].hiccups.sum, 2510);
	assert_int_equal(s.cpu[1].hiccups.max, 1000);
	assert_int_equal(s.cpu[1].attributed_ns, 1800);
	assert_int_equal(s.cpu[1].edge_ns, 450);
	assert_int_equal(s.cpu[1].outside_ns, 260);
	assert_int_equal(s.cpu[1].pre_ns, 300);
	assert_int_equal(s.cpu[1].post_ns, 90);
	assert_int_equal(s.cpu[1].sources.count, 2);
	assert_string_equal(s.cpu[1].sources.row[1]->name, "simultaneous");
	outside = s.cpu[1].sources.row[0];
	assert_int_equal(outside->kind, SOURCE_OUTSIDE);
	assert_string_equal(outside->name, "steal");
	assert_int_equal(outside->hiccups, 2);
	assert_int_equal(outside->net.count, 2);
	assert_int_equal(outside->net.sum, 260);
	assert_int_equal(outside->net.max, 250);
	assert_int_equal(outside->slices.largest, 250);
	assert_int_equal(s.cpu[1].slices.largest, 1000);
	assert_int_equal(s.cpu[0].hiccups.count, 0);
	assert_int_equal(s.cpu[2].hiccups.count, 0);
}

static void test_worst_few(void **state)
{
	static const uint64_t durations[] = {30, 90, 10, 90, 50, 10};
	static const uint64_t want[] = {1, 3, 4,
					0, 2, 5}; /* the earlier of equal ones stays first */

	(void)state;
	for (unsigned i = 0; i < COUNT(durations); i++)
		add(i % 3, durations[i], i);
	assert_int_equal(s.nworst, COUNT(durations));
	for (unsigned i = 0; i < COUNT(want); i++) {
		assert_int_equal(s.worst[i].start_ns, want[i]);
		assert_int_equal(s.worst[i].duration_ns, durations[want[i]]);
		assert_int_equal(s.worst[i].edge_ns, durations[want[i]]);
		assert_int_equal(s.worst[i].cpu, want[i] % 3);
		assert_int_equal(s.worst[i].npieces, 0);
	}
}

static void test_worst_equal(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3 * WORST_MAX; i++)
		add(0, 700, i);
	assert_int_equal(s.nworst, WORST_MAX);
	for (unsigned i = 0; i < WORST_MAX; i++)
		assert_int_equal(s.worst[i].start_ns, i);
	add(0, 701, 1000);
	add(0, 700, 1001);
	add(0, 699, 1002);
	assert_int_equal(s.worst[0].start_ns, 1000);
	for (unsigned i = 1; i < WORST_MAX; i++)
		assert_int_equal(s.worst[i].start_ns, i - 1);
}

struct kept {
	uint64_t duration, start;
};

static int by_duration(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	if (x->duration != y->duration)
		return x->duration < y->duration ? 1 : -1;
	return x->start < y->start ? -1 : x->start > y->start;
}

/* Against a sort of all of them. Few lengths, so that many are equal where the list ends. */
static void test_worst_of_many(void **state)
{
	static struct kept all[MANY];

	(void)state;
	srandom(4);
	for (unsigned i = 0; i < MANY; i++) {
		all[i] = (struct kept){(uint64_t)random() % 600, i};
		add((uint32_t)i % COUNT(cpus), all[i].duration, i);
	}
	qsort(all, MANY, sizeof(all[0]), by_duration);
	assert_int_equal(s.nworst, WORST_MAX);
	for (unsigned i = 0; i < WORST_MAX; i++) {
		assert_int_equal(s.worst[i].duration_ns, all[i].duration);
		assert_int_equal(s.worst[i].start_ns, all[i].start);
		assert_int_equal(s.worst[i].cpu, all[i].start % COUNT(cpus));
	}
}

static void test_worst_rising_and_falling(void **state)
{
	(void)state;
	for (unsigned i = 1; i <= 100; i++)
		add(0, i, i);
	for (unsigned i = 100; i; i--)
		add(1, i, 1000 + i);
	for (unsigned i = 0; i < WORST_MAX; i++) {
		assert_int_equal(s.worst[i].duration_ns, 100 - i / 2);
		assert_int_equal(s.worst[i].cpu, i % 2);
	}
}

static void assert_pieces(const struct worst *w, const struct piece *want, uint32_t n)
{
	assert_int_equal(w->npieces, n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(w->pieces[i].source, want[i].source);
		assert_int_equal(w->pieces[i].net_ns, want[i].net_ns);
	}
}

static void test_worst_pieces(void **state)
{
	struct piece pieces[] = {{.source = 7, .net_ns = 20}, {.source = 3, .net_ns = 500},
				 {.source = 9, .net_ns = 0},  {.source = 5, .net_ns = 20},
				 {.source = 1, .net_ns = 20}, {.source = 4, .net_ns = 501}};
	static const struct piece want[] = {
		{.source = 4, .net_ns = 501}, {.source = 3, .net_ns = 500},
		{.source = 1, .net_ns = 20},  {.source = 5, .net_ns = 20},
		{.source = 7, .net_ns = 20},  {.source = 9, .net_ns = 0}};
	struct account a = {.duration_ns = 1061,
			    .attributed_ns = 1061,
			    .pieces = pieces,
			    .npieces = COUNT(pieces)};

	(void)state;
	for (uint32_t i = 0; i < 10; i++)
		sources_find(&s.cpu[0].sources, SOURCE_IRQ, i, "device", NULL);
	summary_add(&s, 0, &a);
	assert_int_equal(pieces[0].source, 7); /* the join's own are left alone */
	memset(pieces, 0xff, sizeof(pieces));  /* the spans are the join's to use again */
	assert_pieces(&s.worst[0], want, COUNT(want));
	assert_int_equal(s.cpu[0].sources.row[4]->slices.largest, 501);
	/* Spans move with their hiccup, and go with it. */
	add(0, 2000, 1);
	assert_int_equal(s.worst[0].npieces, 0);
	assert_pieces(&s.worst[1], want, COUNT(want));
	for (unsigned i = 0; i < WORST_MAX; i++)
		add(0, 3000, i);
	for (unsigned i = 0; i < WORST_MAX; i++)
		assert_int_equal(s.worst[i].npieces, 0);
}

/* ---- edges ---- */

static struct edge_times e;

static int begin_edges(void **state)
{
	(void)state;
	return edge_times_init(&e);
}

static int end_edges(void **state)
{
	(void)state;
	edge_times_free(&e);
	return 0;
}

static void learn(unsigned n, bool thread, uint64_t pre, uint64_t post)
{
	struct account a = {.intervals = 1,
			    .pre_ns = pre,
			    .post_ns = post,
			    .first_thread = thread,
			    .last_thread = thread};

	while (n--)
		edge_times_add(&e, &a);
}

static void assert_bounds(bool guest, uint64_t irq_ns, uint64_t thread_ns)
{
	struct edge_bounds b = edge_times_bounds(&e, guest);

	assert_int_equal(b.irq_ns, irq_ns);
	assert_int_equal(b.thread_ns, thread_ns);
}

static void test_no_samples(void **state)
{
	struct account nothing = {.duration_ns = 5000, .outside_ns = 5000};

	(void)state;
	assert_bounds(false, 2000, 5000);
	for (unsigned i = 0; i < 100; i++)
		edge_times_add(&e, &nothing); /* says nothing about edges */
	assert_int_equal(
		e.pre_irq.count + e.post_irq.count + e.pre_thread.count + e.post_thread.count, 0);
	learn(7, false, 60, 50); /* too few */
	learn(7, true, 60, 50);
	assert_bounds(false, 2000, 5000);
	assert_bounds(true, 2000, 5000);
}

/* Values below 128 have buckets of their own: percentiles are exact. */
static void test_bounds(void **state)
{
	(void)state;
	learn(100, false, 70, 50);
	learn(100, true, 110, 90);
	assert_bounds(true, 150, 330);  /* three times the way out, and the scheduler's on top */
	assert_bounds(false, 150, 330); /* a bound of more than was seen */
	learn(5, false, 200, 50);
	assert_bounds(false, 200, 380); /* bare metal: what was seen of the way in */
	assert_bounds(true, 150, 330);  /* guest: the way in may be the hypervisor's */
	learn(10, false, 40, 126);
	assert_bounds(true, 150, 330); /* nine in ten */
	assert_bounds(false, 200, 380);
}

/* The origin of the bounds is told: ways out, of which a thread's are none. */
static void test_seen(void **state)
{
	struct edge_seen seen = edge_times_seen(&e);

	(void)state;
	assert_int_equal(seen.samples + seen.in_p50_ns + seen.out_p90_ns, 0);
	learn(60, false, 70, 50);
	learn(40, false, 90, 30);
	learn(500, true, 110, 100);
	seen = edge_times_seen(&e);
	assert_int_equal(seen.samples, 100);
	assert_int_equal(seen.in_p50_ns, 70);
	assert_int_equal(seen.in_p90_ns, 90);
	assert_int_equal(seen.out_p50_ns, 50);
	assert_int_equal(seen.out_p90_ns, 50);
}

/* The hypervisor's delivery is microseconds: it must not become edge in a guest. */
static void test_guest(void **state)
{
	(void)state;
	learn(100, false, 8000, 60);
	assert_bounds(true, 180, 5000);
	assert_true(edge_times_bounds(&e, false).irq_ns >= 8000);
}

/* A thread's edge is an interrupt's and the scheduler's, however few threads were seen. */
static void test_thread_bound_covers_the_interrupt(void **state)
{
	(void)state;
	learn(100, false, 9000, 4000);
	learn(3, true, 100, 100);
	for (int guest = 0; guest < 2; guest++) {
		struct edge_bounds b = edge_times_bounds(&e, guest);

		assert_true(b.irq_ns >= 8000);
		assert_true(b.thread_ns >= b.irq_ns);
	}
}

static void test_first_and_last_differ(void **state)
{
	struct account a = {.intervals = 2, .pre_ns = 11, .post_ns = 22, .last_thread = true};

	(void)state;
	edge_times_add(&e, &a);
	a.first_thread = true;
	a.last_thread = false;
	a.pre_ns = 33;
	a.post_ns = 44;
	edge_times_add(&e, &a);
	assert_int_equal(e.pre_irq.count, 1);
	assert_int_equal(e.pre_irq.sum, 11);
	assert_int_equal(e.post_thread.sum, 22);
	assert_int_equal(e.pre_thread.sum, 33);
	assert_int_equal(e.post_irq.sum, 44);
}

#define TEST(f)  cmocka_unit_test_setup_teardown(f, begin, end)
#define EDGES(f) cmocka_unit_test_setup_teardown(f, begin_edges, end_edges)

/* The worst keep their own copy of when each piece ran; what is pushed out is freed (the
 * sanitizers' word). */
static void test_worst_spans(void **state)
{
	struct span spans[2] = {{.start_ns = 1, .end_ns = 5},
				{.start_ns = 2, .end_ns = 3, .source = 4, .depth = 1}};
	struct account a = {.spans = spans, .nspans = 2, .spans_left = 9};

	(void)state;
	add(0, 300, 0);
	for (uint64_t i = 0; i < 2 * WORST_MAX; i++) {
		a.start_ns = a.duration_ns = 1000 + i;
		spans[0].source = i;
		summary_add(&s, 0, &a);
	}
	assert_int_equal(s.nworst, WORST_MAX);
	for (uint32_t i = 0; i < WORST_MAX; i++) {
		assert_int_equal(s.worst[i].nspans, 2);
		assert_int_equal(s.worst[i].spans_left, 9);
		assert_int_equal(s.worst[i].spans[0].source, 2 * WORST_MAX - 1 - i);
		assert_int_equal(s.worst[i].spans[1].source, 4);
	}
	add(0, 5000, 1);
	assert_int_equal(s.worst[0].nspans, 0);
}

/* Sources that go into their kind's rest take the worst hiccups' pieces along; the others' stay
 * theirs, wherever those are now. */
static void test_worst_follow(void **state)
{
	struct sources *t = &s.cpu[0].sources;
	uint64_t ns;
	char name[16];

	(void)state;
	for (uint32_t i = 0; i < 3000; i++) {
		struct piece pieces[2];
		struct span span = {.start_ns = i, .end_ns = i + 100};
		struct account a = {
			.start_ns = i, .pieces = pieces, .npieces = 2, .spans = &span, .nspans = 1};

		snprintf(name, sizeof(name), "n%u", i);
		pieces[1] = (struct piece){.source = sources_find(t, SOURCE_IRQ, 7, "disk", NULL),
					   .net_ns = 50};
		pieces[0] = (struct piece){.source = sources_find(t, SOURCE_THREAD, 9, name, NULL),
					   .net_ns = i == 10 ? 90000 : 1000 - i / 100};
		span.source = pieces[0].source;
		a.duration_ns = a.attributed_ns = pieces[0].net_ns + 50;
		for (unsigned k = 0; k < 2; k++)
			source_add(t->row[pieces[k].source], pieces[k].net_ns, true);
		summary_add(&s, 0, &a);
	}
	summary_settle(&s);
	assert_true(sources_merged(t, SOURCE_THREAD, &ns) > 1000);
	assert_int_equal(s.nworst, WORST_MAX);
	for (uint32_t i = 0; i < WORST_MAX; i++) {
		const struct worst *w = &s.worst[i];
		const struct source *first = t->row[w->pieces[0].source];

		snprintf(name, sizeof(name), "n%llu", (unsigned long long)w->start_ns);
		assert_int_equal(w->npieces, 2);
		assert_true(first->rest || !strcmp(first->name, name));
		assert_ptr_equal(t->row[w->spans[0].source], first);
		assert_string_equal(t->row[w->pieces[1].source]->name, "disk");
		assert_int_equal(w->pieces[0].net_ns + w->pieces[1].net_ns, w->duration_ns);
	}
	assert_string_equal(t->row[s.worst[0].pieces[0].source]->name, "n10");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_empty),
		TEST(test_totals),
		TEST(test_worst_few),
		TEST(test_worst_equal),
		TEST(test_worst_of_many),
		TEST(test_worst_rising_and_falling),
		TEST(test_worst_pieces),
		TEST(test_worst_follow),
		TEST(test_worst_spans),
		EDGES(test_no_samples),
		EDGES(test_bounds),
		EDGES(test_seen),
		EDGES(test_guest),
		EDGES(test_thread_bound_covers_the_interrupt),
		EDGES(test_first_and_last_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
