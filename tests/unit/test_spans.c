/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Spans: when each interval of a hiccup ran, as text, and what stays of too many. That their net
 * times are the pieces' is test_nest's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/nest.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define HICCUP_NS    1000

static const struct edge_bounds bounds = {.irq_ns = 10, .thread_ns = 20};

static const char *name_symbol(void *ctx, uint64_t address)
{
	(void)ctx;
	return address == 'a' ? "a" : address == 'b' ? "b" : "c";
}

static const char *name_irq(void *ctx, uint32_t irq)
{
	(void)ctx;
	return irq ? "net" : "disk";
}

static int name_stack(void *ctx, int32_t id, const char **frame)
{
	(void)ctx;
	(void)id;
	(void)frame;
	return 0;
}

static const struct names names = {.irq = name_irq, .symbol = name_symbol, .stack = name_stack};

static struct record record(enum record_kind kind, enum record_level level, uint64_t start,
			    uint64_t end, uint32_t id, uint64_t arg)
{
	return (struct record){.start_ns = start,
			       .end_ns = end,
			       .level = level,
			       .kind = kind,
			       .id = id,
			       .arg = arg};
}

static struct record mark(enum record_level level, uint64_t at, enum mark_kind what,
			  uint64_t function, uint32_t asker)
{
	struct record r = record(RECORD_MARK, level, at, at, asker, function);

	r.mark = what;
	r.flags = asker ? RECORD_ASKED : 0;
	r.stack = -1;
	strcpy(r.name, "poke");
	return r;
}

/* "100-200 who>function", a depth two blanks further in. */
static char *say_spans(const struct sources *t, const struct account *a, char *text, size_t len)
{
	FILE *out = fmemopen(text, len, "w");

	assert_non_null(out);
	for (uint32_t i = 0; i < a->nspans; i++) {
		const struct span *s = &a->spans[i];
		const struct source *who = t->row[s->source];

		fprintf(out, "%s%*s%llu-%llu %s%s%s", i ? ", " : "", 2 * s->depth, "",
			(unsigned long long)s->start_ns, (unsigned long long)s->end_ns, who->name,
			who->function ? ">" : "", who->function ? who->function : "");
		if (s->asker.kind)
			fprintf(out, " by %u", s->asker.tid);
	}
	fclose(out);
	return text;
}

static void spans_are(const struct record *records, size_t n, bool keep, const char *want)
{
	char text[1024] = "";
	struct sources sources;
	struct account *a;
	unsigned stuck;
	struct nest *nest;

	assert_int_equal(sources_init(&sources), 0);
	nest = nest_new(&sources, bounds, &names, false);
	assert_non_null(nest);
	if (keep)
		assert_int_equal(nest_keep_spans(nest), 0);
	for (int again = 0; again < 2; again++) { /* nothing is left of the one before */
		nest_open(nest);
		for (size_t i = 0; i < n; i++)
			nest_take(nest, &records[i], 0, HICCUP_NS);
		a = nest_close(nest, 0, HICCUP_NS, &stuck);
		assert_string_equal(say_spans(&sources, a, text, sizeof(text)), want);
		assert_int_equal(a->spans_left, 0);
	}
	nest_free(nest);
	sources_free(&sources);
}

static void test_order_and_depth(void **state)
{
	const struct record records[] = {
		record(RECORD_NMI, LEVEL_NMI, 120, 130, 0, 0),
		record(RECORD_IRQ, LEVEL_IRQ, 110, 150, 0, 0),
		record(RECORD_SOFTIRQ, LEVEL_SOFTIRQ, 150, 200, 3, 0),
		record(RECORD_THREAD, LEVEL_THREAD, 100, 300, 7, 0),
		record(RECORD_IRQ, LEVEL_IRQ, 400, 450, 1, 0),
	};

	(void)state;
	spans_are(records, COUNT(records), true,
		  "100-300 ,   110-150 disk,     120-130 NMI,   150-200 NET_RX, 400-450 net");
	spans_are(records, COUNT(records), false, "");
}

static void test_functions_follow_each_other(void **state)
{
	const struct record records[] = {
		mark(LEVEL_IRQ, 130, MARK_HRTIMER, 'a', 0),
		record(RECORD_NMI, LEVEL_NMI, 140, 150, 0, 0),
		mark(LEVEL_IRQ, 160, MARK_CSD, 'b', 41),
		mark(LEVEL_IRQ, 200, MARK_IRQ_WORK, 'c', 0),
		record(RECORD_VECTOR, LEVEL_IRQ, 100, 200, VECTOR_LOCAL_TIMER, 236),
	};

	(void)state;
	spans_are(records, COUNT(records), true,
		  "100-160 local_timer>a,   140-150 NMI, 160-200 local_timer>b by 41");
}

static void test_same_begin_and_end(void **state)
{
	const struct record records[] = {
		record(RECORD_IRQ, LEVEL_IRQ, 100, 200, 0, 0),
		record(RECORD_SOFTIRQ, LEVEL_SOFTIRQ, 100, 200, 1, 0),
		record(RECORD_THREAD, LEVEL_THREAD, 100, 200, 7, 0),
	};

	(void)state;
	spans_are(records, COUNT(records), true, "100-200 ,   100-200 TIMER,     100-200 disk");
}

/* A fault, and a thread whose leaving was not traced, last to the end; what sticks out is cut. */
static void test_ends_that_nobody_told(void **state)
{
	const struct record records[] = {
		record(RECORD_FAULT, LEVEL_THREAD, 100, 100, 6, 0),
		record(RECORD_VECTOR, LEVEL_IRQ, 150, 160, VECTOR_LOCAL_TIMER, 236),
		record(RECORD_IRQ, LEVEL_IRQ, 980, 1100, 1, 0),
	};
	const struct record lost[] = {
		record(RECORD_VECTOR, LEVEL_IRQ, 0, 60, VECTOR_LOCAL_TIMER, 236),
		mark(LEVEL_THREAD, 90, MARK_THREAD, 0, 0),
	};

	(void)state;
	spans_are(records, COUNT(records), true,
		  "100-1000 page fault,   150-160 local_timer,   980-1000 net");
	spans_are(lost, COUNT(lost), true, "0-60 local_timer, 90-1000 poke");
}

/* A thousand ticks in a thread: the thread, which comes last, and the longest ticks. */
static void test_bounded(void **state)
{
	const uint32_t many = 5000;
	struct sources sources;
	struct account *a;
	struct nest *nest;
	unsigned stuck;

	(void)state;
	assert_int_equal(sources_init(&sources), 0);
	nest = nest_new(&sources, bounds, &names, false);
	assert_non_null(nest);
	assert_int_equal(nest_keep_spans(nest), 0);
	nest_open(nest);
	for (uint32_t i = 0; i < many; i++) {
		struct record r = record(RECORD_VECTOR, LEVEL_IRQ, 100 * i,
					 100 * i + (i % 10 ? 10 : 50), 1, 236);

		nest_take(nest, &r, 0, UINT64_MAX);
	}
	nest_take(nest, &(struct record){.end_ns = 100 * many, .kind = RECORD_THREAD, .id = 7}, 0,
		  UINT64_MAX);
	a = nest_close(nest, 0, 100 * many, &stuck);
	assert_int_equal(a->nspans, SPANS_MAX);
	assert_int_equal(a->spans_left, many + 1 - SPANS_MAX);
	assert_int_equal(a->spans[0].end_ns, 100 * many);
	assert_int_equal(a->spans[0].depth, 0);
	for (uint32_t i = 1, tens = 0; i < a->nspans; i++) {
		tens += a->spans[i].end_ns - a->spans[i].start_ns == 50;
		assert_true(a->spans[i - 1].start_ns <= a->spans[i].start_ns);
		assert_int_equal(a->spans[i].depth, 1);
		if (i == a->nspans - 1)
			assert_int_equal(tens, many / 10);
	}
	nest_free(nest);
	sources_free(&sources);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_and_depth),
		cmocka_unit_test(test_functions_follow_each_other),
		cmocka_unit_test(test_same_begin_and_end),
		cmocka_unit_test(test_ends_that_nobody_told),
		cmocka_unit_test(test_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
