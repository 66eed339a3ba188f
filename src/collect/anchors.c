/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sampler's gaps, in ticks, become hiccups of CLOCK_MONOTONIC, by readings of both clocks. */
#include "base/now.h"
#include "base/units.h"
#include "collect/target.h"

#define NEW_COUNTER_NS ((int64_t)NSEC_PER_MSEC) /* more than two clocks drift apart */
#define RATE_ERROR     1e-7
#define SLEW           8 /* less than one ns in so many: the limit is a tenth */
#define RECENT_NS      (100 * (int64_t)NSEC_PER_MSEC)
#define WIDTH_UNKNOWN  (UINT64_C(1) << 40) /* ticks: wider than any two readings */

void split_cursors(cursors_t cursors, uint32_t *level)
{
	for (int i = 0; i < LEVELS; i++)
		level[i] = cursor_of(cursors, i);
}

static uint64_t at_rate(double ns_per_tick, uint64_t anchor_tick, uint64_t anchor_ns, uint64_t tick)
{
	return anchor_ns - (int64_t)((int64_t)(anchor_tick - tick) * ns_per_tick + 0.5);
}

uint64_t to_ns(const struct target *t, uint64_t anchor_tick, uint64_t anchor_ns, uint64_t tick)
{
	return at_rate(t->ns_per_tick, anchor_tick, anchor_ns, tick);
}

bool anchors_hold(const struct target *t, uint64_t tick, uint64_t ns, uint64_t width)
{
	int64_t off = to_ns(t, t->anchor_tick, t->anchor_ns, tick) - ns;
	int64_t drift = NEW_COUNTER_NS + (int64_t)(ns - t->anchor_ns) / DRIFT +
			(int64_t)(width * t->ns_per_tick);

	return !t->anchor_ns || (off <= drift && off >= -drift);
}

/* Correction of CLOCK_MONOTONIC so far, by adjtimex(2). That is up to a tenth of the time, as where
 * chrony takes back a big offset, and an old anchor is as wrong by it as by a suspended
 * machine. CLOCK_MONOTONIC_RAW is not corrected, and stands still with the other one. */
static int64_t slewed(void)
{
	return now_ns() - clock_ns(CLOCK_MONOTONIC_RAW);
}

static void set_anchor(struct target *t, uint64_t tick, uint64_t ns, uint64_t width)
{
	t->anchor_width = width;
	t->anchor_tick = tick;
	t->anchor_ns = ns;
	t->slewed_ns = slewed();
}

void new_anchor(struct target *t, uint64_t tick, uint64_t ns)
{
	set_anchor(t, tick, ns, WIDTH_UNKNOWN);
	t->base_ns = 0;
	t->base_good = false;
}

/* Takes a hiccup's anchor as this CPU's, if its two clocks were read as close together as they can
 * be. Otherwise something came between the readings, or the CPU was slower then, and the last good
 * anchor with the rate is more exact, unless it is old; until there is a good one each is nearer
 * than the one before. The longer two anchors lie apart the better the rate: to 1e-8 within
 * seconds, but the kernel corrects its clock. */
static void take_anchor(struct target *t, const struct shm_hiccup *l)
{
	bool good = l->anchor_width <= anchor_limit(t->shm, 4);
	int64_t age = l->anchor_tick - t->anchor_tick;

	if (!good && t->base_good && (double)l->anchor_width > age * RATE_ERROR)
		return;
	set_anchor(t, l->anchor_tick, l->anchor_ns, l->anchor_width);
	if (!t->base_ns || (good && !t->base_good)) {
		t->base_good = good;
		t->base_tick = l->anchor_tick;
		t->base_ns = l->anchor_ns;
	}
	if (good && l->anchor_ns > t->base_ns + 100 * NSEC_PER_MSEC)
		t->ns_per_tick =
			(double)(l->anchor_ns - t->base_ns) / (l->anchor_tick - t->base_tick);
}

/* Rate of both clocks between the newest anchor and this hiccup's, where they prove that the known
 * one does not hold: the clock is being slewed by more than that is ever wrong by, or was and is no
 * more. Records have the times of that clock. 0: the known one may hold, and is more exact; or what
 * happened is no slewing, which adjtimex(2) limits; or the anchor is so old, and the gap so short
 * beside that, that the slewing may have ended, or begun, before it. */
static double slewed_rate(const struct target *t, const struct shm_hiccup *l)
{
	double ticks = (int64_t)(l->anchor_tick - t->anchor_tick),
	       ns = (int64_t)(l->anchor_ns - t->anchor_ns), off = ns - ticks * t->ns_per_tick,
	       error = (l->anchor_width + t->anchor_width + 2) * t->ns_per_tick + ns / DRIFT;

	if (!t->anchor_ns || ticks <= 0 || ns <= 0 || (off <= error && off >= -error) ||
	    off > ns / SLEW || off < -ns / SLEW)
		return 0;
	if (ns > RECENT_NS && l->after - l->before < ticks / 2)
		return 0;
	return ns / ticks;
}

/* When a hiccup began in which the machine was suspended: the counter may have gone on, or have
 * begun anew, while CLOCK_MONOTONIC stood. 0: the hiccup began after that, and it is the one before
 * that is missing. */
static uint64_t began_before(const struct target *t, const struct shm_hiccup *l)
{
	uint64_t ns = to_ns(t, t->anchor_tick, t->anchor_ns, l->before);

	return ns >= t->last_ns && ns < l->anchor_ns ? ns : 0;
}

/* Two anchors may differ by some nanoseconds, so that a hiccup right behind another one would begin
 * inside it: it is as long as it was, and begins where that ends. */
static void put_behind(struct target *t, struct hiccup *h)
{
	uint64_t inside = t->last_ns > h->start_ns ? t->last_ns - h->start_ns : 0;

	if ((double)inside <= (double)anchor_limit(t->shm, 4) * t->ns_per_tick)
		h->end_ns += inside;
	h->start_ns += inside;
	if (h->end_ns <= t->last_ns)
		h->end_ns = t->last_ns + 1;
	t->last_ns = h->end_ns;
}

void convert(struct target *t, const struct shm_hiccup *l, struct hiccup *h)
{
	double rate = slewed_rate(t, l);
	uint64_t began = 0;

	if (!anchors_hold(t, l->anchor_tick, l->anchor_ns, l->anchor_width)) {
		uint64_t unslewed_ns = l->anchor_ns - (slewed() - t->slewed_ns);

		if (!anchors_hold(t, l->anchor_tick, unslewed_ns, l->anchor_width)) {
			began = began_before(t, l);
			rate = 0;
		}
		new_anchor(t, l->anchor_tick, l->anchor_ns);
	}
	take_anchor(t, l);
	if (rate) {
		h->end_ns = at_rate(rate, l->anchor_tick, l->anchor_ns, l->after);
		h->start_ns = at_rate(rate, l->anchor_tick, l->anchor_ns, l->before);
	} else {
		h->end_ns = to_ns(t, t->anchor_tick, t->anchor_ns, l->after);
		h->start_ns = to_ns(t, t->anchor_tick, t->anchor_ns, l->before);
	}
	if (began && began < h->end_ns)
		h->start_ns = began;
	h->lost = l->lost;
	put_behind(t, h);
	split_cursors(l->cursors_before, h->before);
	split_cursors(l->cursors_after, h->after);
}
