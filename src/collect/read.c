/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a live run: moves what samplers and probes have written into the session, and takes hiccup
 * by hiccup out of it. */
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "collect/target.h"
#include "collect/counter.h"

#define BATCH     8192 /* records between two checks of what waits */
#define BUSY_FILL 5    /* percent of a ring filled between two looks */
#define BUSY_NS   (20 * NSEC_PER_MSEC)

void nap(uint64_t ns)
{
	struct timespec t = {ns / NSEC_PER_SEC, ns % NSEC_PER_SEC};

	nanosleep(&t, NULL);
}

/* Distance of a record behind a reading of the sequences. */
static int32_t past(cursors_t cursors, const struct record *r)
{
	return r->seq - cursor_of(cursors, r->level);
}

/* A window begins with a reading of the sequences: true for all records behind it. Each level
 * remembers once it is behind. */
static bool behind(struct begin *b, const struct record *r)
{
	if (!b->passed[r->level])
		b->passed[r->level] = past(b->cursors, r) > 0;
	return b->passed[r->level];
}

/* Begin of the oldest open interval: since then something else has had the CPU without a break. 0:
 * the sampler has it. */
static uint64_t away_since(const struct cpu_state *s)
{
	const __u64 *const open[] = {&s->away_ns, &s->softirq.start_ns, &s->irq[0].start_ns};
	uint64_t since = 0;

	for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++) {
		uint64_t ns = __atomic_load_n(open[i], __ATOMIC_ACQUIRE);

		since = ns && (!since || ns < since) ? ns : since;
	}
	return since;
}

void look_at_records(struct target *t)
{
	if (!t->rings)
		return;
	t->since = away_since(t->state);
	rings_look(t->rings);
	t->steady = t->since == away_since(t->state); /* false: something ended during the look */
	t->fill = rings_fill(t->rings);
}

bool read_records(struct target *t, const struct taker *taker, cursors_t end, bool bounded)
{
	const struct record *r = NULL;

	if (!t->rings)
		return false;
	for (int n = 0; n < BATCH && (r = rings_next(t->rings)); n++) {
		if (t->closure)
			closure_count(t->closure, t->index, r);
		if (taker && behind(&t->window, r) && !(bounded && past(end, r) > 0))
			taker->take(taker->ctx, taker->index, r);
		rings_pop(t->rings, r->level);
	}
	rings_release(t->rings);
	return r;
}

/* True when all records of the hiccup have been taken: as many as its sequences say, or as many as
 * exist. */
static bool is_complete(const struct target *t, const struct shm_hiccup *l)
{
	for (int i = 0; t->rings && i < LEVELS; i++) {
		const struct ring_level *ring = &t->rings->level[i];
		bool all = ring->tail == ring->head && !ring->ready;

		if (!all && (int32_t)(cursor_of(l->cursors_after, i) - ring->seq + ring->ready) > 0)
			return false;
	}
	return true;
}

/* Says of which series the next hiccups are, when that has changed. */
static void tell_series(struct collect *c, struct target *t, uint8_t series)
{
	struct spot spot = {.cpu = t->cpu, .series = series};

	if (series == t->series)
		return;
	t->series = series;
	session_feed(c->session,
		     &(struct event){.type = EVENT_WHERE, .index = t->index, .spot = &spot});
}

/* Accounts for the hiccups that have been read, as far as their records have come. */
static void drain(struct collect *c, uint32_t i)
{
	struct target *t = &c->target[i];

	while (t->tail != t->head && is_complete(t, &t->shm->ring[t->tail % SHM_SLOTS])) {
		const struct shm_hiccup *l = &t->shm->ring[t->tail % SHM_SLOTS];
		const struct account *a;
		struct hiccup h;

		tell_series(c, t, l->series);
		convert(t, l, &h);
		atomic_store_explicit(&t->shm->tail, ++t->tail, memory_order_release);
		a = session_feed(c->session,
				 &(struct event){.type = EVENT_HICCUP, .index = i, .hiccup = &h});
		if (a && c->hooks.hear)
			c->hooks.hear(c->hooks.ctx, i, a);
	}
}

static void feed_record(void *ctx, uint32_t i, const struct record *r)
{
	session_feed(ctx, &(struct event){.type = EVENT_RECORD, .index = i, .record = r});
}

/* Bounds what waits in the join: complete hiccups take their records with them, and the rest
 * belongs to one that has not ended, or to none. since: as from away_since; where a thread left its
 * CPU unseen, it may be of before the sampler's last hiccup ended, and says nothing of now. */
static void make_room(struct collect *c, uint32_t i, uint64_t since, bool steady)
{
	if (session_waiting(c->session, i) <= JOIN_WAIT_MAX / 2 || !c->began)
		return;
	drain(c, i);
	if (steady && session_waiting(c->session, i) > JOIN_WAIT_MAX)
		session_feed(c->session,
			     &(struct event){.type = EVENT_RELIEVE,
					     .index = i,
					     .ns = since > c->target[i].last_ns ? since : 0});
}

/* A change is not in the view: all are only up to the newest that is. */
static void miss_khz(struct collect *c, struct target *t)
{
	const struct khz_changes *k = &c->view->cpu[t->index].khz;

	if (t->khz_until_ns == KHZ_ALWAYS)
		t->khz_until_ns = k->n ? k->row[k->n - 1].at_ns : 0;
}

/* Takes the changes of the CPU's frequency that came since the last visit. A place that may have
 * been written meanwhile is lost. Two that report at once write one place and count two: the other
 * place still holds an older change, of this window or none. */
static void read_khz(struct collect *c, struct target *t)
{
	uint64_t now = t->state ? khz_count(t->state) : 0;

	if (!c->began)
		return;
	if (now - t->khz_read >= KHZ_REPORTS) {
		miss_khz(c, t);
		t->khz_read = now - KHZ_REPORTS + 1;
	}
	for (; t->khz_read < now; t->khz_read++) {
		struct khz_report r;

		if (!khz_take(t->state, t->khz_read, &r) || r.at_ns <= t->shm->start_ns ||
		    !khz_add(&c->view->cpu[t->index].khz, r.at_ns, r.khz))
			miss_khz(c, t);
	}
}

/* Reads hiccups first, then records: when a hiccup is visible, so are all its records. */
void read_target(struct collect *c, uint32_t i)
{
	struct target *t = &c->target[i];
	struct taker taker = {feed_record, c->session, i};
	struct sampler_shm *l = t->shm;
	bool done, more;

	done = atomic_load_explicit(&l->phase, memory_order_acquire) == SAMPLER_DONE;
	t->head = atomic_load_explicit(&l->head, memory_order_acquire);
	look_at_records(t);
	do {
		more = read_records(t, &taker, l->end_cursors, done);
		make_room(c, i, t->since, t->steady);
	} while (more);
	if (c->began)
		drain(c, i);
	read_khz(c, t);
}

void read_all(struct collect *c)
{
	for (uint32_t i = 0; i < c->ntargets; i++)
		if (c->target[i].live)
			read_target(c, i);
}

void read_busy(struct collect *c)
{
	uint64_t end = now_ns() + BUSY_NS;
	bool busy = true;

	while (busy && now_ns() < end) {
		busy = false;
		for (uint32_t i = 0; i < c->ntargets; i++)
			if (c->target[i].live && c->target[i].fill >= BUSY_FILL) {
				read_target(c, i);
				busy = true;
			}
	}
}
