/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ACCESSES 28
#define TRACES   16384
#define VALUES   16
#define STATES   (1U << 16) /* of the two threads; a power of two, far more than there are */

enum order { PLAIN, ACQUIRE, RELEASE, FULL };

struct access {
	bool store;
	uint8_t place;
	enum order order;
	uint64_t value;
};

struct trace {
	struct access access[ACCESSES];
	uint32_t waits[ACCESSES]; /* bit per earlier access that must have been performed */
	int n;
	bool bad;
};

static struct {
	struct order_case *c;
	enum order_thread thread;
	bool on;
	struct trace *trace;
	/* A plain store is known only when it has been done. */
	const void *pending;
	size_t pending_size;
	int choice[ACCESSES], choices[ACCESSES], loads; /* of the loads of this run */
	int newest[ORDER_PLACES]; /* of the last load, where there are two values */
	uint64_t value[ORDER_PLACES][VALUES];
	int values[ORDER_PLACES];
} now;

static struct trace traces[2][TRACES];
static int ntraces[2];

static void fatal(const char *what)
{
	fprintf(stderr, "order: %s\n", what);
	abort();
}

/* ---- what the code does ---- */

static uint64_t peek(const struct order_place *p)
{
	uint64_t value = 0;

	memcpy(&value, p->at, p->size);
	return value;
}

static void note(int place, bool store, enum order order, uint64_t value)
{
	struct trace *t = now.trace;

	if (t->n == ACCESSES)
		fatal("a trace is too long");
	t->access[t->n++] = (struct access){store, place, order, value};
}

static bool overlaps(const struct order_place *p, const void *at, size_t size)
{
	const char *a = p->at, *b = at;

	return a < b + size && b < a + p->size;
}

static void note_stores(const void *at, size_t size, enum order order)
{
	for (int i = 0; i < now.c->places; i++) {
		struct order_place *p = &now.c->place[i];

		if (!overlaps(p, at, size))
			continue;
		if (p->owner != now.thread)
			fatal("both threads store in one place");
		note(i, true, order, peek(p));
	}
}

/* A plain store has been done when the next access begins. */
static void settle(void)
{
	if (now.on && now.pending)
		note_stores(now.pending, now.pending_size, PLAIN);
	now.pending = NULL;
}

static bool in(const uint8_t *const area[2], const uint8_t *at)
{
	return area[0] && at >= area[0] && at < area[1];
}

/* Data return what they should, whoever has stored what. */
static void set_right(const uint8_t *at, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (in(now.c->data, at + i) || in(now.c->more, at + i)) {
			const uint8_t *right = now.c->right(at + i);

			if (right)
				*(uint8_t *)(at + i) = *right;
		}
}

static void load(const void *at, size_t size, enum order order)
{
	settle();
	if (!now.on)
		return;
	if (now.thread == READER)
		set_right(at, size);
	for (int i = 0; i < now.c->places; i++) {
		struct order_place *p = &now.c->place[i];
		int n = now.loads;

		if (!overlaps(p, at, size) || p->owner == now.thread)
			continue;
		if (n == ACCESSES)
			fatal("a run has too many loads");
		/* of two values the first was there before: it does not come back */
		if (now.values[i] == 2 && now.choice[n] < now.newest[i])
			now.choice[n] = now.newest[i];
		now.newest[i] = now.choice[n];
		now.choices[n] = now.values[i];
		memcpy(p->at, &now.value[i][now.choice[n]], p->size);
		note(i, false, order, now.value[i][now.choice[n]]);
		now.loads++;
	}
}

static void store(const void *at, size_t size)
{
	settle();
	now.pending = at;
	now.pending_size = size;
}

/* ---- the hooks of the compiler's thread sanitizer ---- */

void __tsan_init(void);
void __tsan_func_entry(void *at);
void __tsan_func_exit(void);
void *__tsan_memcpy(void *to, const void *from, size_t size);
void *__tsan_memmove(void *to, const void *from, size_t size);
void *__tsan_memset(void *to, int byte, size_t size);

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

void *__tsan_memcpy(void *to, const void *from, size_t size)
{
	load(from, size, PLAIN);
	store(to, size);
	return memcpy(to, from, size);
}

void *__tsan_memmove(void *to, const void *from, size_t size)
{
	load(from, size, PLAIN);
	store(to, size);
	return memmove(to, from, size);
}

void *__tsan_memset(void *to, int byte, size_t size)
{
	store(to, size);
	return memset(to, byte, size);
}

#define PLAIN_HOOKS(bytes)                                                                         \
	void __tsan_read##bytes(void *at);                                                         \
	void __tsan_write##bytes(void *at);                                                        \
	void __tsan_unaligned_read##bytes(void *at);                                               \
	void __tsan_unaligned_write##bytes(void *at);                                              \
	void __tsan_read##bytes(void *at)                                                          \
	{                                                                                          \
		load(at, bytes, PLAIN);                                                            \
	}                                                                                          \
	void __tsan_write##bytes(void *at)                                                         \
	{                                                                                          \
		store(at, bytes);                                                                  \
	}                                                                                          \
	void __tsan_unaligned_read##bytes(void *at)                                                \
	{                                                                                          \
		load(at, bytes, PLAIN);                                                            \
	}                                                                                          \
	void __tsan_unaligned_write##bytes(void *at)                                               \
	{                                                                                          \
		store(at, bytes);                                                                  \
	}
PLAIN_HOOKS(1)
PLAIN_HOOKS(2)
PLAIN_HOOKS(4)
PLAIN_HOOKS(8)
PLAIN_HOOKS(16)

/* An exchange with any order but the weakest has full order, as the kernel's have, and in a
 * program's instructions there is no other. */
#define ATOMIC_HOOKS(bits)                                                                         \
	uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int order);   \
	void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value,        \
					 int order);                                               \
	uint##bits##_t __tsan_atomic##bits##_exchange(volatile uint##bits##_t *at,                 \
						      uint##bits##_t value, int order);            \
	uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int order)    \
	{                                                                                          \
		load((const void *)at, sizeof(*at), order == __ATOMIC_RELAXED ? PLAIN : ACQUIRE);  \
		return *at;                                                                        \
	}                                                                                          \
	void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value,        \
					 int order)                                                \
	{                                                                                          \
		settle();                                                                          \
		*at = value;                                                                       \
		if (now.on)                                                                        \
			note_stores((const void *)at, sizeof(*at),                                 \
				    order == __ATOMIC_RELAXED ? PLAIN : RELEASE);                  \
	}                                                                                          \
	uint##bits##_t __tsan_atomic##bits##_exchange(volatile uint##bits##_t *at,                 \
						      uint##bits##_t value, int order)             \
	{                                                                                          \
		uint##bits##_t before = *at;                                                       \
                                                                                                   \
		settle();                                                                          \
		*at = value;                                                                       \
		if (now.on)                                                                        \
			note_stores((const void *)at, sizeof(*at),                                 \
				    order == __ATOMIC_RELAXED ? PLAIN : FULL);                     \
		return before;                                                                     \
	}
ATOMIC_HOOKS(32)
ATOMIC_HOOKS(64)

/* ---- all traces ---- */

static void run_once(struct order_case *c, enum order_thread thread, struct trace *t)
{
	*t = (struct trace){0};
	c->reset();
	now.c = c;
	now.thread = thread;
	now.trace = t;
	now.loads = 0;
	memset(now.newest, 0, sizeof(now.newest));
	now.pending = NULL;
	now.on = true;
	c->run[thread]();
	settle();
	now.on = false;
	if (thread == READER)
		t->bad = c->is_bad();
}

/* The next combination of values; false: that was the last. */
static bool next_choice(void)
{
	int i = now.loads;

	while (i && now.choice[i - 1] + 1 >= now.choices[i - 1])
		i--;
	if (!i)
		return false;
	now.choice[i - 1]++;
	memset(&now.choice[i], 0, (ACCESSES - i) * sizeof(now.choice[0]));
	return true;
}

static void run_all(struct order_case *c, enum order_thread thread)
{
	ntraces[thread] = 0;
	memset(now.choice, 0, sizeof(now.choice));
	do {
		if (ntraces[thread] == TRACES)
			fatal("too many traces");
		run_once(c, thread, &traces[thread][ntraces[thread]++]);
	} while (next_choice());
}

static bool add_value(int place, uint64_t value)
{
	for (int i = 0; i < now.values[place]; i++)
		if (now.value[place][i] == value)
			return false;
	if (now.values[place] == VALUES)
		fatal("too many values");
	now.value[place][now.values[place]++] = value;
	return true;
}

/* Adds what is stored; true: there was something new. */
static bool add_values(enum order_thread thread)
{
	bool any = false;

	for (int i = 0; i < ntraces[thread]; i++)
		for (int k = 0; k < traces[thread][i].n; k++) {
			const struct access *a = &traces[thread][i].access[k];

			if (a->store)
				any |= add_value(a->place, a->value);
		}
	return any;
}

/* A load may return what was there first, or what some run of the other thread stores. */
static void find_traces(struct order_case *c)
{
	bool more;

	c->reset();
	for (int i = 0; i < c->places; i++) {
		now.values[i] = 0;
		add_value(i, peek(&c->place[i]));
	}
	do {
		run_all(c, WRITER);
		run_all(c, READER);
		more = add_values(WRITER);
		more |= add_values(READER);
	} while (more);
}

/* ---- which waits for which ---- */

static bool same(const struct access *a, const struct access *b)
{
	return a->store == b->store && a->place == b->place && a->value == b->value;
}

/* True when the store would not be there had the load returned something else. */
static bool depends(enum order_thread thread, const struct trace *t, int on, int what)
{
	for (int i = 0; i < ntraces[thread]; i++) {
		const struct trace *u = &traces[thread][i];
		bool found = false;
		int k = 0;

		while (k < on && k < u->n && same(&t->access[k], &u->access[k]))
			k++;
		if (k < on || k >= u->n || u->access[k].store ||
		    u->access[k].place != t->access[k].place ||
		    u->access[k].value == t->access[k].value)
			continue;
		for (; k < u->n && !found; k++)
			found = same(&u->access[k], &t->access[what]);
		if (!found)
			return true;
	}
	return false;
}

static bool must_wait(const struct order_case *c, enum order_thread thread, const struct trace *t,
		      int earlier, int later)
{
	const struct access *a = &t->access[earlier], *b = &t->access[later];
	bool before_weak = c->place[a->place].weak & 1U << thread;
	bool after_weak = c->place[b->place].weak & 1U << thread;
	enum order before = before_weak ? PLAIN : a->order;
	enum order after = after_weak ? PLAIN : b->order;

	if (a->place == b->place)
		return true;
	if (c->tso)
		return !a->store || b->store;
	if (before == FULL || after == FULL || before == ACQUIRE || after == RELEASE)
		return true;
	return !before_weak && !a->store && b->store && depends(thread, t, earlier, later);
}

static void find_waits(const struct order_case *c, enum order_thread thread)
{
	for (int i = 0; i < ntraces[thread]; i++) {
		struct trace *t = &traces[thread][i];

		for (int later = 0; later < t->n; later++) {
			t->waits[later] = 0;
			for (int earlier = 0; earlier < later; earlier++)
				if (must_wait(c, thread, t, earlier, later))
					t->waits[later] |= 1U << earlier;
		}
	}
}

/* ---- all orders ---- */

/* What each thread has done, of the orders that were tried. */
static struct {
	uint32_t done[2];
	unsigned pair;
} seen[STATES];
static unsigned pair;

/* False when the rest was tried from there. */
static bool is_new(const uint32_t done[2])
{
	uint32_t at = (done[WRITER] * 2654435761U) ^ (done[READER] * 2246822519U);

	for (at ^= at >> 15;; at++) {
		at %= STATES;
		if (seen[at].pair != pair)
			break;
		if (seen[at].done[WRITER] == done[WRITER] && seen[at].done[READER] == done[READER])
			return false;
	}
	seen[at].pair = pair;
	seen[at].done[WRITER] = done[WRITER];
	seen[at].done[READER] = done[READER];
	return true;
}

/* What is in a place after these accesses: one thread stores there, in its own order. */
static uint64_t value_in(const struct order_case *c, int place, const struct trace *const t[2],
			 const uint32_t done[2])
{
	const struct trace *owner = t[c->place[place].owner];
	uint64_t value = now.value[place][0];

	for (int i = 0; i < owner->n; i++)
		if (owner->access[i].store && owner->access[i].place == place &&
		    (done[c->place[place].owner] & 1U << i))
			value = owner->access[i].value;
	return value;
}

/* True when the rest can be performed so that each load meets its value. */
static bool can_end(const struct order_case *c, const struct trace *const t[2],
		    const uint32_t done[2])
{
	if (done[WRITER] == (1U << t[WRITER]->n) - 1 && done[READER] == (1U << t[READER]->n) - 1)
		return true;
	if (!is_new(done))
		return false;
	for (int thread = 0; thread < 2; thread++)
		for (int i = 0; i < t[thread]->n; i++) {
			const struct access *a = &t[thread]->access[i];
			uint32_t next[2] = {done[0], done[1]};

			if ((done[thread] & 1U << i) || (t[thread]->waits[i] & ~done[thread]) ||
			    (!a->store && value_in(c, a->place, t, done) != a->value))
				continue;
			next[thread] |= 1U << i;
			if (can_end(c, t, next))
				return true;
		}
	return false;
}

static bool exists(const struct order_case *c, const struct trace *writer,
		   const struct trace *reader)
{
	const struct trace *const t[2] = {writer, reader};

	pair++;
	return can_end(c, t, (const uint32_t[2]){0, 0});
}

static void try_byte(struct order_case *c, struct order_result *result)
{
	find_traces(c);
	find_waits(c, WRITER);
	find_waits(c, READER);
	result->traces += ntraces[READER];
	for (int i = 0; i < ntraces[READER]; i++)
		for (int k = 0; k < ntraces[WRITER]; k++) {
			result->pairs++;
			if (!exists(c, &traces[WRITER][k], &traces[READER][i]))
				continue;
			if (traces[READER][i].bad)
				result->bad++;
			else
				result->good++;
		}
}

static void try_area(struct order_case *c, const uint8_t *const area[2],
		     struct order_result *result)
{
	for (const uint8_t *at = area[0]; at < area[1]; at++) {
		c->place[c->places++] = (struct order_place){(void *)at, 1, WRITER, 0};
		try_byte(c, result);
		c->places--;
	}
}

void order_try(struct order_case *c, struct order_result *result)
{
	try_area(c, c->data, result);
	try_area(c, c->more, result);
}
