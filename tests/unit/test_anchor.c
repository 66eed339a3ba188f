/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sampler's readings: two clocks at once, with counters of any speed, also of a machine that is
 * suspended meanwhile or becomes slower, and the sequences of all levels in one load, in either
 * byte order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "base/units.h"
#include "collect/spin.h"
#include "collect/target.h"

#define ANCHORS  2000
#define STEAL_NS 3000
#define EVENT_NS 3000

/* A clock that counts ticks of tick_ns; each reading of it takes step_ns. Something takes STEAL_NS
 * when the CPU has run for steal_every_ns, and again each 50 ns, steal_times in all. */
static uint64_t clock_is, step_ns = 1, tick_ns = 1, readings;
static uint64_t steal_every_ns, steal_times, steals_at, steals;
static void (*stolen)(void);
static int64_t slewed_by; /* CLOCK_MONOTONIC, against CLOCK_MONOTONIC_RAW */

/* One event that is recorded, at a moment: each step and what is behind each reading are one. */
static uint64_t moment, event_at = UINT64_MAX, event_begin;
static cursors_t records;

static void be_at_moment(void)
{
	if (++moment != event_at)
		return;
	event_begin = clock_is;
	clock_is += EVENT_NS;
	records++;
}

static void pass(unsigned steps)
{
	clock_is += steps * step_ns;
	be_at_moment();
	if (!steal_every_ns || clock_is < steals_at)
		return;
	clock_is += STEAL_NS;
	steals_at = clock_is + (++steals % steal_times ? 50 : steal_every_ns);
	stolen();
}

int sched_getcpu(void)
{
	pass(10);
	return 0;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
	uint64_t ns;

	pass(1);
	readings++;
	ns = clock_is / tick_ns + (clock == CLOCK_MONOTONIC_RAW ? 0 : slewed_by);
	*t = (struct timespec){ns / NSEC_PER_SEC, ns % NSEC_PER_SEC};
	be_at_moment();
	return 0;
}

/* Three readings make an anchor. One that is as exact as can be is found at once, after a first
 * few: also where two readings seem to be no time apart, now and then. */
static void test_slow_counters(void **state)
{
	struct sampler_shm *l = calloc(1, sizeof(*l));

	(void)state;
	assert_non_null(l);
	for (tick_ns = 1; tick_ns <= 100; tick_ns += tick_ns < 16 ? 15 : 12)
		for (step_ns = 3; step_ns < 60; step_ns += 4) {
			uint64_t tick, ns;

			l->anchor_min = UINT64_MAX / 8;
			l->anchor_known = false;
			readings = 0;
			for (int i = 0; i < ANCHORS; i++) {
				uint64_t from = clock_is, apart;

				apart = read_anchor(l, false, &tick, &ns);
				assert_in_range(tick, from / tick_ns, clock_is / tick_ns);
				assert_true(apart <= 2 * (2 * step_ns / tick_ns) + 1);
			}
			assert_true(readings <= 3 * (ANCHORS + ANCHORS / 10));
		}
	free(l);
}

/* A CPU whose clock goes down, and up again: the first anchor is dear, all others are three
 * readings. */
static void test_slower_anchors(void **state)
{
	const uint64_t step[] = {10, 25, 200, 10};
	struct sampler_shm *l = calloc(1, sizeof(*l));

	(void)state;
	assert_non_null(l);
	l->anchor_min = UINT64_MAX / 8;
	tick_ns = 1;
	for (size_t i = 0; i < sizeof(step) / sizeof(step[0]); i++) {
		uint64_t tick, ns;

		step_ns = step[i];
		readings = 0;
		for (int k = 0; k < ANCHORS; k++)
			read_anchor(l, false, &tick, &ns);
		assert_true(readings <= 3 * (ANCHORS + ANCHORS / 10));
		assert_int_equal(l->anchor_min, 2 * step_ns);
	}
	free(l);
}

#define STEALS 500

static struct sampler_shm *spinning;
static uint64_t slow_step_ns;

static void leave(void)
{
	atomic_store(&spinning->stop, 1);
	atomic_store(&spinning->limit, 0);
}

/* A third of them at full speed, a third at the lower one, then at full speed again. */
static void speed(void)
{
	step_ns = steals / STEALS == 1 ? slow_step_ns : 4;
	if (steals >= 3 * STEALS)
		leave();
}

/* Spins while something steals; all of it is in gaps, hiccups or short ones as the threshold says,
 * and bookkeeping has none: it takes 14 steps. Returns how many gaps there were. */
static uint64_t spin_slower(uint64_t slow_ns, uint64_t times, uint64_t threshold)
{
	struct sampler_shm *l = calloc(1, sizeof(*l));
	struct spin s = {
		.shm = l, .cursors = &no_cursors, .busy_cap = 5000, .deadline = UINT64_MAX};
	uint64_t gaps;

	assert_non_null(l);
	l->anchor_min = 8; /* as learned */
	l->anchor_known = true;
	l->busy_min = l->short_busy_min = 56;
	l->busy_max = 400;
	l->threshold = threshold;
	l->short_from = 200;
	atomic_store(&l->limit, 200);
	spinning = l;
	slow_step_ns = slow_ns;
	tick_ns = 1;
	step_ns = 4;
	steals = 0;
	steal_every_ns = 20000;
	steal_times = times;
	steals_at = clock_is + steal_every_ns;
	stolen = speed;
	spin_window(&s);
	steal_every_ns = 0;
	gaps = atomic_load(&l->head) + l->short_count;
	assert_true(l->busy_ticks <= gaps * 14 * slow_ns);
	assert_true(threshold > 3000 ? !atomic_load(&l->head) : !l->short_count);
	free(l);
	return gaps;
}

/* A CPU that becomes slower, up to fifteen times: noting a gap takes longer then, and is no endless
 * row of gaps. */
static void test_slower(void **state)
{
	const uint64_t slow_ns[] = {4, 8, 10, 24, 60};

	(void)state;
	for (size_t i = 0; i < sizeof(slow_ns) / sizeof(slow_ns[0]); i++) {
		assert_in_range(spin_slower(slow_ns[i], 1, 200), 3 * STEALS, 3 * STEALS + 10);
		assert_in_range(spin_slower(slow_ns[i], 1, 1 << 20), 3 * STEALS, 3 * STEALS + 10);
	}
}

/* Steals in a row, also while a gap is noted, are a gap each. The window may end with one. */
static void test_often(void **state)
{
	(void)state;
	for (uint64_t times = 1; times <= 8; times++) {
		assert_in_range(spin_slower(4, times, 200), 3 * STEALS - 1, 3 * STEALS);
		assert_in_range(spin_slower(4, times, 1 << 20), 3 * STEALS - 1, 3 * STEALS);
	}
}

static void leave_at_once(void)
{
	clock_is -= STEAL_NS;
	leave();
}

static void leave_later(void)
{
	moment = 0;
	stolen = leave_at_once;
	steals_at = clock_is + EVENT_NS;
	clock_is -= STEAL_NS - 20; /* a short gap is left of it */
}

/* An event comes while a gap is noted, which takes `least` at best, or before or behind that, at
 * any moment: one gap has it, with its record, and noting the other one is no gap, though it takes
 * longer than the threshold: below that the other one is short. */
static void check_behind_reading(struct sampler_shm *l, uint64_t least, uint64_t threshold,
				 uint64_t at)
{
	struct spin s = {.shm = l, .cursors = &records, .busy_cap = 5000, .deadline = UINT64_MAX};
	unsigned with = 0, others = 0;

	*l = (struct sampler_shm){.anchor_min = 8,
				  .anchor_known = true,
				  .busy_min = least,
				  .short_busy_min = least,
				  .busy_max = EVENT_NS + 500,
				  .threshold = threshold,
				  .short_from = 20};
	atomic_store(&l->limit, 20);
	spinning = l;
	tick_ns = 1;
	step_ns = 4;
	steals = 0;
	steal_times = 1;
	steal_every_ns = 200;
	steals_at = clock_is + steal_every_ns;
	stolen = leave_later;
	event_at = at;
	spin_window(&s);
	steal_every_ns = 0;
	event_at = UINT64_MAX;
	for (const struct shm_hiccup *h = l->ring; h < l->ring + atomic_load(&l->head); h++)
		if (h->after > event_begin && h->before < event_begin + EVENT_NS) {
			assert_true(h->before <= event_begin && h->after >= event_begin + EVENT_NS);
			assert_true(h->after - h->before < EVENT_NS + 100);
			assert_true(h->cursors_before < h->cursors_after);
			with++;
		} else {
			assert_true(h->after - h->before < 40);
			others++;
		}
	assert_int_equal(with, 1);
	assert_true(others <= (threshold < 40));
}

static void test_behind_reading(void **state)
{
	struct sampler_shm *l = calloc(1, sizeof(*l));

	(void)state;
	assert_non_null(l);
	for (uint64_t at = 1; at < 40; at++) {
		check_behind_reading(l, 48, 40, at);
		check_behind_reading(l, 10, 40, at); /* noting takes longer than at best */
		check_behind_reading(l, 48, 20, at);
	}
	free(l);
}

/* A machine that stores the lowest byte first, and one that stores it last. */
static void test_byte_orders(void **state)
{
	const uint32_t cursor[LEVELS] = {0x01020304, 0xfffffffe, 0, 0x80000001};
	_Alignas(16) uint8_t low_first[16], high_first[16];
	cursors_t from_low = 0, from_high = 0;

	(void)state;
	for (int level = 0; level < LEVELS; level++)
		for (int byte = 0; byte < 4; byte++) {
			low_first[4 * level + byte] = cursor[level] >> 8 * byte;
			high_first[4 * level + byte] = cursor[level] >> 8 * (3 - byte);
		}
	for (int i = 15; i >= 0; i--) /* the value of a load of all of them */
		from_low = from_low << 8 | low_first[i];
	for (int i = 0; i < 16; i++)
		from_high = from_high << 8 | high_first[i];
	for (int level = 0; level < LEVELS; level++) {
		assert_int_equal(cursor_at(from_low, level, false), cursor[level]);
		assert_int_equal(cursor_at(from_high, level, true), cursor[level]);
		assert_int_equal(cursor_of(*(const cursors_t *)(const void *)cursor, level),
				 cursor[level]);
	}
}

/* A ring without room loses hiccups: the next one there is room for tells how many. */
static void test_no_room(void **state)
{
	struct sampler_shm *l = calloc(1, sizeof(*l));
	struct spin s = {.shm = l, .cursors = &no_cursors};
	struct target t = {.shm = l, .ns_per_tick = 1};
	struct hiccup h;

	(void)state;
	assert_non_null(l);
	l->anchor_min = UINT64_MAX / 8;
	tick_ns = 1;
	for (int i = 0; i < SHM_SLOTS + 3; i++, clock_is += 1000)
		publish_hiccup(&s, clock_is - 500, clock_is, 0, 0);
	assert_int_equal(l->lost, 3);
	for (int i = 0; i < 2; i++, clock_is += 1000) {
		atomic_store(&l->tail, i + 1);
		publish_hiccup(&s, clock_is - 500, clock_is, 0, 0);
	}
	for (uint64_t i = 0; i < SHM_SLOTS; i++) {
		convert(&t, &l->ring[(2 + i) % SHM_SLOTS], &h);
		assert_int_equal(h.lost, i == SHM_SLOTS - 2 ? 3 : 0);
	}
	assert_int_equal(l->lost, 3);
	free(l);
}

#define A_NS 3 /* ticks, until the counter begins anew */

/* A hiccup of 1 ms that ends at `end_ns`; the counter has `ahead` ticks more than it should. */
static struct shm_hiccup gap(uint64_t end_ns, int64_t ahead_before, int64_t ahead)
{
	return (struct shm_hiccup){.before = (end_ns - NSEC_PER_MSEC) * A_NS + ahead_before,
				   .after = end_ns * A_NS + ahead,
				   .anchor_tick = (end_ns + 300) * A_NS + ahead,
				   .anchor_ns = end_ns + 300,
				   .anchor_width = 60};
}

static void expect(struct target *t, struct shm_hiccup l, uint64_t end_ns, uint64_t length)
{
	struct hiccup h;

	convert(t, &l, &h);
	assert_in_range(h.end_ns, end_ns - 1, end_ns + 1);
	assert_in_range(h.end_ns - h.start_ns, length - 110,
			length + 110); /* by the learned rate */
}

/* Hiccups of 500 ns, each right behind the one before, whose anchors are up to 20 ns off: each is
 * as long as it was, none begins in another, and they stay where they were. */
static void test_adjacent(void **state)
{
	struct sampler_shm *shm = calloc(1, sizeof(*shm));
	struct target t = {.shm = shm, .ns_per_tick = 1.0 / A_NS};
	uint64_t last = 0;

	(void)state;
	assert_non_null(shm);
	shm->anchor_min = 20 * A_NS;
	for (uint64_t i = 0, end = NSEC_PER_SEC; i < 1000; i++, end += 500) {
		struct shm_hiccup l = gap(end, 0, 0);
		struct hiccup h;

		l.before = (end - 500) * A_NS;
		l.anchor_ns += i * 7 % 20;
		convert(&t, &l, &h);
		assert_in_range(h.end_ns - h.start_ns, 499, 501);
		assert_in_range(h.end_ns, end, end + 20);
		assert_true(h.start_ns >= last);
		last = h.end_ns;
	}
	free(shm);
}

/* A machine that is suspended: CLOCK_MONOTONIC stands, while the counter goes on, or begins anew.
 * What follows is as long as it is, and of that one what the clock knows. */
static void test_suspended(void **state)
{
	const int64_t ahead[] = {3 * (int64_t)NSEC_PER_SEC * A_NS, 40 * (int64_t)NSEC_PER_MSEC,
				 -5 * (int64_t)NSEC_PER_SEC * A_NS};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(ahead) / sizeof(ahead[0]); i++) {
		struct sampler_shm *shm = calloc(1, sizeof(*shm));
		struct target t = {.shm = shm, .ns_per_tick = 1.0001 / A_NS};
		uint64_t at = 10 * NSEC_PER_SEC;
		int64_t by = ahead[i / 2];
		bool seen = i % 2 == 0; /* false: that hiccup itself is lost */

		assert_non_null(shm);
		shm->anchor_min = 40;
		for (int k = 0; k < 50; k++, at += 100 * NSEC_PER_MSEC)
			expect(&t, gap(at, 0, 0), at, NSEC_PER_MSEC);
		if (seen)
			expect(&t, gap(at, 0, by), at, NSEC_PER_MSEC);
		for (int k = 0; k < 50; k++) {
			at += 100 * NSEC_PER_MSEC;
			expect(&t, gap(at, by, by), at, NSEC_PER_MSEC);
		}
		assert_true(t.ns_per_tick * A_NS > 1 - 1e-6 && t.ns_per_tick * A_NS < 1 + 1e-6);
		free(shm);
	}
}

/* A reading that something came between is no sign of that, nor is a clock that is corrected. */
static void test_not_suspended(void **state)
{
	struct sampler_shm *shm = calloc(1, sizeof(*shm));
	struct target t = {.shm = shm, .ns_per_tick = 1.0 / A_NS};
	uint64_t at = 10 * NSEC_PER_SEC, base;

	(void)state;
	assert_non_null(shm);
	shm->anchor_min = 40;
	expect(&t, gap(at, 0, 0), at, NSEC_PER_MSEC);
	base = t.base_ns;
	for (int k = 0; k < 50; k++) {
		struct shm_hiccup l;

		at += NSEC_PER_SEC;
		l = gap(at, 0, 0);
		l.anchor_tick += k % 2 ? 0 : 20 * NSEC_PER_MSEC * A_NS; /* interrupted */
		l.anchor_width += k % 2 ? 0 : 21 * NSEC_PER_MSEC * A_NS;
		l.anchor_ns += k % 2 ? at / 20000 : 0; /* slewed, 50 ppm */
		assert_true(anchors_hold(&t, l.anchor_tick, l.anchor_ns, l.anchor_width));
		convert(&t, &l, &(struct hiccup){0});
		assert_int_equal(t.base_ns, base);
	}
	free(shm);
}

/* A clock that is slewed for long, by much more than counters drift, in either direction: each gap
 * is as long as the counter says, to the slewing's own share, though the anchors lie far apart. */
static void test_slewed(void **state)
{
	const uint64_t gap_ns[] = {5 * NSEC_PER_USEC, 30 * NSEC_PER_MSEC};

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct sampler_shm *shm = calloc(1, sizeof(*shm));
		struct target t = {.shm = shm, .ns_per_tick = 1.0 / A_NS};
		uint64_t at = 10 * NSEC_PER_SEC, ns = gap_ns[i / 2];

		assert_non_null(shm);
		shm->anchor_min = 40;
		for (int k = 0; k < 50; k++, at += NSEC_PER_SEC) {
			struct hiccup h;
			struct shm_hiccup l = gap(at, 0, 0);

			l.before = l.after - ns * A_NS;
			slewed_by = (i % 2 ? -k : k) * (int64_t)(NSEC_PER_SEC / 50); /* 2 % */
			l.anchor_ns += slewed_by;
			convert(&t, &l, &h);
			assert_in_range(h.end_ns - h.start_ns, ns - ns / 25, ns + ns / 25);
		}
		slewed_by = 0;
		free(shm);
	}
}

/* A clock that is slewed on a CPU with a hiccup each 4 ms, from a while after the window's begin
 * on, and then no more: each gap is as long as that clock says, as its records are, also right
 * after either change, and where it is nearly as long as the time between two. */
static void test_slewed_ticking(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct sampler_shm *shm = calloc(1, sizeof(*shm));
		struct target t = {.shm = shm, .ns_per_tick = 1.0 / A_NS};
		uint64_t gap_ns = i / 2 ? 3900 * NSEC_PER_USEC : 30 * NSEC_PER_USEC;
		uint64_t at = 10 * NSEC_PER_SEC;

		assert_non_null(shm);
		shm->anchor_min = 40;
		for (int k = 0; k < 3000; k++, at += 4 * NSEC_PER_MSEC) {
			int64_t by =
				k >= 1000 && k < 2000 ? (i % 2 ? -50 : 50) : 0; /* parts of 1,000 */
			struct shm_hiccup l = gap(at, 0, 0);
			uint64_t want = gap_ns + (int64_t)gap_ns * by / 1000;
			struct hiccup h;

			slewed_by += 4 * (int64_t)NSEC_PER_MSEC * by / 1000;
			l.before = l.after - gap_ns * A_NS;
			l.anchor_ns += slewed_by + k * 7 % 20;
			convert(&t, &l, &h);
			assert_in_range(h.end_ns - h.start_ns, want - 25, want + 25);
		}
		for (int k = -1; k < 2; k += 2) { /* a clock that jumps is not slewed */
			struct shm_hiccup l = gap(at += 300 * NSEC_PER_USEC, 0, 0);
			struct hiccup h;

			l.before = l.after - 30 * NSEC_PER_USEC * A_NS;
			l.anchor_ns += slewed_by += k * 100 * (int64_t)NSEC_PER_USEC;
			convert(&t, &l, &h);
			assert_in_range(h.end_ns - h.start_ns, 29000, 31000);
		}
		slewed_by = 0;
		free(shm);
	}
}

/* A slewing that ended, or began, in the midst of a second without a hiccup says nothing of the gap
 * at its end; of one as long as that second it does. */
static void test_slewed_before(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct sampler_shm *shm = calloc(1, sizeof(*shm));
		struct target t = {.shm = shm, .ns_per_tick = 1.0 / A_NS};
		uint64_t at = 10 * NSEC_PER_SEC;
		uint64_t ns = i / 2 ? 999 * NSEC_PER_MSEC : NSEC_PER_MSEC;
		int64_t by = (i % 2 ? -1 : 1) * (int64_t)(NSEC_PER_SEC / 24); /* half of 1/12 */
		struct shm_hiccup l;
		struct hiccup h;

		assert_non_null(shm);
		shm->anchor_min = 40;
		for (int k = 0; k < 50; k++, at += NSEC_PER_SEC)
			expect(&t, gap(at, 0, 0), at, NSEC_PER_MSEC);
		l = gap(at, 0, 0);
		l.before = l.after - ns * A_NS;
		l.anchor_ns += slewed_by = by;
		convert(&t, &l, &h);
		ns += i / 2 ? by * 999 / 1000 : 0;
		assert_in_range(h.end_ns - h.start_ns, ns - 1000, ns + 1000);
		slewed_by = 0;
		free(shm);
	}
}

/* The last good anchor is old, and the clock was corrected by a millionth since: one that is not
 * as good is nearer. Where it is not old that one could be worse. */
static void test_old_anchor(void **state)
{
	struct sampler_shm *shm = calloc(1, sizeof(*shm));
	struct target t = {.shm = shm, .ns_per_tick = 1.0 / A_NS};
	uint64_t at = 10 * NSEC_PER_SEC;
	struct shm_hiccup l;

	(void)state;
	assert_non_null(shm);
	shm->anchor_min = 40;
	for (int k = 0; k < 50; k++, at += NSEC_PER_SEC)
		expect(&t, gap(at, 0, 0), at, NSEC_PER_MSEC);
	l = gap(at, 0, 0);
	l.anchor_width = 400;
	l.anchor_ns += 40;
	expect(&t, l, at, NSEC_PER_MSEC);
	at += 600 * NSEC_PER_SEC;
	l = gap(at, 0, -(int64_t)(600 * NSEC_PER_SEC / 1000000 * A_NS));
	l.before = l.after - NSEC_PER_MSEC * A_NS;
	l.anchor_width = 400;
	expect(&t, l, at, NSEC_PER_MSEC);
	free(shm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slow_counters),  cmocka_unit_test(test_slower_anchors),
		cmocka_unit_test(test_slower),         cmocka_unit_test(test_often),
		cmocka_unit_test(test_behind_reading), cmocka_unit_test(test_byte_orders),
		cmocka_unit_test(test_no_room),        cmocka_unit_test(test_adjacent),
		cmocka_unit_test(test_suspended),      cmocka_unit_test(test_not_suspended),
		cmocka_unit_test(test_slewed),         cmocka_unit_test(test_slewed_ticking),
		cmocka_unit_test(test_slewed_before),  cmocka_unit_test(test_old_anchor)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
