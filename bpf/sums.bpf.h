/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums in place of records (culprit watch --sums): the net time of each interval, divided among its
 * functions as the analysis divides records (model/nest.h), is added to its source's row. Needs
 * nothing of the kernel, so that a test can compare both ways (tests/unit/test_sums.c).
 *
 * No interval is kept: what ran inside one is the difference of a sum at its two ends. Each level
 * adds to a sum of its own, because a level never interrupts itself; so nothing here is atomic. */
#ifndef CULPRIT_SUMS_BPF_H
#define CULPRIT_SUMS_BPF_H

#include "ring.bpf.h"
#include "sum.h"

#define SUM_TRIES 8 /* places of a row */

/* The row of this CPU's table, by who includes this; NULL, which no caller meets, is for the
 * verifier. */
static __always_inline struct sum *sum_at(struct cpu_state *c, __u32 row);

static __always_inline int sum_level(int place)
{
	return place == SUM_THREAD    ? LEVEL_THREAD
	       : place == SUM_SOFTIRQ ? LEVEL_SOFTIRQ
				      : LEVEL_IRQ;
}

/* Net time of all intervals that may end inside one of this level. */
static __always_inline __u64 sum_inside(const struct cpu_state *c, int level)
{
	const volatile __u64 *net = c->own.sums.net_ns;
	__u64 inside = net[LEVEL_NMI] + net[LEVEL_IRQ];

	return level == LEVEL_THREAD ? inside + net[LEVEL_SOFTIRQ] : inside;
}

static __always_inline void sum_from(struct cpu_state *c, int place, __u64 inside)
{
	struct sum_open *o = &c->own.sums.open[place];

	o->inside = inside;
	o->since_ns = o->gap_ns = o->marked = o->counted = 0;
}

/* An interval begins whose level has just read its clock. */
static __always_inline void sum_begin(struct cpu_state *c, int place)
{
	sum_from(c, place, c->own.sums.inside[sum_level(place)]);
}

/* A thread comes while nobody is watched here: nothing is added until one is. */
static __always_inline void sum_idle(struct cpu_state *c)
{
	sum_from(c, SUM_THREAD, sum_inside(c, LEVEL_THREAD));
}

/* Nobody is watched here any more, as another CPU may find. */
static __always_inline void sum_left(struct cpu_state *c, __u64 now)
{
	c->own.sums.left_ns = now;
}

/* Somebody is again, and the thread that runs here was in nobody's way meanwhile. Nothing was added
 * since sum_left(), so what ran inside the thread stays right. */
static __always_inline void sum_gap(struct cpu_state *c, __u64 now)
{
	__u64 left = c->own.sums.left_ns;

	if (left < c->thread.start_ns)
		left = c->thread.start_ns;
	if (now > left)
		c->own.sums.open[SUM_THREAD].gap_ns += now - left;
}

/* True when the open thread was in the way until sum_left(), and not since then. */
static __always_inline bool sum_was_in_the_way(const struct cpu_state *c)
{
	return c->thread.start_ns && c->own.sums.left_ns > c->thread.start_ns;
}

static __always_inline __u32 sum_rows(int level)
{
	return level == LEVEL_THREAD    ? SUM_THREADS
	       : level == LEVEL_SOFTIRQ ? SUM_SOFTIRQS
	       : level == LEVEL_IRQ     ? SUM_IRQS
					: SUM_NMIS;
}

static __always_inline __u32 sum_base(int level)
{
	return level == LEVEL_THREAD    ? 0
	       : level == LEVEL_SOFTIRQ ? SUM_THREADS
	       : level == LEVEL_IRQ     ? SUM_THREADS + SUM_SOFTIRQS
					: SUM_THREADS + SUM_SOFTIRQS + SUM_IRQS;
}

static __always_inline __u32 sum_what(const struct record *r)
{
	return r->kind | (r->kind == RECORD_THREAD && r->flags & RECORD_KTHREAD ? SUM_KTHREAD : 0);
}

/* Threads of one name are one source. */
static __always_inline bool sum_is_of(const struct sum *s, const struct record *r, __u64 function)
{
	const __u64 *a = (const __u64 *)s->name, *b = (const __u64 *)r->name;

	if (s->function != function || (s->what & (SUM_KIND | SUM_KTHREAD)) != sum_what(r))
		return false;
	return r->kind == RECORD_THREAD ? a[0] == b[0] && a[1] == b[1] : s->id == r->id;
}

static __always_inline void sum_name(struct sum *s, const struct record *r, __u64 function)
{
	__builtin_memcpy(s->name, r->name, sizeof(s->name));
	s->function = function;
	s->arg = r->arg;
	s->owner = r->owner;
	s->id = r->id;
	s->min_ns = ~0ULL;
	store_release(&s->what, sum_what(r));
}

/* The row of a source, made when it is first seen; when there is no place left the rest of its
 * kind. */
static __always_inline struct sum *sum_row(struct cpu_state *c, int level, const struct record *r,
					   __u64 function)
{
	__u32 word = r->kind == RECORD_THREAD
			     ? *(const __u32 *)r->name + *(const __u32 *)(r->name + 8)
			     : r->id;
	__u32 hash = ((__u32)function + 31 * word) * 0x9e3779b1 >> 16;
	struct sum *s;

	for (__u32 i = 0; i < SUM_TRIES; i++) {
		s = sum_at(c, sum_base(level) + (hash + i) % sum_rows(level));
		if (!s)
			return NULL;
		if (!s->what)
			sum_name(s, r, function);
		else if (!sum_is_of(s, r, function))
			continue;
		if (level == LEVEL_THREAD && s->id != r->id)
			s->what |= SUM_SEVERAL;
		if (level == LEVEL_THREAD && OWNER_CGROUP(s->owner) != OWNER_CGROUP(r->owner))
			s->what |= SUM_OWNERS;
		return s;
	}
	s = sum_at(c, SUM_ROWS - SUM_RESTS + (r->kind == RECORD_VECTOR ? SUM_VECTORS : level));
	if (s && !s->count && !s->net_ns)
		s->min_ns = ~0ULL;
	return s;
}

/* The place of a byte's highest bit: a table, because halving by shifts takes thrice as long. */
#define HIGHEST_BITS                                                                               \
	{                                                                                          \
		[2 ... 3] = 1, [4 ... 7] = 2, [8 ... 15] = 3, [16 ... 31] = 4, [32 ... 63] = 5,    \
		       [64 ... 127] = 6, [128 ... 255] = 7,                                        \
	}
extern const volatile __u8 highest_bit[256];

/* Index of the bucket of a net time. */
static __always_inline __u32 sum_bucket(__u64 ns)
{
	__u32 v = ns, octave = 0;

	if (ns >> SUM_LAST)
		return SUM_BUCKETS - 1;
	if (v < 1 << SUM_FIRST)
		return 0;
	if (v >> 16)
		octave = 16;
	if (v >> octave >> 8)
		octave += 8;
	octave += highest_bit[v >> octave & 0xff];
	return ((octave - SUM_FIRST) << SUM_BITS) + (v >> (octave - SUM_BITS) & 1) + 1;
}

enum sum_how {
	SUM_WHOLE, /* the first function of an interval, which counts there */
	SUM_NEXT,  /* a later function of the interval */
	SUM_PART,  /* a part of a run, which is counted at its end */
};

static __always_inline void sum_add(struct cpu_state *c, int level, const struct record *r,
				    __u64 function, __u64 net, enum sum_how how)
{
	struct sum *s = sum_row(c, level, r, function);
	__u64 bucket = sum_bucket(net);
	bool extreme;

	c->own.sums.net_ns[level] += net;
	if (!s)
		return;
	s->net_ns += net;
	if (how == SUM_PART)
		return;
	s->count += how == SUM_WHOLE;
	extreme = net > s->max_ns || net < s->min_ns;
	if (net > s->max_ns)
		s->max_ns = net;
	if (net < s->min_ns)
		s->min_ns = net;
	if (extreme) /* seldom, once there are many */
		order_stores(c);
	barrier_var(bucket);
	if (bucket < SUM_BUCKETS)
		s->bucket[bucket]++;
}

/* Reads an address as a number: the verifier forbids to reckon with one that it knows. */
static __always_inline __u64 plain(const volatile __u64 *address)
{
	return *address;
}

/* Ends what the open interval runs, at end_ns, with inside as it was then. */
static __always_inline void sum_run(struct cpu_state *c, int place, const struct record *r,
				    __u64 inside, __u64 end_ns, bool part)
{
	struct sum_open *o = &c->own.sums.open[place];
	__u64 from = o->since_ns ?: r->start_ns;
	__u64 net = end_ns - from - (inside - o->inside) - o->gap_ns;

	if ((__s64)net < 0) { /* another CPU ended or began the wait just now */
		net = 0;
		c->own.sums.misfits++;
	}
	/* Before a mark a device's interrupt runs its handler. */
	if (!o->marked)
		o->function = r->kind == RECORD_IRQ ? r->arg : 0;
	sum_add(c, sum_level(place), r, plain(&o->function), net,
		part         ? SUM_PART
		: o->counted ? SUM_NEXT
			     : SUM_WHOLE);
	o->counted |= !part;
}

/* The open interval runs another function from now on: time before the first belongs to that. r:
 * the interval so far; its level has just read its clock. */
static __always_inline void sum_mark(struct cpu_state *c, int place, const struct record *r,
				     __u64 function, __u64 now)
{
	struct sum_open *o = &c->own.sums.open[place];

	if (o->marked) {
		int level = sum_level(place);
		__u64 inside = c->own.sums.inside[level], before = c->own.sums.net_ns[level];

		sum_run(c, place, r, inside, now, false);
		o->inside = inside;
		if (level == LEVEL_IRQ) /* a level whose own sum is a part of what is inside */
			o->inside += c->own.sums.net_ns[level] - before;
		o->since_ns = now;
		o->gap_ns = 0;
	}
	o->function = function;
	o->marked = 1;
}

/* An interval ends whose level has just read its clock. */
static __always_inline void sum_end(struct cpu_state *c, int place, const struct record *r,
				    bool part)
{
	sum_run(c, place, r, c->own.sums.inside[sum_level(place)], r->end_ns, part);
}

/* An NMI was there: nothing runs inside one. */
static __always_inline void sum_nmi(struct cpu_state *c, const struct record *r)
{
	c->own.sums.nmi = r->arg;
	sum_add(c, LEVEL_NMI, r, plain(&c->own.sums.nmi), r->end_ns - r->start_ns, SUM_WHOLE);
}

#endif
