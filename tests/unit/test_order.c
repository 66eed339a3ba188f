/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that a target CPU and the reader share without a lock, on a machine that performs accesses
 * in another order than the program's: the rings of records, and the ring of hiccups. The real code
 * of both sides runs through all orders that ARMv8 permits (order.h); nothing wrong is ever seen.
 * Without any one of the barriers something is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collect/spin.h"
#include "collect/target.h"
#include "order.h"
#include "order_writer.h"

#define BASE   1000 /* halves that were written and read long ago */
#define PLACE  100  /* place of the next record then */
#define HALVES 6    /* halves of the rings, from PLACE - 1 on, that the cases use */
#define SLOT   5
#define TAKEN  4

static struct cpu_state state;
static struct rings rings;
static struct sampler_shm *shm;
static struct target target;
static struct collect collect = {.target = &target, .ntargets = 1, .began = true};

static struct {
	struct record record[TAKEN];
	struct hiccup hiccup[TAKEN];
	unsigned records, hiccups, halves;
} taken, expected;

/* Memory before a run: all that a case changes; and after the reference run. */
static struct {
	uint8_t head[offsetof(struct cpu_state, ring)];
	struct record_half half[HALVES];
	uint8_t shm[offsetof(struct sampler_shm, ring)];
	struct shm_hiccup slot[2];
} before, after;
static bool right_is_before;

static struct record_half *halves(void)
{
	return &state.ring[ring_base(ORDER_LEVEL) + PLACE - 1];
}

/* ---- what the code calls ---- */

/* The clock stands still: nobody looks twice, and all readings of it agree. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
	(void)clock;
	*t = (struct timespec){.tv_sec = 5};
	return 0;
}

static jmp_buf enough;
static bool known; /* expected contents */

/* True for the first record or hiccup that is not what was expected: nothing after it matters. */
static bool is_wrong(void)
{
	unsigned r = taken.records, h = taken.hiccups;

	return known && ((r && memcmp(&taken.record[r - 1], &expected.record[r - 1],
				      sizeof(taken.record[0]))) ||
			 (h && memcmp(&taken.hiccup[h - 1], &expected.hiccup[h - 1],
				      sizeof(taken.hiccup[0]))));
}

const struct account *session_feed(struct session *s, const struct event *event)
{
	(void)s;
	if (event->type == EVENT_RECORD && taken.records < TAKEN)
		taken.record[taken.records++] = *event->record;
	if (event->type == EVENT_HICCUP) {
		taken.halves = taken.records; /* halves that had come by then */
		taken.hiccup[taken.hiccups++] = *event->hiccup;
	}
	if (is_wrong() || taken.hiccups == 2)
		longjmp(enough, 1);
	return NULL;
}

uint32_t session_waiting(const struct session *s, uint32_t index)
{
	(void)s;
	(void)index;
	return 0;
}

void closure_count(struct closure *c, uint32_t i, const struct record *r)
{
	(void)c;
	(void)i;
	(void)r;
}

/* ---- the writer and the reader ---- */

static struct record record(unsigned number, bool wide)
{
	struct record r;

	/* no byte is what it was before, or in another record */
	memset(&r, 0x11 * number, sizeof(r));
	r.kind = wide ? RECORD_THREAD : RECORD_IRQ;
	r.level = 0;
	r.flags = number;
	r.mark = number;
	r.seq = 0x11111111 * number;
	return r;
}

static void put_both(void)
{
	struct record first = record(1, false), second = record(2, true);

	order_put_narrow(&state, &first);
	order_put_wide(&state, &second);
}

static void put_over(void)
{
	struct record first = record(5, true), second = record(6, false);

	order_put_wide(&state, &first);
	order_put_narrow(&state, &second);
}

static struct spin spin = {.counter = false};

static void put_hiccup(void)
{
	struct record first = record(1, false);
	cursors_t cursors = *(cursors_t *)state.cursor;

	order_put_narrow(&state, &first);
	publish_hiccup(&spin, 0x111111, 0x222222, cursors, 0);
}

static void put_hiccups(void)
{
	publish_hiccup(&spin, 0x333333, 0x444444, 0x3333, 0);
	publish_hiccup(&spin, 0x555555, 0x666666, 0x5555, 0);
}

static void take(unsigned most)
{
	const struct record *r;

	rings_look(&rings);
	while (most-- && taken.records < TAKEN && (r = rings_next_of(&rings, ORDER_LEVEL))) {
		taken.record[taken.records++] = *r;
		rings_pop(&rings, ORDER_LEVEL);
	}
	taken.halves = rings.level[ORDER_LEVEL].tail - BASE;
	rings_release(&rings);
}

static void take_twice(void)
{
	take(TAKEN);
	take(TAKEN);
}

static void take_one_by_one(void)
{
	take(1);
	take(1);
}

static void read_once(void)
{
	if (!setjmp(enough))
		read_target(&collect, 0);
}

/* ---- cases ---- */

static void reset(void)
{
	memcpy(&state, before.head, sizeof(before.head));
	memcpy(halves(), before.half, sizeof(before.half));
	memcpy(shm, before.shm, sizeof(before.shm));
	memcpy(&shm->ring[SLOT], before.slot, sizeof(before.slot));
	memset(&rings, 0, sizeof(rings));
	rings.state = &state;
	rings.level[ORDER_LEVEL].place = PLACE;
	rings.level[ORDER_LEVEL].head = rings.level[ORDER_LEVEL].tail = BASE;
	target = (struct target){.shm = shm,
				 .state = &state,
				 .rings = &rings,
				 .ns_per_tick = 1,
				 .anchor_ns = 1,
				 .tail = atomic_load_explicit(&shm->tail, memory_order_relaxed),
				 .live = true};
	spin.shm = shm;
	spin.cursors = (cursors_t *)state.cursor;
	memset(&taken, 0, sizeof(taken));
}

static void keep(typeof(before) *to)
{
	memcpy(to->head, &state, sizeof(to->head));
	memcpy(to->half, halves(), sizeof(to->half));
	memcpy(to->shm, shm, sizeof(to->shm));
	memcpy(to->slot, &shm->ring[SLOT], sizeof(to->slot));
}

static const uint8_t *right(const uint8_t *at)
{
	const typeof(before) *from = right_is_before ? &before : &after;
	const uint8_t *ring = (uint8_t *)halves(), *slot = (uint8_t *)&shm->ring[SLOT];

	return at >= ring && at < ring + sizeof(from->half) ? (uint8_t *)from->half + (at - ring)
							    : (uint8_t *)from->slot + (at - slot);
}

static bool is_bad(void)
{
	for (unsigned i = 0; i < taken.records; i++)
		if (memcmp(&taken.record[i], &expected.record[i], sizeof(taken.record[i])))
			return true;
	for (unsigned i = 0; i < taken.hiccups; i++)
		if (memcmp(&taken.hiccup[i], &expected.hiccup[i], sizeof(taken.hiccup[i])))
			return true;
	if (taken.hiccups && taken.halves < expected.halves)
		return true; /* a hiccup came before its records */
	return false;
}

enum { HEAD, TAIL, SHM_HEAD, SHM_TAIL };

static const struct order_place *places(int *n)
{
	static struct order_place place[4];

	place[HEAD] =
		(struct order_place){.at = &state.head[ORDER_LEVEL], .size = 8, .owner = WRITER};
	place[TAIL] =
		(struct order_place){.at = &state.tail[ORDER_LEVEL], .size = 8, .owner = READER};
	place[SHM_HEAD] = (struct order_place){.at = &shm->head, .size = 8, .owner = WRITER};
	place[SHM_TAIL] = (struct order_place){.at = &shm->tail, .size = 8, .owner = READER};
	*n = 4;
	return place;
}

static struct order_case make(void (*writer)(void), void (*reader)(void))
{
	struct order_case c = {
		.reset = reset,
		.run = {writer, reader},
		.is_bad = is_bad,
		.right = right,
		.data = {(uint8_t *)halves(), (uint8_t *)(halves() + HALVES)},
		.more = {(uint8_t *)&shm->ring[SLOT], (uint8_t *)(&shm->ring[SLOT] + 1)}};

	memcpy(c.place, places(&c.places), sizeof(struct order_place) * 4);
	return c;
}

/* The rings are empty, and hold what was written there long ago. */
static void start_empty(void)
{
	memset(&state, 0, sizeof(before.head));
	memset(halves(), 0xfe, sizeof(before.half));
	for (int i = 0; i < HALVES; i++)
		((struct record *)&halves()[i])->kind = RECORD_LOST;
	memset(shm, 0, sizeof(before.shm));
	memset(&shm->ring[SLOT], 0xee, sizeof(before.slot));
	state.own.place[ORDER_LEVEL] = PLACE;
	state.head[ORDER_LEVEL] = state.tail[ORDER_LEVEL] = BASE;
	shm->head = shm->tail = SLOT;
	keep(&before);
}

/* The rings are full: the writer stands behind the reader. */
static void start_full(void)
{
	start_empty();
	for (unsigned i = 0; i < 3; i++) {
		struct record r = record(1 + i, false);

		r.level = ORDER_LEVEL;
		memcpy(&halves()[1 + i], &r, sizeof(*halves()));
	}
	state.own.place[ORDER_LEVEL] = PLACE - 1;
	state.head[ORDER_LEVEL] = BASE + ring_size(ORDER_LEVEL) - 2;
	for (unsigned i = 0; i < 2; i++)
		shm->ring[SLOT + i] =
			(struct shm_hiccup){.before = 1000 + 1000 * i,
					    .after = 1500 + 1000 * i,
					    .anchor_tick = 1700 + 1000 * i,
					    .anchor_ns = 1700 + 1000 * i,
					    .cursors_before = (cursors_t)0x1111 << 32 * ORDER_LEVEL,
					    .cursors_after = (cursors_t)0x1111 << 32 * ORDER_LEVEL};
	shm->head = SLOT + SHM_SLOTS;
	keep(&before);
}

/* Runs the threads one after the other: what is right. */
static void expect(const struct order_case *c, bool writer_first)
{
	reset();
	if (writer_first)
		c->run[WRITER]();
	keep(&after);
	right_is_before = !writer_first;
	known = false;
	c->run[READER]();
	expected = taken;
	known = true;
	assert_false(is_bad());
}

static const char *const place_name[] = {"head", "tail", "the hiccups' head", "the hiccups' tail"};
static const char *const thread_name[] = {"writer", "reader"};

static void hold_without(struct order_case *c, int place, unsigned needed)
{
	for (int thread = WRITER; thread <= READER; thread++) {
		struct order_result without = {0};

		c->place[place].weak = 1U << thread;
		order_try(c, &without);
		c->place[place].weak = 0;
		if (!without.bad != !(needed & 1U << place))
			fail_msg("without what the %s's access to %s orders: %s wrong",
				 thread_name[thread], place_name[place],
				 without.bad ? "something" : "nothing");
	}
}

/* Nothing wrong is seen in any order. x86's needs no barrier. Without what the access of either
 * thread to a needed place orders something wrong is seen. Bit n of `needed` is place n. */
static void hold(struct order_case *c, unsigned needed)
{
	struct order_result all = {0}, x86 = {0};

	order_try(c, &all);
	print_message("%lu traces, %lu pairs\n", all.traces, all.pairs);
	assert_int_equal(all.bad, 0);
	assert_true(all.good > 0);
	c->tso = true;
	order_try(c, &x86);
	c->tso = false;
	assert_int_equal(x86.bad, 0);
	assert_true(x86.good > 0);
	for (int i = 0; i < c->places; i++)
		hold_without(c, i, needed);
}

/* A record is seen whole, or not at all. */
static void test_publication(void **unused)
{
	struct order_case c = make(put_both, take_twice);

	(void)unused;
	start_empty();
	expect(&c, true);
	assert_int_equal(taken.records, 2);
	hold(&c, 1U << HEAD);
}

/* Records that have not been read are not written over. */
static void test_reuse(void **unused)
{
	struct order_case c = make(put_over, take_one_by_one);

	(void)unused;
	start_full();
	expect(&c, false);
	assert_int_equal(taken.records, 2);
	hold(&c, 1U << TAIL);
}

/* When a hiccup is seen, so are all its records, and it is whole. */
static void test_hiccup(void **unused)
{
	struct order_case c = make(put_hiccup, read_once);

	(void)unused;
	start_empty();
	expect(&c, true);
	assert_int_equal(taken.records, 1);
	assert_int_equal(taken.hiccups, 1);
	hold(&c, 1U << HEAD | 1U << SHM_HEAD);
}

/* Hiccups that have not been read are not written over. */
static void test_hiccup_reuse(void **unused)
{
	struct order_case c = make(put_hiccups, read_once);

	(void)unused;
	start_full();
	state.head[ORDER_LEVEL] = BASE;
	keep(&before);
	expect(&c, false);
	assert_int_equal(taken.hiccups, 2);
	hold(&c, 1U << SHM_TAIL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_publication), cmocka_unit_test(test_reuse),
		cmocka_unit_test(test_hiccup), cmocka_unit_test(test_hiccup_reuse)};

	shm = calloc(1, sizeof(*shm));
	return shm ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
