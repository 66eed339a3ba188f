/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of askers' notes (asker.bpf.h), and how a note is written and taken without a lock.
 * Needs nothing of the kernel, so that a test can run it through all orders in which a machine may
 * perform its accesses (tests/unit/test_order_notes.c).
 *
 * The notes lie in a table of two-way sets, because a hash map's locks and lists take longer than
 * all else here. A set that is full loses one of its notes, and so somebody's name; nobody gets
 * another's, as each note carries its key.
 *
 * Order of publication: who writes enters the note, which one program at a time does, and makes its
 * version odd before and even again after all else. Who takes it reads an even version, the note
 * and its key, and the same version again, in this order. So the note was that key's, and whole,
 * between the two. Leaving needs no order of its own: it comes after the second version. */
#ifndef CULPRIT_NOTE_BPF_H
#define CULPRIT_NOTE_BPF_H

#include "ring.bpf.h"

struct asker_note {
	__u64 what;     /* key: address of the csd or the work, or the tid; 0: no note */
	__u32 on;       /* key: the target CPU where it takes one, else 0 */
	__u32 inside;   /* not 0 while a program writes here: a second gives up; see enter() */
	__u32 versions; /* odd while it is written */
	__u32 tid;
	/* As the second half of the record. */
	char comm[16];
	union {
		__u64 callsite;
		__u64 owner; /* RECORD_OWNED */
	};
	__s16 stack;
	__u16 cpu;
	__u32 none;   /* 0 */
	__u8 context; /* RECORD_BY_..., RECORD_OWNED */
	__u8 unused[3];
	__u32 switches; /* see asker_key */
};

_Static_assert(sizeof(struct asker_note) == 64, "a cache line");
_Static_assert(__builtin_offsetof(struct asker_note, comm) == 24 &&
		       __builtin_offsetof(struct asker_note, context) == 24 + 32,
	       "a half of a record, as words");

struct note_set {
	struct asker_note note[2];
};

struct asker_key {
	__u64 what; /* 0: has none */
	__u32 on;
	__u32 set; /* index of its set */
	/* For a wake-up: twice the times that the thread was switched out, and 1 more while it is
	 * being switched out, when this time may be counted already or not. A note of another time
	 * tells of an arrival that was not seen, or was none. Where this time was counted already,
	 * the note holds for one arrival more: if the first was on a CPU that is no target, and the
	 * thread is preempted there and comes back here, its waker is named although it only came
	 * back. Nothing that can be read cheaply tells the two apart. */
	__u32 switches;
};

/* The table's set of this index, by who includes this; NULL, which no caller meets, is for the
 * verifier. */
static __always_inline struct note_set *set_at(__u32 index);

/* Sets of requests that take no CPU hold no other ones. */
static __always_inline bool is_of(const struct asker_note *n, const struct asker_key *key)
{
	if (*(volatile __u64 *)&n->what != key->what)
		return false;
	if (__builtin_constant_p(key->on) && !key->on)
		return true;
	return *(volatile __u32 *)&n->on == key->on;
}

/* True when the thread was not switched out between the note and the key of its arrival. */
static __always_inline bool is_of_this_time(const struct asker_note *n, const struct asker_key *key)
{
	return key->switches - n->switches + 1 <= 2;
}

/* The note under this key; NULL: none. */
static __always_inline struct asker_note *note_of(const struct asker_key *key)
{
	struct note_set *s = key->what ? set_at(key->set) : NULL;

	if (!s)
		return NULL;
	if (is_of(&s->note[0], key))
		return &s->note[0];
	return is_of(&s->note[1], key) ? &s->note[1] : NULL;
}

static __always_inline void forget_note(const struct asker_key *key)
{
	struct asker_note *n = note_of(key);

	if (n)
		n->what = 0;
}

/* Takes the note_of() this key into the mark; false: there is none, or another is being written
 * over it. */
static __always_inline bool take_note(struct cpu_state *c, struct record *r, struct asker_note *n,
				      const struct asker_key *key)
{
	__u32 version = n ? *(volatile __u32 *)&n->versions : 1;
	bool mine;

	if (!n || version & 1)
		return false;
	order_loads(c);
	r->flags |= RECORD_ASKED | n->context;
	r->id = n->tid;
	*((struct record_half *)r + 1) = *(const struct record_half *)n->comm;
	mine = is_of_this_time(n, key) &&
	       is_of(n, key); /* the note may have become another's since note_of() */
	order_loads(c);
	if (!mine || *(volatile __u32 *)&n->versions != version)
		return false;
	n->what = 0;
	return true;
}

/* A note to write to: that under this key, or an empty one, or one of the two in turn. NULL:
 * another program writes it, so that what it was is gone. */
static __always_inline struct asker_note *begin_note(const struct asker_key *key)
{
	struct note_set *s = set_at(key->set);
	struct asker_note *n, *m;

	if (!s)
		return NULL;
	n = &s->note[0];
	m = &s->note[1];
	if (!is_of(n, key) && (is_of(m, key) || (n->what && (!m->what || n->versions & 2))))
		n = m;
	if (!enter(&n->inside))
		return NULL;
	store_release(&n->versions, n->versions + 1);
	barrier(); /* nothing of the note is written before */
	return n;
}

static __always_inline void end_note(struct asker_note *n, const struct asker_key *key)
{
	n->on = key->on;
	n->switches = key->switches;
	n->what = key->what;
	store_release(&n->versions, n->versions + 1);
	leave(&n->inside);
}

#endif
