/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cases of order.h, of code whose fences are exchanges of one place or the compiler's own. One case
 * at a time. */
#ifndef CULPRIT_ORDER_HOLD_H
#define CULPRIT_ORDER_HOLD_H

#include "order.h"

/* Place of the exchanges that only order; of the case in hand. */
extern struct order_place *order_fence;

/* Begins a case and resets its memory; the data are one byte that nobody looks at. */
void order_begin(uint32_t *fence, void (*reset)(void), void (*writer)(void), void (*reader)(void),
		 bool (*is_bad)(void));

/* Adds memory that both look at; valid until the next case begins. */
struct order_place *order_place(void *at, size_t size, enum order_thread owner);

/* The data from here to there, all bytes of which should be those of `value`. */
void order_data(void *from, void *to, uint64_t value);

/* Fails the test if anything wrong is seen in any order, or on x86: in the case in hand, or in one
 * that the caller made. */
void order_hold(void);
void order_holds(struct order_case *of);

/* Fails the test if nothing wrong is seen without what the accesses of one thread to the place
 * order: the nth of those that order anything, 0: all. */
void order_fails_without(struct order_place *p, enum order_thread thread, unsigned nth);
void order_fails_without_fences(enum order_thread thread);

#endif
