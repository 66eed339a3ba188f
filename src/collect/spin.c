/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sampler's spin loop, and what it does after a long turn. */
#include "collect/spin.h"

#include <sched.h>
#include <string.h>

#define ANCHOR_TRIES  64
#define WAY_TRIES     64
#define BUSY_TURNS    8          /* in a row that took longer than accepted: the CPU is slower */
#define LOOPS_AT_ONCE (1U << 30) /* loops until the 32-bit counters are stored */
#define CLASS(n)      (1U << (LOOP_CLASS_FIRST + (n)))

const cursors_t no_cursors;

uint64_t read_anchor(struct sampler_shm *l, bool counter, uint64_t *tick, uint64_t *ns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < ANCHOR_TRIES; i++) {
		uint64_t a = read_counter(counter), t = now_ns(), b = read_counter(counter);

		if (b - a < best) {
			best = b - a;
			*tick = a + (b - a) / 2;
			*ns = t;
		}
		if (best < l->anchor_min)
			l->anchor_min = best;
		if ((i || l->anchor_known) && best <= anchor_limit(l, 2)) {
			l->anchor_known = true;
			return best;
		}
	}
	/* Nothing comes between so many pairs: the CPU, or the clock, is slower than it was. A
	 * closer pair than this puts it right again. */
	l->anchor_min = best;
	return best;
}

void publish_window(struct spin *s, uint64_t before, uint64_t after, cursors_t cursors_before,
		    cursors_t cursors_after, uint8_t series)
{
	struct sampler_shm *l = s->shm;
	uint64_t head = atomic_load_explicit(&l->head, memory_order_relaxed);
	struct shm_hiccup *h = &l->ring[head % SHM_SLOTS];

	if (head - atomic_load_explicit(&l->tail, memory_order_acquire) >= SHM_SLOTS) {
		uint64_t tick, ns;

		l->lost++;
		l->lost_ticks += after - before;
		read_anchor(l, s->counter, &tick, &ns); /* noting it takes as long as any other */
		return;
	}
	h->before = before;
	h->after = after;
	h->cursors_before = cursors_before;
	h->cursors_after = cursors_after;
	h->lost = l->lost - l->lost_told;
	l->lost_told = l->lost;
	h->series = series;
	s->noted += cursors_after != cursors_before;
	h->anchor_width = read_anchor(l, s->counter, &h->anchor_tick, &h->anchor_ns);
	atomic_store_explicit(&l->head, head + 1, memory_order_release);
}

void publish_hiccup(struct spin *s, uint64_t before, uint64_t after, cursors_t cursors,
		    uint8_t series)
{
	publish_window(s, before, after, cursors, *s->cursors, series);
}

/* True while nobody has stopped the sampler and it is on its CPU. One that had no turn
 * where it was moved to before the stop was moved all the same. */
static bool may_go_on(struct spin *s, uint64_t limit, uint64_t now)
{
	s->shm->moved = (unsigned)sched_getcpu() != s->cpu;
	if (!limit || atomic_load_explicit(&s->shm->stop, memory_order_relaxed))
		return false;
	if (now >= s->deadline && (s->noted >= s->wanted || now >= s->longest))
		return false;
	return !s->shm->moved;
}

/* Right after a gap the caches are cold, and noting it takes longer than at best. While learning,
 * the longest time without an incoming record becomes the accepted one. */
static void note_busy(struct spin *s, uint64_t ticks, bool no_records)
{
	if (s->learning && no_records && ticks > s->shm->busy_max && ticks < s->busy_cap)
		s->shm->busy_max = ticks;
}

/* Counts a gap below the threshold as a loop like others, and as a short gap. */
static void note_short(struct sampler_shm *l, uint64_t length)
{
	l->short_count++;
	l->short_ticks += length;
	l->away_ticks -= length; /* the caller adds it */
	l->loop_count++;
	for (int i = 0; i < LOOP_CLASSES; i++)
		l->loop_above[i] += length > CLASS(i);
}

/* Notes the gap from s->before to `after`: true when it is a hiccup. At the stop it may be no gap
 * at all.
 */
static bool note_gap(struct spin *s, uint64_t after)
{
	struct sampler_shm *l = s->shm;
	uint64_t length = after - s->before;

	if (length > INT64_MAX) {
		l->backwards++;
		return false;
	}
	if (length >= l->threshold) {
		publish_hiccup(s, s->before, after, s->before_cursors, 0);
		return true;
	}
	if (length >= l->short_from)
		note_short(l, length);
	return false;
}

/* True when noting a gap took no longer than accepted, and no record came: nothing came in between.
 * Otherwise it is noted as a gap, and noting that takes as long again. On a CPU that has become
 * slower this would have no end; what comes in between now and then has one. So *turns in a row may
 * take too long. */
static bool undisturbed(struct spin *s, uint64_t ticks, bool hiccup, bool no_records,
			unsigned *turns)
{
	struct sampler_shm *l = s->shm;
	uint64_t *least = hiccup ? &l->busy_min : &l->short_busy_min;

	*turns = no_records && ticks < s->busy_cap ? *turns + 1 : 0;
	if (ticks < *least || *turns >= BUSY_TURNS)
		*least = ticks;
	if (hiccup)
		note_busy(s, ticks, no_records);
	return no_records &&
	       (ticks < l->short_from + 4 * *least || (hiccup && ticks < l->busy_max));
}

/* The records there were at the end of the gap at *after, the loop's last reading; *cursors was
 * read before that. What comes right behind it, before anybody looks at the records, is in the gap
 * where it takes long enough to be one: right after a gap the caches are cold, and less may be the
 * way to here. */
static cursors_t recorded_by(struct spin *s, uint64_t *after, cursors_t *cursors)
{
	cursors_t fresh = *s->cursors;

	if (fresh == *cursors || read_counter(s->counter) - *after < s->shm->threshold)
		return fresh;
	for (int i = 0; i < BUSY_TURNS; i++) { /* in a storm a record comes each time */
		*cursors = *s->cursors;
		*after = read_counter(s->counter);
		if (*s->cursors == *cursors)
			break;
	}
	return *cursors;
}

/* Reads the records and the clock behind noting a gap. A record that came after the one and before
 * the other would be on the wrong side of the reading; that of something behind it may seem to be.
 * What is recorded takes longer than a short gap: where there was no time for it, it came behind.
 */
static cursors_t read_behind(struct spin *s, uint64_t after, bool hiccup, uint64_t *now)
{
	struct sampler_shm *l = s->shm;
	uint64_t quick = l->short_from + (hiccup ? l->busy_min : l->short_busy_min);
	cursors_t fresh;

	for (int i = 0; i < BUSY_TURNS; i++) { /* in a storm a record comes each time */
		fresh = *s->cursors;
		*now = read_counter(s->counter);
		if (*s->cursors == fresh || (*now - after < quick && *now - after < s->busy_cap))
			break;
	}
	return fresh;
}

/* Ends the window at `after`, the loop's last reading. When the loop was interrupted right behind
 * that, and the stop came meanwhile, the gap belongs to the window, too: it is longer than any
 * bookkeeping. */
static void take_rest(struct spin *s, uint64_t after)
{
	uint64_t now = read_counter(s->counter);

	if (s->learning || s->shm->moved || !s->busy_cap || now - after < s->busy_cap)
		return;
	note_gap(s, now);
	s->before = now;
}

/* Called after a turn as long as the limit: a gap from s->before to `after`, or the stop, which
 * returns false. `cursors` was read before `after`. Leaves a fresh reading in s->before, so that
 * this work is not counted; what interrupts this work is a gap, too. */
static __attribute__((noinline)) bool away(struct spin *s, uint64_t after, cursors_t cursors)
{
	struct sampler_shm *l = s->shm;
	uint64_t limit = atomic_load_explicit(&l->limit, memory_order_relaxed), left_at = s->before,
		 now;
	cursors_t cursors_after = recorded_by(s, &after, &cursors), fresh;
	unsigned turns = 0;
	bool hiccup;

	for (;;) {
		hiccup = note_gap(s, after);
		s->before = after;
		s->before_cursors = cursors;
		if (!may_go_on(s, limit, after)) {
			take_rest(s, after);
			l->away_ticks += s->before - left_at;
			return false;
		}
		fresh = read_behind(s, after, hiccup, &now);
		if (undisturbed(s, now - after, hiccup, fresh == cursors_after, &turns))
			break;
		after = now;
		cursors = cursors_after = fresh;
	}
	l->busy_ticks += now - after;
	l->away_ticks += now - left_at;
	s->before = now;
	s->before_cursors = fresh;
	return true;
}

uint64_t spin_way_back(struct spin *s)
{
	struct sampler_shm *l = s->shm;
	uint64_t least = UINT64_MAX, short_busy_min = l->short_busy_min, ticks;

	l->threshold = l->short_from = UINT64_MAX / 8; /* nothing is noted */
	atomic_store(&l->limit, l->short_from);
	for (int i = 0; i < WAY_TRIES; i++) {
		s->before = read_counter(s->counter);
		if (!away(s, s->before, *s->cursors))
			break;
		ticks = read_counter(s->counter) - s->before;
		if (ticks < least)
			least = ticks;
	}
	l->short_busy_min = short_busy_min;
	return least < l->short_from ? least : 0;
}

typedef int32_t v4 __attribute__((vector_size(16)));

/* Lengths of all loops, without a memory access: eight counters in two vector registers, each for
 * the loops longer than CLASS(n) ticks. A histogram in memory costs half as much again as the loop
 * itself, because its address depends on the counter just read. */
struct lengths {
	v4 above[2];
	uint64_t min;
};

static inline __attribute__((always_inline)) void note_length(struct lengths *n, uint64_t length)
{
	const v4 low = {CLASS(0), CLASS(1), CLASS(2), CLASS(3)},
		 high = {CLASS(4), CLASS(5), CLASS(6), CLASS(7)};
	int32_t short_length = length; /* below the limit */
	v4 all = {short_length, short_length, short_length, short_length};

	n->above[0] -= all > low;
	n->above[1] -= all > high;
	n->min = length < n->min ? length : n->min;
}

/* Takes the counters by value: one whose address is taken would stay in memory. */
static __attribute__((noinline)) void keep_lengths(struct sampler_shm *l, struct lengths n,
						   uint64_t loops)
{
	for (int i = 0; i < LOOP_CLASSES; i++)
		l->loop_above[i] += (uint32_t)n.above[i / 4][i % 4];
	if (n.min < l->loop_min)
		l->loop_min = n.min;
	l->loop_count += loops;
}

/* Separates two values that lie side by side in memory: otherwise the compiler keeps both in one
 * vector register, and moves them in and out of it in each turn. */
#define APART(value) __asm__("" : "+r"(value))

/* The loop. `cursors` is read before `before`, so every record of a later gap has a higher
 * place. */
static inline __attribute__((always_inline)) void spin(struct spin *s, bool counter)
{
	struct sampler_shm *l = s->shm;
	const volatile cursors_t *cursors_at = s->cursors;
	cursors_t cursors = *cursors_at;
	uint64_t before = read_counter(counter);
	struct lengths lengths = {.min = UINT64_MAX};
	uint32_t left = LOOPS_AT_ONCE;

	/* All that came since the window opened lies in its first gap. */
	if (*cursors_at != l->start_cursors || (s->busy_cap && before - l->start >= s->busy_cap)) {
		cursors = l->start_cursors;
		before = l->start;
	}
	for (;; lengths = (struct lengths){.min = UINT64_MAX}, left = LOOPS_AT_ONCE) {
		while (left) {
			cursors_t cursors_now = *cursors_at;
			uint64_t now = read_counter(counter), length = now - before;

			if (__builtin_expect(
				    length >= atomic_load_explicit(&l->limit, memory_order_relaxed),
				    0)) {
				s->before = before;
				APART(cursors);
				s->before_cursors = cursors;
				if (!away(s, now, cursors_now))
					goto stopped;
				before = s->before;
				cursors = s->before_cursors;
				APART(cursors);
				continue;
			}
			note_length(&lengths, length);
			before = now;
			cursors = cursors_now;
			left--;
		}
		keep_lengths(l, lengths, LOOPS_AT_ONCE);
	}
stopped:
	keep_lengths(l, lengths, LOOPS_AT_ONCE - left);
	l->end = s->before;
}

static __attribute__((noinline)) void spin_counter(struct spin *s)
{
	spin(s, true);
}

static __attribute__((noinline)) void spin_clock(struct spin *s)
{
	spin(s, false);
}

void window_opens(struct spin *s)
{
	struct sampler_shm *l = s->shm;

	read_anchor(l, s->counter, &l->start_anchor, &l->start_ns);
	do { /* a record between the two readings would be the window's, and in no gap of it */
		l->start_cursors = *s->cursors;
		l->start = read_counter(s->counter);
	} while (*s->cursors != l->start_cursors);
	atomic_store_explicit(&l->started, 1, memory_order_release);
}

void window_closes(struct spin *s)
{
	struct sampler_shm *l = s->shm;

	l->end_cursors = *s->cursors;
	read_anchor(l, s->counter, &l->end_anchor, &l->end_ns);
}

void spin_window(struct spin *s)
{
	window_opens(s);
	if (s->counter)
		spin_counter(s);
	else
		spin_clock(s);
	window_closes(s);
}
