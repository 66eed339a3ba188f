/* Reading a live run: what samplers and probes have written, into the session, and out of it hiccup by hiccup. */
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "collect/target.h"
#include "collect/tick.h"

void nap(uint64_t ns)
{
	struct timespec t = {ns / NSEC_PER_SEC, ns % NSEC_PER_SEC};

	nanosleep(&t, NULL);
}

/* How far behind a reading of the sequences a record lies. Modulo 2^16: to be asked only of records that are near it. */
static int16_t past(uint64_t cursors, const struct record *r)
{
	return r->seq - (uint16_t)(cursors >> 16 * r->level);
}

/* The window of something begins with a reading of the sequences: true for all records behind it. Each level remembers that it is. */
static bool behind(struct begin *b, const struct record *r)
{
	if (!b->passed[r->level])
		b->passed[r->level] = past(b->cursors, r) > 0;
	return b->passed[r->level];
}

/* The level whose next record ended first; of two at once the inner. -1: none is left. */
static int next_level(const struct cpu_state *s, const uint64_t *head, const uint64_t *tail)
{
	uint64_t best = UINT64_MAX;
	int level = -1;

	for (int i = LEVELS - 1; i >= 0; i--) {
		const struct record *r = &s->ring[i][tail[i] % RING_SLOTS];

		if (tail[i] != head[i] && r->end_ns < best) {
			best = r->end_ns;
			level = i;
		}
	}
	return level;
}

uint64_t read_records(struct target *t, const struct taker *taker, uint64_t end, bool bounded)
{
	struct cpu_state *s = t->state;
	uint64_t head[LEVELS], tail[LEVELS], off_cpu;
	int level;

	if (!s)
		return 0;
	off_cpu = __atomic_load_n(&s->thread.start_ns, __ATOMIC_ACQUIRE);
	for (int i = 0; i < LEVELS; i++) {
		head[i] = __atomic_load_n(&s->head[i], __ATOMIC_ACQUIRE);
		tail[i] = s->tail[i];
	}
	while ((level = next_level(s, head, tail)) >= 0) {
		const struct record *r = &s->ring[level][tail[level]++ % RING_SLOTS];

		if (t->closing && behind(&t->closure_begin, r) && !(t->closed && past(t->closure_end, r) > 0))
			closure_count(t->closure, r);
		if (taker && behind(&t->window, r) && !(bounded && past(end, r) > 0))
			taker->take(taker->ctx, taker->index, r);
	}
	for (int i = 0; i < LEVELS; i++)
		__atomic_store_n(&s->tail[i], tail[i], __ATOMIC_RELEASE);
	return off_cpu;
}

void split_cursors(uint64_t cursors, uint16_t *level)
{
	for (int i = 0; i < LEVELS; i++)
		level[i] = cursors >> 16 * i;
}

/* Takes the anchor of a hiccup as this CPU's, if its two clocks were read as close together as they can be; else something came between
 * them, and the last good one, with the rate, is nearer the truth. The longer two anchors lie apart the better the rate: to 1e-8 within
 * seconds. */
static void take_anchor(struct target *t, const struct lane_hiccup *l)
{
	bool good = l->anchor_width <= 4 * t->lane->anchor_min;

	if (!good && t->anchor_ns)
		return;
	t->anchor_tick = l->anchor_tick;
	t->anchor_ns = l->anchor_ns;
	if (!t->base_ns || (good && !t->base_good)) {
		t->base_good = good;
		t->base_tick = l->anchor_tick;
		t->base_ns = l->anchor_ns;
	}
	if (l->anchor_ns > t->base_ns + 100 * NSEC_PER_MSEC)
		t->ns_per_tick = (double)(l->anchor_ns - t->base_ns) / (l->anchor_tick - t->base_tick);
}

uint64_t to_ns(const struct target *t, uint64_t anchor_tick, uint64_t anchor_ns, uint64_t tick)
{
	return anchor_ns - (int64_t)((int64_t)(anchor_tick - tick) * t->ns_per_tick + 0.5);
}

void convert(struct target *t, const struct lane_hiccup *l, struct hiccup *h)
{
	take_anchor(t, l);
	h->start_ns = to_ns(t, t->anchor_tick, t->anchor_ns, l->before);
	h->end_ns = to_ns(t, t->anchor_tick, t->anchor_ns, l->after);
	if (h->end_ns <= t->last_ns) /* two anchors may differ by some nanoseconds */
		h->end_ns = t->last_ns + 1;
	if (h->start_ns < t->last_ns)
		h->start_ns = t->last_ns;
	t->last_ns = h->end_ns;
	split_cursors(l->cursors_before, h->before);
	split_cursors(l->cursors_after, h->after);
}

/* The next hiccup that has been read and not yet accounted for; NULL: there is none. */
static const struct account *next_hiccup(struct collect *c, uint32_t i)
{
	struct target *t = &c->target[i];
	struct hiccup h;

	if (t->tail == t->head)
		return NULL;
	convert(t, &t->lane->ring[t->tail % LANE_SLOTS], &h);
	atomic_store_explicit(&t->lane->tail, ++t->tail, memory_order_release);
	return session_feed(c->session, &(struct event){.type = EVENT_HICCUP, .index = i, .hiccup = &h});
}

const struct account *collect_next(struct collect *c, uint32_t *index)
{
	for (*index = 0; *index < c->ntargets; ++*index) {
		const struct account *a = next_hiccup(c, *index);

		if (a)
			return a;
	}
	return NULL;
}

const struct interval *collect_interval(struct collect *c, uint32_t *index)
{
	for (*index = 0; *index < c->ntargets; ++*index) {
		struct intervals *q = session_intervals(c->session, *index);
		const struct interval *i = q ? intervals_next(q) : NULL;

		if (i)
			return i;
	}
	return NULL;
}

uint64_t collect_intervals_lost(const struct collect *c, uint32_t index)
{
	const struct intervals *q = session_intervals(c->session, index);

	return q ? q->lost : 0;
}

void drain(struct collect *c, uint32_t i)
{
	while (next_hiccup(c, i))
		;
}

static void feed_record(void *ctx, uint32_t i, const struct record *r)
{
	session_feed(ctx, &(struct event){.type = EVENT_RECORD, .index = i, .record = r});
}

/* Hiccups first, then records: all records of a hiccup that is visible are visible, too. Hiccups wait to be taken one by one, unless too
 * many records wait with them. */
void read_target(struct collect *c, uint32_t i)
{
	struct target *t = &c->target[i];
	struct taker taker = {feed_record, c->session, i};
	struct lane *l = t->lane;
	uint64_t off_cpu;
	bool done;

	if (session_waiting(c->session, i) > JOIN_WAIT_MAX / 2)
		drain(c, i);
	done = atomic_load_explicit(&l->phase, memory_order_acquire) == LANE_DONE;
	t->head = atomic_load_explicit(&l->head, memory_order_acquire);
	off_cpu = read_records(t, &taker, l->end_cursors, done);
	if (session_waiting(c->session, i) > JOIN_WAIT_MAX)
		session_feed(c->session, &(struct event){.type = EVENT_RELIEVE, .index = i, .ns = off_cpu});
}

void read_all(struct collect *c)
{
	for (uint32_t i = 0; i < c->ntargets; i++)
		if (c->target[i].live)
			read_target(c, i);
}

uint64_t ring_losses(const struct cpu_state *s)
{
	uint64_t lost = 0;

	for (int i = 0; i < LEVELS; i++)
		lost += __atomic_load_n(&s->lost[i], __ATOMIC_RELAXED);
	return lost;
}
