/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Suspects when many CPUs stopped: drawn timelines, none of many who had nothing to do with it,
 * and what a recording keeps. A column is a millisecond; a row of letters is who runs on a CPU, '#'
 * is a stop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/suspects.h"
#include "model/view.h"
#include "recording/together.h"

#define MS    1000000ULL
#define MOST  200000
#define STOPS 4000

static struct stop stops[STOPS];
static struct presence *seen;
static uint32_t nstops, seen_n;
static struct suspects all;
static struct suspect named;

static int begin(void **state)
{
	(void)state;
	seen = calloc(MOST, sizeof(*seen));
	return seen ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	suspects_free(&all);
	free(seen);
	return 0;
}

static void fresh(void)
{
	nstops = seen_n = 0;
}

static struct presence *ran(uint32_t who, uint64_t start_ns, uint64_t end_ns)
{
	struct presence *p = &seen[seen_n++];

	assert_true(seen_n < MOST);
	*p = (struct presence){start_ns, end_ns, .tid = 1000 + who};
	snprintf(p->comm, sizeof(p->comm), "t%u", who);
	return p;
}

/* Repeats the drawing `times` times, one behind the other. */
static void draw(const char *const rows[], unsigned times)
{
	uint64_t columns = strlen(rows[0]);

	fresh();
	for (unsigned turn = 0; turn < times; turn++)
		for (unsigned r = 0; rows[r]; r++)
			for (uint64_t at = 0, to; at < columns; at = to) {
				uint64_t base = (turn + 1) * columns;

				assert_int_equal(strlen(rows[r]), columns);
				for (to = at; to < columns && rows[r][to] == rows[r][at]; to++)
					;
				if (rows[r][at] == '#')
					stops[nstops++] =
						(struct stop){(base + at) * MS, (base + to) * MS};
				else if (rows[r][at] != '.')
					ran(rows[r][at] - 'a', (base + at) * MS, (base + to) * MS);
			}
}

/* Gives the stops to the suspects as the reader does. */
static void find(void)
{
	suspects_free(&all);
	all.looked = true;
	all.of_cpus = 2;
	for (uint32_t i = 0; i < nstops; i++) {
		struct stop s = stops[i];
		uint64_t from;

		s.cpus = 2;
		s.apart_ns = i ? s.start_ns - stops[i - 1].start_ns : 0;
		from = suspects_cell(&s);
		if ((i && stops[i - 1].end_ns > from) ||
		    (i + 1 < nstops && stops[i + 1].start_ns < from + s.cell_ns))
			s.cell_ns = 0;
		suspects_add(&all, &s, seen, seen_n);
	}
	assert_int_equal(suspects_find(&all, &named), 0);
}

static void nobody(const char *const rows[], unsigned times)
{
	draw(rows, times);
	find();
	assert_false(named.named);
}

#define PAUSE_48 "................................................"

static const char *const made[] = {"..........###..................................." PAUSE_48,
				   ".........ggggg...........................aaa...." PAUSE_48,
				   "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
				   "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
				   NULL};

static void test_drawn(void **state)
{
	struct stop_period p;

	(void)state;
	draw(made, 20);
	find();
	assert_true(named.named && !named.several);
	assert_int_equal(all.thread[named.who].tid, 1000 + 'g' - 'a');
	assert_int_equal(named.there, named.of);
	assert_in_range(named.of, 15, 20); /* alone in their cells */
	assert_true(named.share > 0.05 && named.share < SUSPECT_ELSE);
	assert_true(named.chance < SUSPECT_CHANCE);
	assert_int_equal(named.cpu, 0);
	assert_int_equal(suspects_period(&all, &p), 0);
	assert_true(p.median_ns == 96 * MS && p.low_ns == 96 * MS && p.high_ns == 96 * MS);
	draw(made, 4); /* too few */
	find();
	assert_false(named.named);
}

static void test_nobody(void **state)
{
	static const char *const always[] = {
		"..........###..................................." PAUSE_48,
		"gggggggggggggggggggggggggggggggggggggggggggggggg"
		"gggggggggggggggggggggggggggggggggggggggggggggggg",
		NULL};
	static const char *const ends[] = {
		"..........###..................................." PAUSE_48,
		".........ggg...................................." PAUSE_48, NULL};
	static const char *const begins[] = {
		"..........###..................................." PAUSE_48,
		"...........ggggg................................" PAUSE_48, NULL};
	static const char *const often[] = {
		"..........###..................................." PAUSE_48,
		".........ggggg..gggg..gggg..gggg..gggg..gggg..gg"
		"gg..gggg..gggg..gggg..gggg..gggg..gggg..gggg..gg",
		NULL};
	static const char *const none[] = {
		"..........###..................................." PAUSE_48, NULL};
	static const char *const dense[] = {"..###....###....###....###...",
					    ".ggggg..ggggg..ggggg..ggggg..", NULL};

	(void)state;
	nobody(always, 100);
	nobody(ends, 100);   /* ran on to the stop, and was gone when that ended */
	nobody(begins, 100); /* came with it */
	nobody(often, 100);
	nobody(none, 100);
	nobody(dense, 100); /* no time around them */
	assert_int_equal(named.of, 0);
	fresh();
	find();
	assert_false(named.named);
}

static uint64_t next(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* Thirty who run by themselves, in bursts, and stops at any time: by the bound fewer than one of
 * a million such runs names somebody. */
static void test_by_chance(void **state)
{
	uint64_t x = 88172645463325252;

	(void)state;
	for (unsigned turn = 0; turn < 40; turn++) {
		fresh();
		for (uint64_t at = 1000; nstops < 5 + turn; at += 20 + next(&x) % 400, nstops++)
			stops[nstops] = (struct stop){at * MS, (at + 1 + turn % 4) * MS};
		for (uint32_t who = 0; who < 30; who++)
			for (uint64_t at = next(&x) % 100, i = 0; i < 300; i++) {
				uint64_t runs = 1 + next(&x) % (5 + who % 20);

				ran(who, at * MS, (at + runs) * MS);
				at += runs + next(&x) % (i % 60 < 30 ? 5 : 100 + who);
			}
		find();
		assert_false(named.named);
	}
}

/* One is there at 39 of 40, in a system call as far as is known; others run by themselves. */
static void test_among_many(void **state)
{
	uint64_t x = 362436069;

	(void)state;
	fresh();
	for (uint64_t at = 1000; nstops < 400; at += 260 + next(&x) % 400, nstops++) {
		struct presence *p;

		stops[nstops] = (struct stop){at * MS, (at + 3) * MS};
		if (nstops % 40 == 0)
			continue;
		p = ran(77, at * MS - 30000, (at + 3) * MS + 20000);
		p->cpu = nstops % 2;
		p->call = nstops % 4 ? 0 : 2 + 16;
		p->call_ns = (at + 3) * MS;
	}
	for (uint32_t who = 0; who < 10; who++)
		for (uint64_t at = next(&x) % 100, i = 0; i < 1000; i++) {
			ran(who, at * MS, (at + 2) * MS);
			at += 3 + next(&x) % 200;
		}
	find();
	assert_true(named.named);
	assert_int_equal(all.thread[named.who].tid, 1077);
	assert_true(named.of > 200 && named.there < named.of && named.as_good == 0);
	assert_true(named.elsewhere < 0.01);
	assert_int_equal(named.cpu, UINT32_MAX); /* on two */
	assert_int_equal(named.call, 2 + 16);
	assert_true(named.call_known > 50 && named.call_there == named.call_known);
}

/* A command that is run anew each time is named by its name; and where a thread is there at each
 * stop, that one is. */
static void test_command(void **state)
{
	(void)state;
	fresh();
	for (uint32_t i = 0; i < 30; i++) {
		struct presence *p;

		stops[nstops++] = (struct stop){(1000 + 333 * i) * MS, (1004 + 333 * i) * MS};
		p = ran(i, (999 + 333 * i) * MS, (1005 + 333 * i) * MS);
		snprintf(p->comm, sizeof(p->comm), "gpu-query");
	}
	find();
	assert_true(named.named && named.several);
	assert_string_equal(all.thread[named.who].comm, "gpu-query");
	for (uint32_t i = 0; i < 30; i++)
		ran(500, (999 + 333 * i) * MS, (1005 + 333 * i) * MS);
	find();
	assert_true(named.named && !named.several);
	assert_int_equal(all.thread[named.who].tid, 1500);
}

/* However many stops there are, the rows stay few, and the counts true. */
static void test_bounded(void **state)
{
	(void)state;
	fresh();
	for (nstops = 0; nstops < STOPS; nstops++)
		stops[nstops] =
			(struct stop){(1000 + 333 * nstops) * MS, (1004 + 333 * nstops) * MS};
	for (uint32_t i = 0; i < 100; i++)
		ran(i, (1000 + 20 * i) * MS, (1001 + 20 * i) * MS);
	find();
	assert_int_equal(all.stops, STOPS);
	assert_in_range(all.nrows, SUSPECT_ROWS / 2, SUSPECT_ROWS);
	assert_int_equal(all.stride, 4);
	for (uint32_t i = 0; i < all.nrows; i++)
		assert_int_equal(all.row[i].start_ns, stops[4 * i].start_ns);
}

/* ---- in recordings ---- */

static struct suspects read_again(const struct bytes *b, bool *bad)
{
	struct reading r = {b->at, b->at + b->len, false};
	struct suspects s = {0};

	get_suspects(&r, &s);
	*bad = r.bad;
	return s;
}

static void test_recorded(void **state)
{
	char before[SUSPECTS_SAID], after[SUSPECTS_SAID];
	struct redact *redact = redact_new(0);
	struct view v = {.host.arch = "x86_64"};
	struct bytes b = {0}, hidden = {0};
	struct suspects again;
	bool bad;

	(void)state;
	draw(made, 20);
	find();
	put_suspects(&b, &all, NULL);
	assert_false(b.failed);
	v.suspects = all;
	v.suspect = named;
	assert_non_null(suspects_say(&v, before, sizeof(before)));
	assert_non_null(strstr(before, "when 2 of 2 CPUs stopped together, every 96.0 ms"));
	assert_non_null(strstr(before, "t6 [1006] ran on cpu 0 at "));
	again = read_again(&b, &bad);
	assert_false(bad);
	v.suspects = again;
	assert_int_equal(suspects_find(&again, &v.suspect), 0);
	assert_string_equal(suspects_say(&v, after, sizeof(after)), before);
	suspects_cut(&again, stops[5].start_ns, stops[12].start_ns);
	assert_int_equal(again.nrows, 7);
	suspects_free(&again);
	put_suspects(&hidden, &all, redact);
	again = read_again(&hidden, &bad);
	assert_false(bad);
	for (uint32_t i = 0; i < again.nthreads; i++)
		assert_memory_equal(again.thread[i].comm, "user-", 5);
	suspects_free(&again);
	/* Cut off anywhere it means nothing, and any byte may be any other. */
	for (size_t len = 0; len < b.len; len++) {
		again = read_again(&(struct bytes){.at = b.at, .len = len}, &bad);
		assert_true(bad && !again.looked);
		suspects_free(&again);
	}
	for (size_t i = 0; i < b.len; i++)
		for (unsigned value = 0; value < 256; value += 51) {
			uint8_t was = b.at[i];
			struct suspect s;

			b.at[i] = value;
			again = read_again(&b, &bad);
			if (!bad)
				assert_int_equal(suspects_find(&again, &s), 0);
			suspects_free(&again);
			b.at[i] = was;
		}
	free(b.at);
	free(hidden.at);
	redact_free(redact);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drawn),     cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_by_chance), cmocka_unit_test(test_among_many),
		cmocka_unit_test(test_command),   cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_recorded),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
