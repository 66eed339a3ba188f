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

/* order_loads: loads before it come before those after it. */
#if defined(__TARGET_ARCH_x86)
/* x86 reorders neither stores nor loads among themselves (Intel SDM, 8.2.2). */
#define store_release(at, value)                                                                   \
	do {                                                                                       \
		barrier();                                                                         \
		*(volatile typeof(*(at)) *)(at) = (value);                                         \
	} while (0)
#define order_loads(c) barrier()
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
#define order_loads(c)           ((void)__sync_lock_test_and_set(&(c)->own.fence, 0))

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

/* The next half of a level's ring; the caller has made sure of room, see reserve(). */
static __always_inline struct record *next_half(struct cpu_state *c, int level)
{
	__u64 at = ring_base(level) + c->own.place[level];

	barrier_var(at);
	/* never true: bounds the index for the verifier, for access to both halves */
	if (at > RING_HALVES - 2)
		return NULL;
	return (struct record *)&c->ring[at];
}

/* Makes the written halves of a record visible to the reader. */
static __always_inline void publish(struct cpu_state *c, int level, __u32 halves)
{
	c->own.place[level] = ring_next(level, c->own.place[level], halves);
	store_release(&c->head[level], c->head[level] + halves);
}

/* Takes the next place in a level's sequence. The caller fills one or two halves and calls
 * publish(). NULL: the ring is full and the place counts as lost; a RECORD_LOST reports the number
 * once there is room again. */
static __always_inline struct record *reserve(struct cpu_state *c, int level, __u32 halves)
{
	struct record *r;
	__u64 used;

	if (!RECORDS_WANTED)
		return NULL;
	used = c->head[level] - *(volatile __u64 *)&c->tail[level];
	c->cursor[level]++;
	if (used + 1 + halves > ring_size(level) - 1) {
		c->lost[level]++;
		c->own.unsaid[level]++;
		return NULL;
	}
	if (c->own.unsaid[level]) {
		r = next_half(c, level);
		if (!r)
			return NULL;
		r->id = c->own.unsaid[level];
		r->kind = RECORD_LOST;
		r->flags = 0;
		c->own.unsaid[level] = 0;
		publish(c, level, 1);
	}
	return next_half(c, level);
}

/* Writes a whole record, of which the caller has set all bytes; its second half only when that is
 * new. False: the ring was full. */
static __always_inline bool put_wide(struct cpu_state *c, int level, struct record *r)
{
	struct record_half *half = (struct record_half *)r, *to;
	struct record_half *same = &c->own.same[level][record_place(r)];
	bool repeats = half[1].word[0] == same->word[0] && half[1].word[1] == same->word[1] &&
		       half[1].word[2] == same->word[2] && half[1].word[3] == same->word[3];
	__u32 halves = repeats ? 1 : 2;

	to = (struct record_half *)reserve(c, level, halves);
	if (!to)
		return false;
	r->level = repeats ? RECORD_SAME : RECORD_WIDE;
	to[0] = half[0];
	if (!repeats)
		to[1] = *same = half[1];
	publish(c, level, halves);
	return true;
}

/* Writes a record without a second half. */
static __always_inline void put_narrow(struct cpu_state *c, int level, int kind, int mark,
				       int flags, __u32 id, __u64 arg, __u64 start, __u64 end)
{
	struct record *r = reserve(c, level, 1);

	if (!r)
		return;
	r->start_ns = start;
	r->end_ns = end;
	r->arg = arg;
	r->id = id;
	r->kind = kind;
	r->level = level;
	r->flags = flags;
	r->mark = mark;
	publish(c, level, 1);
}

#endif
