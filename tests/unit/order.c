/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ACCESSES 28
#define TRACES   16384
#define VALUES   16
#define STATES   (1U << 16) /* states of the two threads; a power of two, far more than there are */

enum order { PLAIN, ACQUIRE, RELEASE, FULL };

#define FENCE ORDER_PLACES /* in place of a place: an access to none */

struct access {
	bool load, store; /* an exchange is both, a fence none */
	uint8_t place;
	enum order order;
	uint64_t old, value; /* loaded, stored */
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
	int choice[ACCESSES], choices[ACCESSES], loads; /* choices of the loads of this run */
	int newest[ORDER_PLACES]; /* newest value of the last load, where there are two values */
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

static struct access *note(int place, enum order order)
{
	struct trace *t = now.trace;

	if (t->n == ACCESSES)
		fatal("a trace is too long");
	t->access[t->n] = (struct access){.place = place, .order = order};
	return &t->access[t->n++];
}

static bool overlaps(const struct order_place *p, const void *at, size_t size)
{
	const char *a = p->at, *b = at;

	return a < b + size && b < a + p->size;
}

static void note_store(int place, enum order order)
{
	const struct order_place *p = &now.c->place[place];
	struct access *a = note(place, order);

	if (p->owner != BOTH && p->owner != now.thread)
		fatal("the other thread stores in this place");
	a->store = true;
	a->value = peek(p);
}

static void note_stores(const void *at, size_t size, enum order order)
{
	for (int i = 0; i < now.c->places; i++)
		if (overlaps(&now.c->place[i], at, size))
			note_store(i, order);
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
	for (size_t i = 0; i < size && now.c->right; i++)
		if (in(now.c->data, at + i) || in(now.c->more, at + i))
			*(uint8_t *)(at + i) = *now.c->right(at + i);
}

/* Memory that the other thread stores to holds one of the values that may be there. */
static void choose(int place)
{
	const struct order_place *p = &now.c->place[place];
	int n = now.loads++;

	if (n == ACCESSES)
		fatal("a run has too many loads");
	/* the first of two values of one thread was there before: it does not come back */
	if (p->owner != BOTH && now.values[place] == 2 && now.choice[n] < now.newest[place])
		now.choice[n] = now.newest[place];
	now.newest[place] = now.choice[n];
	now.choices[n] = now.values[place];
	memcpy(p->at, &now.value[place][now.choice[n]], p->size);
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
		struct access *a;

		if (!overlaps(p, at, size) || p->owner == now.thread)
			continue;
		choose(i);
		a = note(i, order);
		a->load = true;
		a->old = peek(p);
	}
}

/* Loads of the place what there is to be exchanged; true: it matters. */
static bool load_old(const void *at, size_t size, uint64_t *old)
{
	settle();
	for (int i = 0; now.on && i < now.c->places; i++) {
		struct order_place *p = &now.c->place[i];

		if (!overlaps(p, at, size) || p->owner != BOTH || p->blind)
			continue;
		choose(i);
		*old = peek(p);
		return true;
	}
	return false;
}

static void note_exchange(const void *at, size_t size, enum order order, bool loads, uint64_t old)
{
	for (int i = 0; now.on && i < now.c->places; i++)
		if (overlaps(&now.c->place[i], at, size)) {
			note_store(i, order);
			now.trace->access[now.trace->n - 1].load = loads;
			now.trace->access[now.trace->n - 1].old = old;
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
		uint64_t old = 0;                                                                  \
		bool loads = load_old((const void *)at, sizeof(*at), &old);                        \
		uint##bits##_t before = *at;                                                       \
                                                                                                   \
		*at = value;                                                                       \
		note_exchange((const void *)at, sizeof(*at),                                       \
			      order == __ATOMIC_RELAXED ? PLAIN : FULL, loads, old);               \
		return before;                                                                     \
	}
ATOMIC_HOOKS(32)
ATOMIC_HOOKS(64)

/* Additions whose result nobody uses, or that nobody else looks at: the kernel's order nothing. */
#define ADD_HOOK(bits)                                                                             \
	uint##bits##_t __tsan_atomic##bits##_fetch_add(volatile uint##bits##_t *at,                \
						       uint##bits##_t value, int order);           \
	uint##bits##_t __tsan_atomic##bits##_fetch_add(volatile uint##bits##_t *at,                \
						       uint##bits##_t value, int order)            \
	{                                                                                          \
		uint##bits##_t before = *at;                                                       \
                                                                                                   \
		(void)order;                                                                       \
		settle();                                                                          \
		*at = before + value;                                                              \
		note_exchange((const void *)at, sizeof(*at), PLAIN, false, 0);                     \
		return before;                                                                     \
	}
ADD_HOOK(32)
ADD_HOOK(64)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
	settle();
	if (now.on)
		note(FENCE,
		     order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME ? ACQUIRE : FULL);
}

/* ---- all traces ---- */

static void run_once(struct order_case *c, enum order_thread thread, struct trace *t)
{
	*t = (struct trace){0};
	c->reset();
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
	uint64_t most = now.c->place[place].most;

	if (most && value > most)
		return false;
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

	now.c = c;
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
	return a->load == b->load && a->store == b->store && a->place == b->place &&
	       a->old == b->old && a->value == b->value;
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
		    u->access[k].old == t->access[k].old)
			continue;
		for (; k < u->n && !found; k++)
			found = same(&u->access[k], &t->access[what]);
		if (!found)
			return true;
	}
	return false;
}

/* True when what this access orders is taken away. */
static bool is_weak(const struct order_case *c, enum order_thread thread, const struct trace *t,
		    int i)
{
	const struct order_place *p = &c->place[t->access[i].place];
	unsigned nth = 0;

	if (t->access[i].place == FENCE)
		return c->weak_fences & 1U << thread;
	if (!(p->weak & 1U << thread) || !p->only)
		return p->weak & 1U << thread;
	for (int k = 0; k <= i; k++)
		nth += t->access[k].place == t->access[i].place && t->access[k].order != PLAIN;
	return t->access[i].order != PLAIN && nth == p->only;
}

static bool must_wait(const struct order_case *c, enum order_thread thread, const struct trace *t,
		      int earlier, int later)
{
	const struct access *a = &t->access[earlier], *b = &t->access[later];
	bool before_weak = is_weak(c, thread, t, earlier);
	enum order before = before_weak ? PLAIN : a->order;
	enum order after = is_weak(c, thread, t, later) ? PLAIN : b->order;

	if (a->place == b->place && a->place != FENCE)
		return true;
	if (c->tso)
		return a->load || b->store;
	if (after == ACQUIRE && b->place == FENCE && a->load)
		return true;
	if (before == FULL || after == FULL || before == ACQUIRE || after == RELEASE)
		return true;
	return !before_weak && !a->store && b->store && depends(thread, t, earlier, later);
}

static void find_waits(const struct order_case *c, enum order_thread thread, struct trace *t)
{
	for (int later = 0; later < t->n; later++) {
		t->waits[later] = 0;
		/* waits of one of these need not be asked again */
		for (int earlier = later - 1; earlier >= 0; earlier--)
			if (!(t->waits[later] & 1U << earlier) &&
			    must_wait(c, thread, t, earlier, later))
				t->waits[later] |= 1U << earlier | t->waits[earlier];
	}
}

/* ---- all orders ---- */

/* Progress of each thread, and bit per place: the reader was the last who stored there. */
struct performed {
	uint32_t done[2], by;
};

/* States of the orders that were tried. */
static struct {
	struct performed at;
	unsigned pair;
} seen[STATES];
static unsigned pair;

/* False when the rest was tried from there. */
static bool is_new(const struct performed *p)
{
	uint32_t at = (p->done[WRITER] * 2654435761U) ^ (p->done[READER] * 2246822519U) ^
		      (p->by * 3266489917U);

	for (at ^= at >> 15;; at++) {
		at %= STATES;
		if (seen[at].pair != pair)
			break;
		if (!memcmp(&seen[at].at, p, sizeof(*p)))
			return false;
	}
	seen[at].pair = pair;
	seen[at].at = *p;
	return true;
}

/* The value in a place after these accesses: a thread stores there in its own order. */
static uint64_t value_in(int place, const struct trace *const t[2], const struct performed *p)
{
	enum order_thread last = p->by & 1U << place ? READER : WRITER;
	const struct trace *owner = t[last];
	uint64_t value = now.value[place][0];

	for (int i = 0; i < owner->n; i++)
		if (owner->access[i].store && owner->access[i].place == place &&
		    (p->done[last] & 1U << i))
			value = owner->access[i].value;
	return value;
}

/* True when a thread may perform its ith access now; p: all that has been, with it. */
static bool perform(const struct trace *const t[2], int thread, int i, struct performed *p)
{
	const struct access *a = &t[thread]->access[i];
	uint32_t place = 1U << a->place;

	if ((p->done[thread] & 1U << i) || (t[thread]->waits[i] & ~p->done[thread]) ||
	    (a->load && value_in(a->place, t, p) != a->old))
		return false;
	p->done[thread] |= 1U << i;
	if (a->store)
		p->by = thread == READER ? p->by | place : p->by & ~place;
	return true;
}

/* True when the rest can be performed so that each load meets its value. */
static bool can_end(const struct trace *const t[2], const struct performed *p)
{
	if (p->done[WRITER] == (1U << t[WRITER]->n) - 1 &&
	    p->done[READER] == (1U << t[READER]->n) - 1)
		return true;
	if (!is_new(p))
		return false;
	for (int thread = 0; thread < 2; thread++)
		for (int i = 0; i < t[thread]->n; i++) {
			struct performed next = *p;

			if (perform(t, thread, i, &next) && can_end(t, &next))
				return true;
		}
	return false;
}

/* True when some access of the two threads has given the place this value, or it was there first:
 * else no order need be tried. */
static bool is_given(const struct trace *const t[2], int place, uint64_t value)
{
	if (value == now.value[place][0])
		return true;
	for (int thread = 0; thread < 2; thread++)
		for (int i = 0; i < t[thread]->n; i++) {
			const struct access *a = &t[thread]->access[i];

			if (a->store && a->place == place && a->value == value)
				return true;
		}
	return false;
}

static bool are_given(const struct trace *const t[2])
{
	for (int thread = 0; thread < 2; thread++)
		for (int i = 0; i < t[thread]->n; i++) {
			const struct access *a = &t[thread]->access[i];

			if (a->load && !is_given(t, a->place, a->old))
				return false;
		}
	return true;
}

static bool exists(const struct trace *writer, const struct trace *reader)
{
	const struct trace *const t[2] = {writer, reader};

	if (!are_given(t))
		return false;
	pair++;
	return can_end(t, &(struct performed){.by = 0});
}

/* True when the reader's trace exists with any of the writer's. */
static bool exists_with_any(struct order_case *c, struct trace *reader, struct order_result *result)
{
	find_waits(c, READER, reader);
	for (int k = 0; k < ntraces[WRITER]; k++) {
		result->pairs++;
		if (exists(&traces[WRITER][k], reader))
			return true;
	}
	return false;
}

static void try_byte(struct order_case *c, struct order_result *result)
{
	bool good = false;

	find_traces(c);
	for (int k = 0; k < ntraces[WRITER]; k++)
		find_waits(c, WRITER, &traces[WRITER][k]);
	result->traces += ntraces[READER];
	for (int i = 0; i < ntraces[READER] && !result->bad; i++) {
		struct trace *t = &traces[READER][i];

		if (t->bad)
			result->bad += exists_with_any(c, t, result);
		else if (!good)
			good = exists_with_any(c, t, result);
	}
	result->good += good;
}

static void try_area(struct order_case *c, const uint8_t *const area[2],
		     struct order_result *result)
{
	for (const uint8_t *at = area[0]; at < area[1] && !result->bad; at++) {
		c->place[c->places++] =
			(struct order_place){.at = (void *)at, .size = 1, .owner = c->data_owner};
		try_byte(c, result);
		c->places--;
	}
}

void order_try(struct order_case *c, struct order_result *result)
{
	try_area(c, c->data, result);
	try_area(c, c->more, result);
}
