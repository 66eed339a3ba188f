/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All orders in which an ARMv8 machine may perform the accesses of two threads to the memory they
 * share, of the real code.
 *
 * A test that runs threads proves nothing here: x86 does not reorder what matters, and an emulator
 * on it neither. So each thread's code runs alone, compiled with the hooks of the thread sanitizer
 * (order.c has them, in place of its library), once for every combination of values that its loads
 * may return. That gives traces: the accesses in program order, with their values. Then a trace of
 * each thread is taken, and their accesses are performed in all orders that the architecture
 * permits. A pair of traces exists on the machine if in one of the orders every load meets the
 * value that it returned.
 *
 * An access waits for an earlier one of its thread only (Arm ARM, B2.3; memory is multi-copy
 * atomic) if
 *   - both are to the same place,
 *   - the earlier one is a load-acquire, or the later one a store-release,
 *   - either is an exchange with full order (atomic_t.txt: what returns a value; it loads and
 *     stores at once), or a fence is between them; one of acquire semantics holds back what follows
 *     it from earlier loads only,
 *   - or the later one is a store that depends on what the earlier one loaded: with another value
 *     the code would not have done it.
 * Everything else may change places: loads with loads, too, although a branch is between them.
 * Where a thread loads what it has itself stored an exchange stands between the two: so that it may
 * see its own store before others do plays no part.
 *
 * Data are looked at one byte at a time. Whoever reads several wrong bytes reads a first wrong one;
 * up to there all others were right. So all bytes but one return what they should, and every byte
 * has its turn. */
#ifndef CULPRIT_ORDER_H
#define CULPRIT_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORDER_PLACES 6

enum order_thread { WRITER, READER, BOTH };

/* Shared memory that both threads look at, of at most 8 bytes. */
struct order_place {
	void *at;
	size_t size;
	enum order_thread owner; /* the thread or threads that store there */
	/* Bit of a thread: its accesses here order nothing; what acquire, release or a dependency
	 * does is gone. */
	unsigned weak;
	unsigned only; /* number of the one weak access meant, among those that order anything; 0:
			  all */
	bool blind;    /* nobody looks at what an exchange here returns */
	uint64_t most; /* largest value that ever stands here; 0: whatever the threads store */
};

struct order_case {
	void (*reset)(void); /* makes memory as before */
	void (*run[2])(void);
	bool (*is_bad)(void); /* after the reader has run: it saw what must not be */
	/* Bytes that the reader should find where this is not the byte in question; NULL: they do
	 * not matter. */
	const uint8_t *(*right)(const uint8_t *at);
	enum order_thread data_owner;
	const uint8_t *data[2]; /* bounds of the data */
	const uint8_t *more[2]; /* bounds of the second area, which may be empty */
	struct order_place place[ORDER_PLACES];
	int places;
	bool tso;             /* x86's order: only a store may wait, until behind later loads */
	unsigned weak_fences; /* bit of a thread: its fences order nothing */
};

struct order_result {
	unsigned long traces, pairs; /* traces of the reader; pairs that were tried */
	unsigned long good, bad;     /* bytes with one that exists; pairs that exist, 1 at most */
};

/* Tries all bytes of the data until one can be wrong; adds to the result. */
void order_try(struct order_case *c, struct order_result *result);

#endif
