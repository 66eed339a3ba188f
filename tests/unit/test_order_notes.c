/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The notes of askers, on a machine that performs accesses in another order than the program's: the
 * real code of those who write a note and of who takes it runs through all orders that ARMv8
 * permits (order.h). Whoever takes a note takes one that was whole, and that its key's. Without any
 * one of the barriers he may take another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "order_hold.h"
#include "order_notes.h"

#define WHAT 0x1000 /* keys asked for, on these CPUs */
#define ON   1
#define ELSE 2

static struct cpu_state *state;
static bool took;

static const struct asker_key key = {.what = WHAT, .on = ON},
			      other_key = {.what = WHAT, .on = ELSE};

/* The code of order_notes.c, which has the memory. */
static struct note_set *set_at(__u32 index)
{
	return &order_notes + index;
}

/* Askers by number: each byte differs from that of another asker. */
static struct asker_note asker(unsigned number)
{
	struct asker_note n;

	memset(&n, 0x11 * number, sizeof(n));
	return n;
}

enum { OLD = 1, FIRST, SECOND }; /* askers */

static void put(unsigned number, const struct asker_key *k)
{
	struct asker_note a = asker(number);

	order_put_note(k, &a);
}

static void take(void)
{
	struct record r = {.kind = RECORD_MARK};

	took = order_take_note(state, &r, &key);
}

static void put_again(void)
{
	put(FIRST, &key);
}

/* The note becomes another key's, is taken, and is this one's again. */
static void put_other(void)
{
	put(FIRST, &other_key);
	order_forget_note(&other_key);
	put(SECOND, &key);
}

static void ask_and_take(void)
{
	put(SECOND, &key);
	take();
}

static void reset(void)
{
	order_notes.note[0] = asker(OLD);
	order_notes.note[0].what = WHAT;
	order_notes.note[0].on = ON;
	order_notes.note[0].inside = order_notes.note[0].versions = order_notes.note[0].switches =
		0;
	order_notes.note[1] = (struct asker_note){.what = ~0ULL}; /* somebody else's */
	took = false;
}

/* ---- cases ---- */

static struct order_case c;
static bool first_is_others; /* the first asker's note is of the other key */

/* The bytes that were read are still in memory, because taking is the reader's last deed. All bytes
 * are the same asker's, whose number is that of the first. */
static bool is_bad(void)
{
	const uint8_t *byte = c.place[c.places - 1].at;
	uint8_t tid = order_notes.note[0].tid;

	return took && (*byte != tid || (first_is_others && tid == 0x11 * FIRST));
}

static struct order_place *add_place(void *at, size_t size, enum order_thread owner)
{
	struct order_place *p = &c.place[c.places++];

	*p = (struct order_place){.at = at, .size = size, .owner = owner};
	return p;
}

/* An access of a thread to a place: the nth there that orders anything. */
struct barrier {
	const char *what;
	struct order_place *place;
	enum order_thread thread;
	unsigned nth;
};

/* Nothing wrong is seen in any order; without any one of the barriers something is. */
static void hold(const struct barrier *barrier, int barriers)
{
	order_holds(&c);
	for (int i = 0; i < barriers; i++) {
		struct order_place *p = barrier[i].place;
		struct order_result without = {0};

		p->weak = 1U << barrier[i].thread;
		p->only = barrier[i].nth;
		order_try(&c, &without);
		p->weak = p->only = 0;
		if (!without.bad)
			fail_msg("without %s nothing is wrong", barrier[i].what);
	}
}

static void begin(void (*writer)(void), void (*reader)(void))
{
	c = (struct order_case){
		.reset = reset,
		.run = {writer, reader},
		.is_bad = is_bad,
		.data = {(uint8_t *)&order_notes.note[0].comm, order_notes.note[0].unused}};
	reset();
}

/* A note is written again while it is taken: it is the old one, or the new one, or none. */
static void test_renewal(void **unused)
{
	struct order_place *versions, *fence;

	(void)unused;
	begin(put_again, take);
	first_is_others = false;
	versions = add_place(&order_notes.note[0].versions, 4, WRITER);
	fence = add_place(&state->own.fence, 4, READER);
	add_place(&order_notes.note[0].tid, 4, WRITER);
	hold((const struct barrier[]){{"the version before", versions, WRITER, 1},
				      {"the version after", versions, WRITER, 2},
				      {"the order before the note", fence, READER, 1},
				      {"the order after the note", fence, READER, 2}},
	     4);
}

/* The note becomes another key's meanwhile, and this one's again: that other one is not taken. */
static void test_another_key(void **unused)
{
	struct order_place *fence;

	(void)unused;
	begin(put_other, take);
	first_is_others = true;
	add_place(&order_notes.note[0].versions, 4, WRITER);
	fence = add_place(&state->own.fence, 4, READER);
	add_place(&order_notes.note[0].tid, 4, WRITER);
	add_place(&order_notes.note[0].what, 8, BOTH);
	add_place(&order_notes.note[0].on, 4, WRITER);
	hold((const struct barrier[]){{"the order before the note", fence, READER, 1},
				      {"the order after the note", fence, READER, 2}},
	     2);
}

/* Two write it at once, of whom one then takes it: their notes do not mix. */
static void test_two_askers(void **unused)
{
	struct order_place *inside, *versions;

	(void)unused;
	begin(put_again, ask_and_take);
	first_is_others = false;
	c.data_owner = BOTH;
	inside = add_place(&order_notes.note[0].inside, 4, BOTH);
	versions = add_place(&order_notes.note[0].versions, 4, BOTH);
	versions->blind = true;
	versions->most = 4; /* each adds 2 */
	add_place(&state->own.fence, 4, READER);
	add_place(&order_notes.note[0].tid, 4, BOTH);
	hold(&(const struct barrier){"what the writer's entering orders", inside, WRITER, 1}, 1);
}

/* A wake-up is taken by the arrival that follows it: the thread was not switched out in between,
 * unless it was being so when it was woken. */
static void test_an_arrival_of_its_own(void **unused)
{
	static const struct {
		uint32_t put, take;
		bool taken;
	} row[] = {{10, 10, true}, {10, 12, false}, {12, 10, false},
		   {11, 10, true}, {11, 12, true},  {11, 14, false},
		   {11, 8, false}, {~0U, 0, true},  {~1U, 0, false}};

	(void)unused;
	for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct asker_key of = key;
		struct asker_note a = asker(FIRST);
		struct record r = {.kind = RECORD_MARK};

		reset();
		of.switches = row[i].put;
		order_put_note(&of, &a);
		of.switches = row[i].take;
		assert_int_equal(order_take_note(state, &r, &of), row[i].taken);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_renewal), cmocka_unit_test(test_another_key),
		cmocka_unit_test(test_two_askers), cmocka_unit_test(test_an_arrival_of_its_own)};

	state = aligned_alloc(_Alignof(struct cpu_state), sizeof(*state));
	if (state)
		memset(state, 0, sizeof(*state));
	return state ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
