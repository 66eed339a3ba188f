/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The writer of a CPU's rings (state.h says in which order things are published, and why). Needs
 * nothing of the kernel, so that a test can run it through all orders in which a machine may
 * perform its accesses (tests/unit/test_order.c). */
#ifndef CULPRIT_RING_BPF_H
#define CULPRIT_RING_BPF_H

#include <bpf/bpf_helpers.h>
#include <stdbool.h>
#include "state.h"

/* False: nobody reads records, and there are no rings. Known when a program is loaded. */
#ifndef RECORDS_WANTED
#define RECORDS_WANTED 1
#endif

/* order_loads: loads before it come before those after it; order_stores: so do stores.
 * order_loads_at: the same for who has no CPU's state; `at` is a place of his own. */
#if defined(__TARGET_ARCH_x86)
/* x86 reorders neither stores nor loads among themselves (Intel SDM, 8.2.2). */
#define store_release(at, value)                                                                   \
	do {                                                                                       \
		barrier();                                                                         \
		*(volatile typeof(*(at)) *)(at) = (value);                                         \
	} while (0)
#define order_loads_at(at) barrier()
/* True for one of several programs at a time, which must then leave(); the others do not wait.
 * Accesses of the last one come before those of this one. Not by an exchange, which kernels before
 * 5.12 do not have. */
static __always_inline bool enter(__u32 *inside)
{
	__sync_fetch_and_add(inside, 1);
	if (*(volatile __u32 *)inside == 1)
		return true;
	__sync_fetch_and_add(inside, -1);
	return false;
}

static __always_inline void leave(__u32 *inside)
{
	__sync_fetch_and_add(inside, -1);
}
#else
/* An exchange that returns the old value is a full barrier (Documentation/atomic_t.txt); arm64
 * accepts it in programs since 5.18. */
#define store_release(at, value) ((void)__sync_lock_test_and_set(at, value))
#define order_loads_at(at)       ((void)__sync_lock_test_and_set(at, 0))

/* An addition whose result nobody uses, and a load and a branch behind it, order no later load. */
static __always_inline bool enter(__u32 *inside)
{
	return !__sync_lock_test_and_set(inside, 1);
}

static __always_inline void leave(__u32 *inside)
{
	store_release(inside, 0);
}
#endif
#define order_loads(c)  order_loads_at(&(c)->own.fence)
#define order_stores(c) order_loads(c)

/* Room for a record in a level's ring, from reserve() to publish(). */
struct ring_room {
	struct record *record; /* NULL: none */
	__u64 head;
	__u32 place;
};

/* The next half of a level's ring; the caller has made sure of room, see reserve(). */
static __always_inline struct ring_room next_half(struct cpu_state *c, int level, __u64 head)
{
	struct ring_room room = {NULL, head, c->own.place[level]};
	__u64 at = ring_base(level) + room.place;

	barrier_var(at);
	/* never true: bounds the index for the verifier, for access to both halves */
	if (at > RING_HALVES - 2)
		return room;
	room.record = (struct record *)&c->ring[at];
	/* The rings are farther from the begin of the state than an instruction reaches: without
	 * this the compiler adds up the address for each store again. */
	barrier_var(room.record);
	if (!room.record)
		__builtin_unreachable();
	return room;
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "put_tag() writes bytes as a word");
_Static_assert(__builtin_offsetof(struct record, kind) == 28 &&
		       __builtin_offsetof(struct record, level) == 29 &&
		       __builtin_offsetof(struct record, flags) == 30 &&
		       __builtin_offsetof(struct record, mark) == 31,
	       "put_tag() writes a word");

/* Writes what a record is, by one store. */
static __always_inline void put_tag(struct record *r, __u8 kind, __u8 level, __u8 flags, __u8 mark)
{
	__u32 tag = kind | level << 8 | (__u32)flags << 16 | (__u32)mark << 24;

	__builtin_memcpy(&r->kind, &tag, sizeof(tag));
}

/* Makes the written halves of a record visible to the reader. */
static __always_inline void publish(struct cpu_state *c, int level, const struct ring_room *room,
				    __u64 halves)
{
	c->own.place[level] = ring_next(level, room->place, halves);
	store_release(&c->head[level], room->head + halves);
}

/* Reports the records that had no room before. False for the verifier alone. */
static __always_inline bool say_lost(struct cpu_state *c, int level, __u64 head)
{
	struct ring_room room = next_half(c, level, head);

	if (!room.record)
		return false;
	room.record->id = c->own.unsaid[level];
	room.record->kind = RECORD_LOST;
	room.record->flags = 0;
	c->own.unsaid[level] = 0;
	publish(c, level, &room, 1);
	return true;
}

/* Takes the next place in a level's sequence. The caller fills one or two halves and calls
 * publish(). No record: the ring is full and the place counts as lost; a RECORD_LOST reports the
 * number once there is room again. */
static __always_inline struct ring_room reserve(struct cpu_state *c, int level, __u64 halves)
{
	const struct ring_room none = {NULL, 0, 0};
	__u64 head, used;

	if (!RECORDS_WANTED)
		return none;
	head = c->head[level];
	used = head - *(volatile __u64 *)&c->tail[level];
	c->cursor[level]++;
	if (used + 1 + halves > ring_size(level) - 1) {
		c->lost[level]++;
		c->own.unsaid[level]++;
		return none;
	}
	if (c->own.unsaid[level] && !say_lost(c, level, head++))
		return none;
	return next_half(c, level, head);
}

/* Writes a whole record, of which the caller has set all bytes; its second half only when that is
 * new. False: the ring was full. */
static __always_inline bool put_wide(struct cpu_state *c, int level, struct record *r)
{
	struct record_half *half = (struct record_half *)r + 1;
	struct record_half *same = &c->own.same[level][record_place(r)];
	struct ring_room room;
	struct record *to;
	__u64 halves = 1;

	barrier_var(same); /* the address is added up once, see next_half() */
	if (half->word[0] != same->word[0] || half->word[1] != same->word[1] ||
	    half->word[2] != same->word[2] || half->word[3] != same->word[3])
		halves = 2;
	barrier_var(halves); /* one value stays for later, not three that follow from it */
	room = reserve(c, level, halves);
	to = room.record;
	if (!to)
		return false;
	to->start_ns = r->start_ns;
	to->end_ns = r->end_ns;
	to->arg = r->arg;
	to->id = r->id;
	put_tag(to, r->kind, halves == 1 ? RECORD_SAME : RECORD_WIDE, r->flags, r->mark);
	if (halves == 2)
		*((struct record_half *)to + 1) = *same = *half;
	publish(c, level, &room, halves);
	return true;
}

/* Writes a record without a second half. */
static __always_inline void put_narrow(struct cpu_state *c, int level, int kind, int mark,
				       int flags, __u32 id, __u64 arg, __u64 start, __u64 end)
{
	struct ring_room room = reserve(c, level, 1);
	struct record *r = room.record;

	if (!r)
		return;
	r->start_ns = start;
	r->end_ns = end;
	r->arg = arg;
	r->id = id;
	put_tag(r, kind, level, flags, mark);
	publish(c, level, &room, 1);
}

#endif
