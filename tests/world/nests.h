/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random nests, and an oracle that owns every nanosecond of them in arrays: the innermost interval
 * there, and the outermost. In an exact world pieces, edge and outside must be the oracle's. In a
 * messy one records are dropped and times are wrong: there the sums must hold, and every dropped
 * record be counted. JOIN_SEED=n repeats a run. */
#ifndef CULPRIT_TESTS_NESTS_H
#define CULPRIT_TESTS_NESTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chance.h"
#include "model/join.h"
#include "records.h"

#define BATCH_MAX   5 /* hiccups whose records are given at once */
#define RECORDS_MAX 250000
#define SPAN_MAX    24000000
/* Less than the join allows: here records come every 10 ns or so, and it keeps 64. */
#define LATE_NS 300
#define PLAY_NS 150 /* largest error of a messy world's times */

enum {
	KEY_THREAD,
	KEY_SOFTIRQ = 10,
	KEY_IRQ = 20,
	KEY_VECTOR = 30,
	KEY_FLUSH,
	KEY_NMI,
	KEY_FAULT,
	KEYS,
};

static const struct edge_bounds bounds = {.irq_ns = 25, .thread_ns = 60};
static const uint64_t threshold_ns = 150;

/* Events on the CPU: records by end, and the oracle's arrays from begin_ns on. */
static struct world {
	uint64_t begin_ns, now_ns;
	struct record *record;
	bool *dropped;
	unsigned nrecords;
	struct hiccup hiccup[BATCH_MAX];
	unsigned nhiccups;
	uint64_t first_fault_ns;
	uint32_t cursor[LEVELS];
	uint64_t seen, lost, short_ones; /* expected */
	uint8_t *inner;                  /* a key, KEYS: nobody */
	uint8_t *outer;                  /* 0 nobody, 1 a thread, 2 else */
	bool messy;
} w;

/* ---- making a world ---- */

static struct record *new_record(struct record r)
{
	struct record *at = &w.record[w.nrecords];
	bool dropped = w.messy && one_in(12);

	assert_true(w.nrecords < RECORDS_MAX);
	w.dropped[w.nrecords++] = dropped;
	w.lost += dropped;
	w.seen += !dropped;
	if (w.messy && one_in(6)) {
		r.start_ns -= below(PLAY_NS);
		r.end_ns += below(PLAY_NS);
	}
	r.seq = ++w.cursor[r.level];
	*at = r;
	return at;
}

static unsigned pick_key(unsigned level)
{
	switch (level) {
	case LEVEL_THREAD:
		return KEY_THREAD + 1 + below(6);
	case LEVEL_SOFTIRQ:
		return KEY_SOFTIRQ + below(10);
	case LEVEL_IRQ:
		return one_in(3) ? KEY_VECTOR + below(2) : KEY_IRQ + below(8);
	default:
		return KEY_NMI;
	}
}

static void record_key(unsigned level, unsigned key, uint64_t start, uint64_t end)
{
	char name[16];

	if (level == LEVEL_THREAD) {
		snprintf(name, sizeof(name), "thread-%u", key);
		new_record(thread(key, name, start, end));
	} else if (level == LEVEL_SOFTIRQ) {
		new_record(softirq(key - KEY_SOFTIRQ, start, end))->flags =
			one_in(8) ? RECORD_PART : 0;
	} else if (level == LEVEL_NMI) {
		new_record(nmi(0, start, end));
	} else if (key < KEY_VECTOR) {
		new_record(irq(key - KEY_IRQ, 0, start, end));
	} else {
		new_record(vector(VECTOR_CALL_FUNCTION, start, end));
	}
}

/* Makes an interval with its children: higher levels, here and there without a gap. The children
 * are painted over it and recorded before it. every_ns: 0, or the distance of many children. */
static void make_interval(unsigned level, uint64_t start, uint64_t end, uint64_t every_ns)
{
	unsigned key = pick_key(level);
	uint64_t at = start;

	if (key == KEY_FLUSH && end - start < 2)
		key = KEY_VECTOR;
	memset(w.inner + (start - w.begin_ns), (int)key, end - start);
	/* Not where the flush begins: a record of a lower level that ends there would come after
	 * it. */
	if (key == KEY_FLUSH) {
		at += 1 + below(end - start - 1);
		new_record(instant(RECORD_TLB, LEVEL_IRQ, 1, 0, "", at));
	}
	while (level < LEVEL_NMI && at < end && (every_ns || !one_in(3))) {
		uint64_t left, length;

		at += every_ns ? 1 + below(every_ns) : one_in(3) ? 0 : below(end - at);
		if (at >= end)
			break;
		left = end - at;
		if (every_ns && left > every_ns)
			left = every_ns;
		length = one_in(4) ? left : 1 + below(left);
		make_interval(level + 1 + below(LEVEL_NMI - level), at, at + length, 0);
		at += length;
	}
	record_key(level, key, start, end);
}

static void make_outermost(unsigned level, uint64_t length, uint64_t every_ns)
{
	memset(w.outer + (w.now_ns - w.begin_ns), level == LEVEL_THREAD ? 1 : 2, length);
	make_interval(level, w.now_ns, w.now_ns + length, every_ns);
	w.now_ns += length;
}

static void make_fault(void)
{
	struct record *r = new_record(instant(RECORD_FAULT, LEVEL_THREAD, 0, 0, "", w.now_ns));

	r->end_ns = r->start_ns; /* an instant in a messy world, too */
	if (!w.first_fault_ns)
		w.first_fault_ns = w.now_ns;
}

static struct hiccup *begin_hiccup(void)
{
	struct hiccup *h = &w.hiccup[w.nhiccups++];

	h->start_ns = w.now_ns;
	memcpy(h->before, w.cursor, sizeof(w.cursor));
	w.first_fault_ns = 0;
	return h;
}

/* After its first fault the outermost interval is a fault, and owns the rest of the sampler's
 * time. */
static void end_hiccup(struct hiccup *h)
{
	if (w.now_ns == h->start_ns)
		w.now_ns++;
	h->end_ns = w.now_ns;
	memcpy(h->after, w.cursor, sizeof(w.cursor));
	for (uint64_t ns = w.first_fault_ns; ns && ns < h->end_ns; ns++) {
		uint64_t i = ns - w.begin_ns;

		if (!w.outer[i])
			w.inner[i] = KEY_FAULT;
		w.outer[i] = 2;
	}
}

static void begin_world(uint64_t span)
{
	w.begin_ns = w.now_ns;
	w.nrecords = w.nhiccups = 0;
	memset(w.inner, KEYS, span);
	memset(w.outer, 0, span);
}

static void world_init(void)
{
	const char *given = getenv("JOIN_SEED");

	seed = given ? strtoull(given, NULL, 0) : 20240607;
	seed += !seed;
	print_message("# JOIN_SEED=%llu\n", (unsigned long long)seed);
	w.record = calloc(RECORDS_MAX, sizeof(*w.record));
	w.dropped = calloc(RECORDS_MAX, sizeof(*w.dropped));
	w.inner = malloc(SPAN_MAX);
	w.outer = malloc(SPAN_MAX);
	if (!w.record || !w.dropped || !w.inner || !w.outer)
		exit(1);
}

static void world_free(void)
{
	free(w.record);
	free(w.dropped);
	free(w.inner);
	free(w.outer);
}

/* ---- the join of a world ---- */

static struct sources sources;
static struct join *join;
static uint64_t attributed_ns, outside_ns, edge_ns, lasted_ns;

static const char *name_of_irq(void *ctx, uint32_t irq)
{
	static const char *const names[] = {"irq0", "irq1", "irq2", "irq3",
					    "irq4", "irq5", "irq6", "irq7"};

	(void)ctx;
	return names[irq];
}

static void begin_join(bool messy)
{
	static const struct names names = {.irq = name_of_irq};

	w.messy = messy;
	w.now_ns = 77000000000;
	w.seen = w.lost = w.short_ones = 0;
	attributed_ns = outside_ns = edge_ns = lasted_ns = 0;
	assert_int_equal(sources_init(&sources), 0);
	join = join_new(&(struct join_options){.sources = &sources,
					       .names = &names,
					       .threshold_ns = threshold_ns,
					       .bounds = bounds});
	assert_non_null(join);
	for (unsigned i = 0; i < LEVELS; i++)
		w.cursor[i] = random64();
	join_start(join, w.cursor);
}

static unsigned key_of(const struct source *s)
{
	switch (s->kind) {
	case SOURCE_THREAD:
		return KEY_THREAD + s->id;
	case SOURCE_SOFTIRQ:
		return KEY_SOFTIRQ + s->id;
	case SOURCE_IRQ:
		return KEY_IRQ + s->id;
	case SOURCE_VECTOR:
		return s->function ? KEY_FLUSH : KEY_VECTOR;
	case SOURCE_NMI:
		return KEY_NMI;
	default:
		assert_int_equal(s->kind, SOURCE_FAULT);
		return KEY_FAULT;
	}
}

static uint64_t bound_of(unsigned outer)
{
	return outer == 1 ? bounds.thread_ns : outer ? bounds.irq_ns : 0;
}

static void ask_oracle(const struct hiccup *h, uint64_t *net, uint64_t *edge, uint64_t *outside)
{
	uint64_t from = h->start_ns - w.begin_ns, to = h->end_ns - w.begin_ns, gap, bound;

	for (uint64_t i = from; i < to; i++) {
		if (w.outer[i]) {
			net[w.inner[i]]++;
			continue;
		}
		gap = i;
		while (i < to && !w.outer[i])
			i++;
		bound = (gap > from ? bound_of(w.outer[gap - 1]) : 0) +
			(i < to ? bound_of(w.outer[i]) : 0);
		gap = i-- - gap;
		*edge += gap < bound ? gap : bound;
		*outside += gap > bound ? gap - bound : 0;
	}
}

static void assert_near(uint64_t is, uint64_t want, uint64_t slack)
{
	if (is > want + slack || want > is + slack)
		assert_int_equal(is, want);
}

static void check_oracle(const struct hiccup *h, const struct account *a, uint64_t slack)
{
	uint64_t want[KEYS + 1] = {0}, is[KEYS] = {0}, edge = 0, outside = 0;

	ask_oracle(h, want, &edge, &outside);
	assert_int_equal(want[KEYS], 0);
	for (unsigned i = 0; i < a->npieces; i++)
		is[key_of(sources.row[a->pieces[i].source])] += a->pieces[i].net_ns;
	for (unsigned i = 0; i < KEYS; i++)
		assert_near(is[i], want[i], slack);
	assert_near(a->edge_ns, edge, slack);
	assert_near(a->outside_ns, outside, slack);
	assert_int_equal(a->start_ns, h->start_ns);
	assert_int_equal(a->duration_ns, h->end_ns - h->start_ns);
}

/* Checks each sum, because sums that wrap around are equal, too. */
static void assert_no_more(const struct account *a)
{
	assert_true(a->attributed_ns <= a->duration_ns && a->edge_ns <= a->duration_ns);
	assert_true(a->outside_ns <= a->duration_ns && a->lost_ns <= a->duration_ns);
	assert_true(a->lost || !a->lost_ns);
	for (unsigned i = 0; i < a->npieces; i++)
		assert_true(a->pieces[i].net_ns <= a->duration_ns);
}

static void check_account(const struct hiccup *h, const struct account *a, uint64_t slack)
{
	uint64_t pieces = 0;

	for (unsigned i = 0; i < a->npieces; i++)
		pieces += a->pieces[i].net_ns;
	assert_int_equal(pieces, a->attributed_ns);
	assert_no_more(a);
	assert_int_equal(a->attributed_ns + a->edge_ns + a->lost_ns + a->outside_ns,
			 a->duration_ns);
	attributed_ns += a->attributed_ns;
	edge_ns += a->edge_ns;
	outside_ns += a->outside_ns;
	lasted_ns += h->end_ns - h->start_ns;
	if (!w.messy)
		check_oracle(h, a, slack);
}

/* Gives the records, those of one level late by less than a microsecond, in order within the level.
 * batch: 0, or the number of records after which the reader checks for a long hiccup. */
struct giver {
	int late;
	unsigned batch;
};

/* Time since when a thread has had the CPU when this record was the newest. */
static uint64_t off_cpu_ns(unsigned i, const struct hiccup *h)
{
	uint64_t now = w.record[i].end_ns;

	for (; i < w.nrecords && now < h->end_ns; i++)
		if (w.record[i].kind == RECORD_THREAD && w.record[i].end_ns > now)
			return w.record[i].start_ns <= now ? w.record[i].start_ns : 0;
	return 0;
}

static void give_one(const struct giver *g, unsigned i)
{
	if (!w.dropped[i])
		join_record(join, &w.record[i]);
	assert_true(join_waiting(join) <= JOIN_WAIT_ALL);
	if (g->batch && !(i % g->batch) && join_waiting(join) > JOIN_WAIT_MAX)
		join_relieve(join, off_cpu_ns(i, &w.hiccup[0]));
}

static void give(const struct giver *g)
{
	unsigned on_time = 0, late = 0;

	while (on_time < w.nrecords || late < w.nrecords) {
		while (on_time < w.nrecords && w.record[on_time].level == g->late)
			on_time++;
		while (late < w.nrecords && w.record[late].level != g->late)
			late++;
		if (on_time < w.nrecords &&
		    (late >= w.nrecords ||
		     w.record[on_time].end_ns <= w.record[late].end_ns + LATE_NS))
			give_one(g, on_time++);
		else if (late < w.nrecords)
			give_one(g, late++);
	}
}

static void end_join(void)
{
	const struct join_counts *counts = join_counts(join);
	struct hiccup end = {.start_ns = w.now_ns + 100000, .end_ns = w.now_ns + 101000};
	const struct account *a;
	uint64_t sum = 0;

	memcpy(end.before, w.cursor, sizeof(w.cursor));
	memcpy(end.after, w.cursor, sizeof(w.cursor));
	a = join_hiccup(join, &end);
	assert_int_equal(a->outside_ns, 1000);
	assert_int_equal(join_waiting(join), 0);
	for (unsigned i = 0; i < sources.count; i++)
		sum += sources.row[i]->net.sum;
	assert_int_equal(sum, attributed_ns);
	assert_int_equal(counts->seen, w.seen);
	if (w.messy) { /* some may be dropped before their hiccup is known */
		assert_in_range(counts->lost, w.lost, w.lost + counts->below_threshold);
	} else {
		assert_int_equal(counts->lost, w.lost);
		assert_int_equal(attributed_ns + edge_ns + outside_ns,
				 lasted_ns); /* nothing is lost */
		assert_int_equal(counts->mismatches, 0);
		assert_int_equal(counts->below_threshold, w.short_ones);
	}
	join_free(join);
	sources_free(&sources);
}

#endif
