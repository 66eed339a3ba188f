/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The join on hiccups of very many records, which it must net before they end. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <time.h>

#include "../world/nests.h"

#define LONG_ONES 6

/* ---- random worlds ---- */

enum { LONG_HOG = 1, LONG_STORM = 2, LONG_FAULT = 4, LONG_WAKER = 8 };

static const unsigned long_ones[LONG_ONES] = {
	LONG_HOG,
	LONG_STORM,
	LONG_HOG | LONG_WAKER,
	LONG_HOG | LONG_STORM | LONG_WAKER,
	LONG_STORM | LONG_FAULT,
	LONG_HOG | LONG_STORM | LONG_FAULT | LONG_WAKER,
};

/* Returns the time between the waking interrupt and the first thread: the largest error of
 * folding. */
static uint64_t make_long(unsigned what)
{
	struct hiccup *h;
	uint64_t gap = 0;

	begin_world(SPAN_MAX);
	h = begin_hiccup();
	w.now_ns += 50;
	if (what & LONG_FAULT)
		make_fault();
	if (what & LONG_WAKER) {
		w.now_ns += 20;
		make_outermost(LEVEL_IRQ, 300, 0);
		w.now_ns += gap = 40;
	}
	if (what & LONG_STORM)
		while (w.nrecords < 45000)
			make_outermost(LEVEL_THREAD, 1 + below(300), 0);
	if (what & LONG_HOG)
		make_outermost(LEVEL_THREAD, 3000000, 80);
	if (what & LONG_STORM)
		while (w.nrecords < 100000)
			make_outermost(LEVEL_THREAD, 1 + below(100), 0);
	w.now_ns += 90;
	end_hiccup(h);
	assert_true(w.nrecords > 3 * JOIN_WAIT_MAX && w.now_ns - w.begin_ns < SPAN_MAX);
	return what & LONG_FAULT ? gap + 20 : gap;
}

static void join_long_ones(bool messy)
{
	static const unsigned batches[] = {1, 50, 700, 4096};

	for (unsigned i = 0; i < LONG_ONES; i++) {
		struct giver g = {.late = (int)(i % (LEVELS + 1)) - 1, .batch = batches[i % 4]};
		uint64_t slack;

		begin_join(messy);
		slack = make_long(long_ones[i]);
		give(&g);
		check_account(&w.hiccup[0], join_hiccup(join, &w.hiccup[0]), slack);
		assert_true(messy || join_counts(join)->folded > 0);
		end_join();
	}
}

static void test_long(void **state)
{
	(void)state;
	join_long_ones(false);
}

static void test_long_and_messy(void **state)
{
	(void)state;
	join_long_ones(true);
}

/* ---- made by hand ---- */

#define BASE_NS 9000000000ULL

static uint32_t place[LEVELS];

static void begin_hand(uint64_t threshold)
{
	memset(place, 0, sizeof(place));
	assert_int_equal(sources_init(&sources), 0);
	join = join_new(&(struct join_options){
		.sources = &sources, .threshold_ns = threshold, .bounds = bounds});
	assert_non_null(join);
	join_start(join, place);
}

static void end_hand(void)
{
	join_free(join);
	sources_free(&sources);
}

static void hand(unsigned level, unsigned kind, uint64_t start, uint64_t length)
{
	struct record r = {.start_ns = BASE_NS + start,
			   .end_ns = BASE_NS + start + length,
			   .level = level,
			   .kind = kind};

	r.id = kind == RECORD_VECTOR ? VECTOR_LOCAL_TIMER : 7;
	r.seq = ++place[level];
	join_record(join, &r);
}

static void tick(uint64_t start, uint64_t length)
{
	hand(LEVEL_IRQ, RECORD_VECTOR, start, length);
}

/* The hiccup from and to these times, `before` as given and all places so far in it. */
static const struct account *account(uint64_t start, uint64_t end, const uint32_t *before)
{
	static const uint32_t none[LEVELS];
	struct hiccup h = {.start_ns = BASE_NS + start, .end_ns = BASE_NS + end};
	const struct account *a;
	uint64_t pieces = 0;

	memcpy(h.before, before ? before : none, sizeof(h.before));
	memcpy(h.after, place, sizeof(h.after));
	a = join_hiccup(join, &h);
	for (unsigned i = 0; i < a->npieces; i++)
		pieces += a->pieces[i].net_ns;
	assert_int_equal(pieces, a->attributed_ns);
	assert_no_more(a);
	assert_int_equal(a->attributed_ns + a->edge_ns + a->lost_ns + a->outside_ns,
			 a->duration_ns);
	return a;
}

static uint64_t total(enum source_kind kind)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < sources.count; i++)
		if (sources.row[i]->kind == kind)
			sum += sources.row[i]->net.sum;
	return sum;
}

/* 70,000 ticks are 4,464 places by the cursors. */
static void test_more_records_than_places(void **state)
{
	const struct account *a;

	(void)state;
	begin_hand(150);
	for (unsigned i = 0; i < 70000; i++) {
		tick(1000 + i * 1000, 300);
		if (join_waiting(join) > JOIN_WAIT_MAX)
			join_relieve(join, BASE_NS + 60);
	}
	hand(LEVEL_THREAD, RECORD_THREAD, 60, 70001000);
	a = account(0, 70001120, NULL);
	assert_int_equal(total(SOURCE_VECTOR), 70000 * 300);
	assert_int_equal(total(SOURCE_THREAD), 70001000 - 70000 * 300);
	assert_int_equal(a->edge_ns, 120);
	assert_int_equal(join_counts(join)->mismatches, 0);
	assert_int_equal(join_counts(join)->lost, 0);
	end_hand();
}

/* Threads and interrupts at the top level, with gaps: merged, their account is the same as one by
 * one. */
static void test_folded_gaps(void **state)
{
	uint64_t at = 40, edge = 25, outside = 15, attributed = 0, last = 25;
	const struct account *a;

	(void)state;
	begin_hand(150);
	for (unsigned i = 0; i < 30000; i++) {
		bool thread = i % 3 == 0 || i % 5 == 0;
		uint64_t bound = thread ? bounds.thread_ns : bounds.irq_ns, gap = i % 200;

		if (i) {
			at += gap;
			edge += gap < last + bound ? gap : last + bound;
			outside += gap < last + bound ? 0 : gap - last - bound;
		} else {
			edge = 40; /* a thread is the first: all of it */
			outside = 0;
		}
		if (thread)
			hand(LEVEL_THREAD, RECORD_THREAD, at, 10 + i % 7);
		else
			tick(at, 10 + i % 7);
		at += 10 + i % 7;
		attributed += 10 + i % 7;
		last = bound;
		if (join_waiting(join) > JOIN_WAIT_MAX && !join_counts(join)->below_threshold)
			join_relieve(join, BASE_NS + 1);
	}
	a = account(0, at + 10, NULL);
	assert_true(join_counts(join)->folded > 0);
	assert_int_equal(join_counts(join)->below_threshold, 0);
	assert_int_equal(a->attributed_ns, attributed);
	assert_int_equal(a->edge_ns, edge + 10);
	assert_int_equal(a->outside_ns, outside);
	assert_int_equal(a->intervals, 30000);
	assert_true(a->first_thread);
	assert_int_equal(a->pre_ns, 40);
	assert_int_equal(a->post_ns, 10);
	end_hand();
}

/* The user's threshold is long: ticks that lie within it of each other, and of a thread's start,
 * are gaps of their own. */
static void test_ticks_before_a_hog(void **state)
{
	uint32_t before[LEVELS];
	const struct account *a;
	uint64_t start;

	(void)state;
	begin_hand(1000000);
	for (unsigned i = 0; i < 5000; i++)
		tick(i * 900000ULL, 3000);
	memcpy(before, place, sizeof(before));
	start = 5000 * 900000ULL;
	tick(start + 20, 400); /* the interrupt wakes the thread */
	for (unsigned i = 0; i < 20000; i++) {
		tick(start + 500000 + i * 900000ULL, 3000);
		if (join_waiting(join) > JOIN_WAIT_MAX)
			join_relieve(join, BASE_NS + start + 470);
	}
	hand(LEVEL_THREAD, RECORD_THREAD, start + 470, 20001 * 900000ULL);
	a = account(start, start + 530 + 20001 * 900000ULL, before);
	assert_int_equal(a->start_ns, BASE_NS + start);
	assert_int_equal(total(SOURCE_VECTOR), 400 + 20000 * 3000);
	assert_near(total(SOURCE_THREAD), 20001 * 900000ULL - 20000 * 3000, 50);
	assert_int_equal(a->outside_ns, 0);
	assert_int_equal(join_counts(join)->below_threshold, 5000);
	assert_int_equal(join_counts(join)->mismatches, 0);
	end_hand();
}

/* The hypervisor stops the CPU behind the interrupt with which a hiccup begins, before the thread
 * comes: whether that is one gap only the hiccup tells. */
static void test_stopped_before_a_hog(void **state)
{
	uint32_t before[LEVELS];
	const struct account *a;
	uint64_t start = 40 * 5000;

	(void)state;
	begin_hand(1000);
	for (unsigned i = 0; i < 40; i++)
		tick(i * 5000, 700);
	memcpy(before, place, sizeof(before));
	tick(start + 20, 400);
	tick(start + 30000, 400);
	for (unsigned i = 0; i < 20000; i++) {
		tick(start + 80000 + i * 1000, 300);
		if (join_waiting(join) > JOIN_WAIT_MAX)
			join_relieve(join, BASE_NS + start + 70000);
	}
	hand(LEVEL_THREAD, RECORD_THREAD, start + 70000, 20000 * 1000 + 20000);
	a = account(start, start + 90060 + 20000 * 1000, before);
	assert_int_equal(a->lost, 0);
	assert_int_equal(a->lost_ns, 0);
	assert_int_equal(a->attributed_ns, 800 + 20000 * 1000 + 20000);
	assert_int_equal(join_counts(join)->lost, 0);
	assert_int_equal(join_counts(join)->below_threshold, 40);
	assert_int_equal(join_counts(join)->mismatches, 0);
	end_hand();
}

/* The sampler was back for too short a time to report a hiccup before the next one began: records
 * since then are the next one's, however many, and the first one has its own end.
 */
static void test_two_in_a_row(void **state)
{
	uint32_t before[LEVELS] = {0};
	const struct account *a;

	(void)state;
	begin_hand(150);
	hand(LEVEL_THREAD, RECORD_THREAD, 100, 50000);
	memcpy(before, place, sizeof(before));
	for (unsigned i = 0; i < 6 * JOIN_WAIT_MAX; i++) {
		tick(51000 + i * 1000, 600);
		if (!(i % 8192))
			join_relieve(join, BASE_NS + 50250);
	}
	hand(LEVEL_THREAD, RECORD_THREAD, 50250, 1000ULL * 6 * JOIN_WAIT_MAX + 1000);
	a = account(0, 50200, NULL);
	assert_int_equal(a->duration_ns, 50200);
	assert_int_equal(a->attributed_ns, 50000);
	a = account(50200, 51250 + 1000ULL * 6 * JOIN_WAIT_MAX + 50, before);
	assert_int_equal(a->attributed_ns, 1000ULL * 6 * JOIN_WAIT_MAX + 1000);
	assert_int_equal(a->outside_ns, 0);
	assert_int_equal(total(SOURCE_VECTOR), 6 * JOIN_WAIT_MAX * 600);
	assert_int_equal(join_counts(join)->mismatches, 0);
	end_hand();
}

/* Very many records below the threshold, and the sampler is back from a hiccup that has not come
 * yet. */
static void test_hiccup_still_to_come(void **state)
{
	uint32_t before[LEVELS];
	const struct account *a;

	(void)state;
	begin_hand(1000);
	for (unsigned i = 0; i < JOIN_WAIT_MAX; i++)
		tick(i * 5000, 700);
	memcpy(before, place, sizeof(before));
	tick(JOIN_WAIT_MAX * 5000 + 20, 4000);
	assert_true(join_waiting(join) > JOIN_WAIT_MAX);
	join_relieve(join, 0);
	assert_true(join_waiting(join) <= JOIN_WAIT_MAX);
	a = account(JOIN_WAIT_MAX * 5000, JOIN_WAIT_MAX * 5000 + 4040, before);
	assert_int_equal(a->attributed_ns, 4000);
	assert_int_equal(a->outside_ns, 0);
	assert_int_equal(join_counts(join)->below_threshold, JOIN_WAIT_MAX);
	assert_int_equal(join_counts(join)->mismatches, 0);
	end_hand();
}

/* The ring is full before a hiccup has come: ticks below the threshold right before its record are
 * no part of it, though its records and theirs are more than wait in any case. */
static void test_hiccup_still_to_come_in_a_full_ring(void **state)
{
	const uint64_t n = JOIN_WAIT_ALL - 8001, start = n * 5000;
	struct hiccup h = {.start_ns = BASE_NS + start, .end_ns = BASE_NS + start + 4040};
	const struct account *a;

	(void)state;
	begin_hand(1000);
	for (uint64_t i = 0; i < n; i++)
		tick(i * 5000, 700);
	memcpy(h.before, place, sizeof(place));
	tick(start + 20, 4000);
	memcpy(h.after, place, sizeof(place));
	for (uint64_t i = n + 1; i <= JOIN_WAIT_ALL; i++)
		tick(i * 5000, 700);
	assert_true(join_waiting(join) < JOIN_WAIT_ALL);
	a = join_hiccup(join, &h);
	assert_int_equal(a->start_ns, h.start_ns);
	assert_int_equal(a->duration_ns, 4040);
	assert_int_equal(a->attributed_ns, 4000);
	assert_int_equal(a->outside_ns, 0);
	assert_int_equal(join_counts(join)->below_threshold, n);
	assert_int_equal(join_counts(join)->mismatches, 0);
	end_hand();
}

/* Interrupts alone, and the reader never makes room: nothing says that a hiccup lasts. The known
 * part is bounded and adds up; the rest counts as lost, not as outside the kernel. */
static void test_storm_of_interrupts(void **state)
{
	const struct account *a;
	uint64_t waits, dropped;

	(void)state;
	begin_hand(150);
	for (unsigned i = 0; i < 600000; i++) {
		tick(20 + i * 100, 80);
		assert_true(join_waiting(join) <= JOIN_WAIT_ALL);
	}
	waits = join_waiting(join);
	a = account(0, 600000 * 100 + 20, NULL);
	assert_int_equal(a->duration_ns, 600000 * 100 + 20);
	assert_int_equal(a->attributed_ns, waits * 80);
	dropped = join_counts(join)->below_threshold;
	assert_int_equal(dropped + waits, 600000);
	assert_int_equal(a->lost, dropped);
	assert_int_equal(join_counts(join)->lost, dropped);
	/* from the hiccup's begin to the end of the newest that was dropped */
	assert_int_equal(a->lost_ns, dropped * 100);
	assert_int_equal(a->outside_ns, 0);
	end_hand();
}

/* A hiccup is netted ahead, and then the reader makes no more room. */
static void test_open_and_not_relieved(void **state)
{
	const struct account *a;

	(void)state;
	begin_hand(150);
	for (unsigned i = 0; i < 600000; i++) {
		tick(1000 + i * 1000, 300);
		if (i == 20000)
			join_relieve(join, BASE_NS + 60);
		assert_true(join_waiting(join) <= JOIN_WAIT_ALL);
	}
	hand(LEVEL_THREAD, RECORD_THREAD, 60, 600001000);
	a = account(0, 600001120, NULL);
	assert_int_equal(total(SOURCE_VECTOR), 600000 * 300);
	assert_int_equal(total(SOURCE_THREAD), 600001000 - 600000 * 300);
	assert_int_equal(a->edge_ns, 120);
	assert_int_equal(join_counts(join)->below_threshold, 0);
	end_hand();
}

/* The hiccup ends and begins inside of what was netted ahead: it is made to fit, and that is
 * counted. */
static void test_netted_too_much(void **state)
{
	const struct account *a;

	(void)state;
	for (int fault = 0; fault < 2; fault++) {
		begin_hand(150);
		if (fault)
			hand(LEVEL_THREAD, RECORD_FAULT, 2000, 0);
		for (unsigned i = 0; i < 200000; i++)
			tick(2000 + i * 1000, 300);
		join_relieve(join, BASE_NS + 10);
		a = account(2100, 5000000, NULL);
		assert_int_equal(a->start_ns, BASE_NS + 2000);
		assert_true(a->duration_ns > 100000000);
		assert_true(join_counts(join)->mismatches >= 2);
		account(300000000, 300001000, place);
		end_hand();
	}
}

/* Records later than the levels' race allows: the interval around them is netted already. */
static void test_too_late(void **state)
{
	const struct account *a;

	(void)state;
	for (int thread = 0; thread < 2; thread++) {
		begin_hand(150);
		for (unsigned i = 0; i < 200000; i++)
			tick(1000 + i * 1000, 300);
		join_relieve(join, BASE_NS + 60);
		hand(LEVEL_NMI, RECORD_NMI, 5100, 100);          /* in a tick */
		hand(LEVEL_NMI, RECORD_NMI, 6250, 100);          /* from a tick to behind it */
		hand(LEVEL_IRQ, RECORD_TLB, 199000100, 0);       /* in a tick */
		hand(LEVEL_NMI, RECORD_NMI, 199000200, 400);     /* leads into the thread */
		hand(LEVEL_SOFTIRQ, RECORD_SOFTIRQ, 9900, 1500); /* around one */
		if (thread)
			hand(LEVEL_THREAD, RECORD_THREAD, 60, 200001000);
		a = account(0, 200001120, NULL);
		assert_int_equal(total(SOURCE_VECTOR), 200000 * 300);
		if (thread) {
			assert_int_equal(a->attributed_ns, 200001000);
			assert_int_equal(a->edge_ns, 120);
		}
		end_hand();
	}
}

/* Impossible for a clock, but not for a file: records from the newest to the oldest, and room made
 * for each. */
static void test_backwards(void **state)
{
	clock_t began = clock();

	(void)state;
	begin_hand(150);
	for (unsigned i = 0; i < 400000; i++) {
		tick(5000 * (1 + (i < 60000 ? 60000 - i : i)), 300);
		if (i >= 60000)
			join_relieve(join, BASE_NS + 1);
		assert_true(join_waiting(join) <= JOIN_WAIT_ALL);
	}
	assert_true(clock() - began < 2 * CLOCKS_PER_SEC);
	end_hand();
}

/* A workload that sleeps between its windows is off its CPU nearly always: what ran before a window
 * is no part of it. */
static void test_windows_of_a_sleeper(void **state)
{
	const uint64_t n = 100000;
	const struct account *a;
	uint32_t before[LEVELS];

	(void)state;
	begin_hand(150);
	join_free(join);
	join = join_new(&(struct join_options){
		.sources = &sources, .windows = true, .threshold_ns = 150, .bounds = bounds});
	assert_non_null(join);
	for (uint64_t i = 0; i < n; i++) {
		if (i == n - 3)
			memcpy(before, place, sizeof(before));
		hand(LEVEL_THREAD, RECORD_THREAD, i * 1000, 990);
		if (i % 5000 == 0 && join_waiting(join) > JOIN_WAIT_MAX)
			join_relieve(join, BASE_NS + i * 1000 + 990);
	}
	assert_true(join_waiting(join) >= JOIN_WAIT_MAX);
	a = account((n - 3) * 1000 - 5, n * 1000, before);
	assert_int_equal(a->start_ns, BASE_NS + (n - 3) * 1000 - 5);
	assert_int_equal(a->duration_ns, 3005);
	assert_int_equal(a->attributed_ns, 3 * 990);
	assert_int_equal(join_counts(join)->lost, 0);
	assert_int_equal(join_counts(join)->mismatches, 0);
	end_hand();
}

/* A workload's window of more records than may wait, which is known at its end only: what was
 * dropped is lost in it, and in no other; a hole where records never came counts once. */
static void test_window_known_too_late(void **state)
{
	const uint64_t n = 5 * JOIN_WAIT_MAX;
	const struct account *a;
	uint32_t before[LEVELS];
	uint64_t waits;

	(void)state;
	begin_hand(150);
	join_free(join);
	join = join_new(&(struct join_options){
		.sources = &sources, .windows = true, .threshold_ns = 150, .bounds = bounds});
	assert_non_null(join);
	for (uint64_t i = 0; i < n; i++) {
		if (i == 100)
			memcpy(before, place, sizeof(before));
		if (i == 200)
			place[LEVEL_THREAD] += 7; /* never came */
		else
			hand(LEVEL_THREAD, RECORD_THREAD, i * 1000, 1000);
		if (join_waiting(join) > 3 * JOIN_WAIT_MAX)
			join_relieve(join, 0);
	}
	waits = join_waiting(join);
	assert_true(waits >= 2 * JOIN_WAIT_MAX && waits < n - 300);
	assert_int_equal(join_counts(join)->lost, 7);
	a = account(100 * 1000, n * 1000, before);
	assert_int_equal(a->attributed_ns, waits * 1000);
	assert_int_equal(a->lost_ns, (n - 100 - waits) * 1000);
	assert_int_equal(a->outside_ns, 0);
	assert_int_equal(a->lost, n - 100 - waits - 1 + 7);
	assert_int_equal(join_counts(join)->lost, a->lost);
	memcpy(before, place, sizeof(before));
	hand(LEVEL_THREAD, RECORD_THREAD, n * 1000 + 500, 100);
	a = account(n * 1000 + 500, n * 1000 + 600, before);
	assert_int_equal(a->lost, 0);
	assert_int_equal(a->attributed_ns, 100);
	end_hand();
}

/* A long record lies in no hiccup, as the sampler had no room for that, and ticks below the
 * threshold pile up behind it: a hiccup that comes after all is as long as it was, has its own
 * records, and tells that others were lost; only where none were the long one is a mismatch. */
static void test_astray(void **state)
{
	const uint64_t ms = 1000000, n = JOIN_WAIT_ALL + 2 * JOIN_WAIT_MAX;

	(void)state;
	for (int lost = 0; lost < 2; lost++) {
		struct hiccup h = {.start_ns = BASE_NS + n * ms, .lost = lost};
		const struct account *a;

		begin_hand(10000);
		hand(LEVEL_THREAD, RECORD_THREAD, 100, 50000);
		for (uint64_t i = 1; i < n; i++) {
			tick(i * ms, 3000);
			if (i % 8192 == 0)
				join_relieve(join, 0);
			assert_true(join_waiting(join) <= JOIN_WAIT_ALL);
		}
		memcpy(h.before, place, sizeof(place));
		tick(n * ms + 1000, 20000);
		memcpy(h.after, place, sizeof(place));
		h.end_ns = h.start_ns + 21100;
		a = join_hiccup(join, &h);
		assert_int_equal(a->start_ns, h.start_ns);
		assert_int_equal(a->duration_ns, 21100);
		assert_int_equal(a->attributed_ns, 20000);
		assert_int_equal(join_counts(join)->below_threshold, n);
		assert_int_equal(join_counts(join)->mismatches, !lost);
		assert_int_equal(join_counts(join)->lost, 0);
		end_hand();
	}
}

/* A storm of interrupts that are each as long as a hiccup, and the reader never says that one
 * lasts, or sees the CPU between two of them: all of it is one hiccup's. */
static void test_storm_of_long_interrupts(void **state)
{
	const uint64_t n = JOIN_WAIT_ALL + 2 * JOIN_WAIT_MAX;
	const struct account *a;

	(void)state;
	for (int seen = 0; seen < 2; seen++) {
		begin_hand(150);
		for (uint64_t i = 0; i < n; i++) {
			tick(20 + i * 500, 480);
			if (seen && i % 8192 == 0)
				join_relieve(join, 0);
		}
		a = account(0, n * 500 + 20, NULL);
		assert_int_equal(a->attributed_ns, n * 480);
		assert_int_equal(join_counts(join)->below_threshold, 0);
		assert_int_equal(join_counts(join)->mismatches, 0);
		end_hand();
	}
}

/* The CPU goes offline while its hiccup is netted ahead, and that hiccup is lost: an hour later the
 * CPU is back, and its next one is as long as it was. */
static void test_back_without_its_hiccup(void **state)
{
	const uint64_t n = JOIN_WAIT_ALL, later = 3600ULL * 1000000000;
	uint32_t before[LEVELS];
	const struct account *a;

	(void)state;
	for (int missing = 0; missing < 2; missing++) {
		begin_hand(150);
		for (uint64_t i = 0; i < n; i++) {
			if (missing && i == n - 1000)
				place[LEVEL_IRQ] += 3;
			tick(1000 + i * 1000, 300);
			if (join_waiting(join) > JOIN_WAIT_MAX)
				join_relieve(join, BASE_NS + 60);
		}
		join_start(join, place);
		assert_int_equal(join_counts(join)->below_threshold, n);
		memcpy(before, place, sizeof(before));
		tick(later + 20, 300);
		a = account(later, later + 340, before);
		assert_int_equal(a->start_ns, BASE_NS + later);
		assert_int_equal(a->duration_ns, 340);
		assert_int_equal(a->attributed_ns, 300);
		assert_int_equal(a->intervals, 1);
		assert_int_equal(a->lost_ns, 0);
		assert_int_equal(a->lost, 0);
		assert_int_equal(join_counts(join)->below_threshold, n);
		assert_int_equal(join_counts(join)->lost, missing ? 3 : 0);
		assert_int_equal(join_counts(join)->mismatches, 0);
		end_hand();
	}
}

/* Bytes that the allocator has given out. */
static size_t allocated(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* A hiccup ends late, and so many records wait that the ring has its largest size: that is all that
 * the join grows by, and it goes back with the hiccup. */
static void test_memory_goes_back(void **state)
{
	const size_t mib = 1 << 20, records = JOIN_WAIT_ALL * sizeof(struct record);
	size_t usual, most = 0;

	(void)state;
	begin_hand(150);
	tick(20, 100);
	account(0, 140, NULL);
	usual = allocated();
	for (unsigned round = 0; round < 3; round++) {
		uint64_t start = 1000 + round * 1000000000ULL;
		uint32_t before[LEVELS];

		memcpy(before, place, sizeof(before));
		for (unsigned i = 0; i < JOIN_WAIT_ALL - 2; i++)
			tick(start + i * 1000, 300);
		most = allocated() > most ? allocated() : most;
		account(start - 20, start + JOIN_WAIT_ALL * 1000ULL, before);
		assert_int_equal(join_waiting(join), 0);
		assert_true(allocated() < usual + mib);
	}
	/* ASan's allocator counts nothing */
	assert_true(!most || (most >= usual + records && most < usual + records + mib));
	assert_int_equal(records, 16 * mib);
	end_hand();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_long_and_messy),
		cmocka_unit_test(test_more_records_than_places),
		cmocka_unit_test(test_folded_gaps),
		cmocka_unit_test(test_ticks_before_a_hog),
		cmocka_unit_test(test_stopped_before_a_hog),
		cmocka_unit_test(test_two_in_a_row),
		cmocka_unit_test(test_hiccup_still_to_come),
		cmocka_unit_test(test_hiccup_still_to_come_in_a_full_ring),
		cmocka_unit_test(test_storm_of_interrupts),
		cmocka_unit_test(test_open_and_not_relieved),
		cmocka_unit_test(test_netted_too_much),
		cmocka_unit_test(test_too_late),
		cmocka_unit_test(test_backwards),
		cmocka_unit_test(test_windows_of_a_sleeper),
		cmocka_unit_test(test_window_known_too_late),
		cmocka_unit_test(test_back_without_its_hiccup),
		cmocka_unit_test(test_memory_goes_back),
		cmocka_unit_test(test_astray),
		cmocka_unit_test(test_storm_of_long_interrupts),
	};
	int failed;

	world_init();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	world_free();
	return failed;
}
