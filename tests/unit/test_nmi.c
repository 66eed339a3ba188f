/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interrupts that nothing masks (arm64: irqchip.gicv3_pseudo_nmi) come by the tracepoints of all
 * others, and may break into the programs there. The real programs run here, and such an interrupt
 * breaks in before each of their accesses to memory, one run for each: no record is missing, torn
 * or another's. Where the kernel did not tell the context, some would be. So does one that has no
 * tracepoint, whose functions have: it breaks into softirqs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collect/ring.h"
#include "nmi_probes.h"

#define TAKEN 32

struct taken {
	struct record record[TAKEN];
	unsigned n;
};

static struct {
	bool on, inside; /* the programs run; the interrupt is being handled */
	unsigned seen, at;
	void (*comes)(void);
} now;

static char handler[3];

static void break_in(void)
{
	if (!now.on || now.inside || now.seen++ != now.at)
		return;
	now.inside = true;
	now.comes();
	now.inside = false;
}

/* ---- the hooks of the compiler's thread sanitizer ---- */

void __tsan_init(void);
void __tsan_func_entry(void *at);
void __tsan_func_exit(void);

void __tsan_init(void)
{
}

void __tsan_func_entry(void *at)
{
	(void)at;
}

void __tsan_func_exit(void)
{
}

#define HOOKS(bytes)                                                                               \
	void __tsan_read##bytes(void *at);                                                         \
	void __tsan_write##bytes(void *at);                                                        \
	void __tsan_read##bytes(void *at)                                                          \
	{                                                                                          \
		(void)at;                                                                          \
		break_in();                                                                        \
	}                                                                                          \
	void __tsan_write##bytes(void *at)                                                         \
	{                                                                                          \
		(void)at;                                                                          \
		break_in();                                                                        \
	}
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

/* Newer compilers copy halves by it. */
void *__tsan_memcpy(void *to, const void *from, size_t size);
void *__tsan_memcpy(void *to, const void *from, size_t size)
{
	break_in();
	return memcpy(to, from, size);
}

void *__tsan_memset(void *at, int value, size_t size);
void *__tsan_memset(void *at, int value, size_t size)
{
	break_in();
	return memset(at, value, size);
}

uint64_t __tsan_atomic64_exchange(volatile uint64_t *at, uint64_t value, int order);
uint32_t __tsan_atomic32_exchange(volatile uint32_t *at, uint32_t value, int order);
uint32_t __tsan_atomic32_fetch_add(volatile uint32_t *at, uint32_t value, int order);

uint64_t __tsan_atomic64_exchange(volatile uint64_t *at, uint64_t value, int order)
{
	(void)order;
	break_in();
	return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);
}

uint32_t __tsan_atomic32_exchange(volatile uint32_t *at, uint32_t value, int order)
{
	(void)order;
	break_in();
	return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);
}

uint32_t __tsan_atomic32_fetch_add(volatile uint32_t *at, uint32_t value, int order)
{
	(void)order;
	break_in();
	return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);
}

/* ---- runs ---- */

static void pseudo(void)
{
	nmi_pseudo(23, &handler[2]);
}

static void untold(void)
{
	nmi_interrupt(23, &handler[2]);
}

static void unseen(void)
{
	nmi_hrtimer(&handler[2], false);
	nmi_irq_work(&handler[2]);
}

static void take(struct rings *rings, int level, struct taken *t)
{
	const struct record *r;

	t->n = 0;
	rings_look(rings);
	while (t->n < TAKEN && (r = rings_next_of(rings, level))) {
		t->record[t->n++] = *r;
		rings_pop(rings, level);
	}
}

/* Two interrupts, each with a function, and two softirqs. */
static void run(unsigned at, void (*comes)(void), struct taken of[LEVELS])
{
	struct rings *rings;

	memset(&nmi_state, 0, sizeof(nmi_state));
	rings = rings_new(&nmi_state);
	assert_non_null(rings);
	nmi_clock = 1000;
	now.seen = 0;
	now.at = at;
	now.comes = comes;
	for (int i = 0; i < 2; i++) {
		now.on = comes != unseen; /* masked there */
		nmi_interrupt(40 + i, &handler[i]);
		nmi_hrtimer(&handler[i], false);
		now.on = true;
		nmi_softirq(3, &handler[i]);
	}
	now.on = false;
	for (int level = 0; level < LEVELS; level++)
		take(rings, level, &of[level]);
	rings_free(rings);
}

static bool same_record(const struct record *a, const struct record *b)
{
	return a->kind == b->kind && a->id == b->id && a->arg == b->arg && a->seq == b->seq &&
	       a->mark == b->mark && a->start_ns <= a->end_ns && a->start_ns > 1000 &&
	       a->end_ns <= nmi_clock;
}

static bool same(const struct taken *a, const struct taken *b)
{
	for (unsigned i = 0; i < a->n && i < b->n; i++)
		if (!same_record(&a->record[i], &b->record[i]))
			return false;
	return a->n == b->n;
}

/* True when nothing is there that the run without it has not, and the interrupt besides. */
static bool is_right(const struct taken *got, const struct taken *quiet)
{
	const struct taken *nmi = &got[LEVEL_NMI];

	return same(&got[LEVEL_IRQ], &quiet[LEVEL_IRQ]) &&
	       same(&got[LEVEL_SOFTIRQ], &quiet[LEVEL_SOFTIRQ]) && !got[LEVEL_THREAD].n &&
	       nmi->n == 1 && nmi->record[0].kind == RECORD_NMI &&
	       nmi->record[0].arg == (uint64_t)&handler[2] &&
	       nmi->record[0].start_ns < nmi->record[0].end_ns && !nmi_state.unpaired;
}

/* True when the softirqs' records are all there, and the interrupts' two functions besides. */
static bool is_apart(const struct taken *got, const struct taken *quiet)
{
	const struct taken *irq = &got[LEVEL_IRQ];
	uint32_t first = quiet[LEVEL_IRQ].record[0].seq;
	unsigned more = 0;

	for (unsigned i = 0; i < irq->n; i++)
		more += irq->record[i].arg == (uint64_t)&handler[2] &&
			irq->record[i].seq == first + i;
	return same(&got[LEVEL_SOFTIRQ], &quiet[LEVEL_SOFTIRQ]) && !got[LEVEL_THREAD].n &&
	       irq->n == quiet[LEVEL_IRQ].n + 2 && more == 2;
}

static unsigned wrong(void (*comes)(void),
		      bool (*right)(const struct taken *, const struct taken *), unsigned *places)
{
	static struct taken quiet[LEVELS], got[LEVELS];
	unsigned n = 0;

	run(UINT32_MAX, comes, quiet);
	*places = now.seen;
	assert_int_equal(quiet[LEVEL_IRQ].n, 4);
	assert_int_equal(quiet[LEVEL_SOFTIRQ].n, 6);
	assert_int_equal(quiet[LEVEL_NMI].n, 0);
	for (unsigned at = 0; at < *places; at++) {
		run(at, comes, got);
		n += !right(got, quiet);
	}
	return n;
}

static void test_wherever_it_breaks_in(void **state)
{
	unsigned places;

	(void)state;
	assert_int_equal(wrong(pseudo, is_right, &places), 0);
	assert_true(places > 100);
}

static void test_unseen_interrupts(void **state)
{
	unsigned places;

	(void)state;
	assert_int_equal(wrong(unseen, is_apart, &places), 0);
	assert_true(places > 50);
}

/* In the ring of interrupts some would be torn: the test sees it. */
static unsigned torn(void)
{
	static struct taken quiet[LEVELS], got[LEVELS];
	unsigned n = 0, places;

	run(UINT32_MAX, untold, quiet);
	places = now.seen;
	for (unsigned at = 0; at < places; at++) {
		unsigned found = 0;

		run(at, untold, got);
		for (unsigned i = 0; i < got[LEVEL_IRQ].n && found < quiet[LEVEL_IRQ].n; i++) {
			const struct record *want = &quiet[LEVEL_IRQ].record[found];

			found += got[LEVEL_IRQ].record[i].kind == want->kind &&
				 got[LEVEL_IRQ].record[i].id == want->id &&
				 got[LEVEL_IRQ].record[i].arg == want->arg;
		}
		n += found < quiet[LEVEL_IRQ].n;
	}
	return n;
}

static void test_without_a_ring_of_its_own(void **state)
{
	(void)state;
	assert_true(torn() > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_wherever_it_breaks_in),
					   cmocka_unit_test(test_unseen_interrupts),
					   cmocka_unit_test(test_without_a_ring_of_its_own)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
