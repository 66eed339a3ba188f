/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "order_hold.h"

struct order_place *order_fence;

static struct order_case c;
static uint64_t right_value; /* every byte of the data has its */
static uint8_t nothing;      /* data where the places say all */

static const uint8_t *right(const uint8_t *at)
{
	(void)at;
	return (const uint8_t *)&right_value;
}

struct order_place *order_place(void *at, size_t size, enum order_thread owner)
{
	struct order_place *p = &c.place[c.places++];

	*p = (struct order_place){.at = at, .size = size, .owner = owner};
	return p;
}

void order_begin(uint32_t *fence, void (*reset)(void), void (*writer)(void), void (*reader)(void),
		 bool (*is_bad)(void))
{
	c = (struct order_case){.reset = reset,
				.run = {writer, reader},
				.is_bad = is_bad,
				.data = {&nothing, &nothing + 1}};
	reset();
	order_fence = order_place(fence, sizeof(*fence), BOTH);
	order_fence->blind = true;
}

void order_data(void *from, void *to, uint64_t value)
{
	c.data[0] = from;
	c.data[1] = to;
	c.right = right;
	right_value = value;
}

void order_holds(struct order_case *of)
{
	struct order_result all = {0}, x86 = {0};

	order_try(of, &all);
	print_message("%lu traces, %lu pairs\n", all.traces, all.pairs);
	assert_int_equal(all.bad, 0);
	assert_int_equal(all.good, of->data[1] - of->data[0]);
	of->tso = true;
	order_try(of, &x86);
	of->tso = false;
	assert_int_equal(x86.bad, 0);
}

void order_hold(void)
{
	order_holds(&c);
}

void order_fails_without(struct order_place *p, enum order_thread thread, unsigned nth)
{
	struct order_result without = {0};

	p->weak = 1U << thread;
	p->only = nth;
	order_try(&c, &without);
	p->weak = p->only = 0;
	if (!without.bad)
		fail_msg("without access %u of thread %d to place %d nothing is wrong", nth, thread,
			 (int)(p - c.place));
}

void order_fails_without_fences(enum order_thread thread)
{
	struct order_result without = {0};

	c.weak_fences = 1U << thread;
	order_try(&c, &without);
	c.weak_fences = 0;
	if (!without.bad)
		fail_msg("without the fences of thread %d nothing is wrong", thread);
}
