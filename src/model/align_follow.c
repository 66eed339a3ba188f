/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A line is followed from one gap to the next: the newest that coincide correct it. */
#include <stdlib.h>

#include "model/align_state.h"

#define NEWEST  64   /* matched gaps that say where the line goes on */
#define ENOUGH  16   /* number of them that tells its drift, too */
#define LONG_NS 1e9  /* time from which they must be for that */
#define LOST    64   /* number of gaps without a partner in a row: the line has ended */
#define UNSURE  2e-6 /* the drift changes by as much while no gap coincides */
#define FAR_NS  300000

/* work, as align() has it */
#define STEPS_PARTNER 4
#define STEPS_CORRECT 30

/* As an offset, modulo 2^64; hostile times give numbers that no clock has. */
static uint64_t whole(double ns)
{
	return ns > -9e18 && ns < 9e18 ? (uint64_t)(int64_t)ns : 0;
}

uint64_t align_at(const struct align_line *l, uint64_t guest_ns)
{
	double since = (double)(int64_t)(guest_ns - l->at_ns);

	return guest_ns + l->offset_ns + whole(l->drift * since);
}

bool align_fits(uint64_t guest_ns, uint64_t host_ns)
{
	uint64_t shorter = 20000 + host_ns / 50, longer = 60000 + host_ns / 20;

	return guest_ns + shorter >= host_ns && guest_ns <= host_ns + longer;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

uint32_t align_partner(const struct align_all *all, const struct align_event *e, uint64_t host_ns,
		       uint64_t far)
{
	const struct align_gaps *h = all->lane[e->lane].host;
	uint64_t from = host_ns > far ? host_ns - far : 0;
	uint32_t best = ALIGN_NOBODY, first, i;

	if (!align_spend(all->work, STEPS_PARTNER))
		return ALIGN_NOBODY;
	first = align_gaps_before(h, from);
	for (i = first; i < h->n && distance(h->gap[i].start_ns, host_ns) <= far; i++)
		if (align_fits(e->length_ns, h->gap[i].length_ns) &&
		    (best == ALIGN_NOBODY || distance(h->gap[i].start_ns, host_ns) <
						     distance(h->gap[best].start_ns, host_ns)))
			best = i;
	align_spend(all->work, i - first);
	return best;
}

/* ---- straight lines ---- */

static uint64_t host_of(const struct align_all *all, const struct align_event *e)
{
	return all->lane[e->lane].host->gap[e->partner].start_ns;
}

/* Distance of the event's partner from where the line has it, ns. */
static double off_line(const struct align_all *all, const struct align_event *e,
		       const struct align_line *l)
{
	return (double)(int64_t)(host_of(all, e) - align_at(l, e->start_ns));
}

/* Least squares over the events that are at most `far` ns from the line, which it moves. */
static bool fit_near(const struct align_all *all, uint32_t low, uint32_t high, double far,
		     struct align_line *line)
{
	double n = 0, t = 0, d = 0, tt = 0, td = 0, spread;

	for (uint32_t i = low; i < high; i++) {
		const struct align_event *e = &all->event[i];
		double x = (double)(int64_t)(e->start_ns - line->at_ns), y;

		if (e->partner == ALIGN_NOBODY)
			continue;
		y = off_line(all, e, line);
		if (y > far || y < -far)
			continue;
		n++;
		t += x;
		d += y;
		tt += x * x;
		td += x * y;
	}
	if (n < 2)
		return false;
	spread = tt - t * t / n;
	if (spread > 0) {
		double drift = (td - t * d / n) / spread;

		line->offset_ns += whole((d - drift * t) / n);
		line->drift += drift;
	} else {
		line->offset_ns += whole(d / n);
	}
	return true;
}

bool align_fit(const struct align_all *all, uint32_t low, uint32_t high, struct align_line *line)
{
	return fit_near(all, low, high, FAR_NS, line) &&
	       fit_near(all, low, high, ALIGN_NEAR_NS, line);
}

/* ---- from gap to gap ---- */

/* The newest matched gaps on the way. */
struct newest {
	uint32_t event[NEWEST];
	uint32_t n;
};

/* Draws the line through them; its drift stays while they are few. */
static void correct(const struct align_all *all, const struct newest *w, struct align_line *line)
{
	uint32_t n = w->n < NEWEST ? w->n : NEWEST;
	double t = 0, d = 0, tt = 0, td = 0, spread;

	for (uint32_t i = 0; i < n; i++) {
		const struct align_event *e = &all->event[w->event[i]];
		double x = (double)(int64_t)(e->start_ns - line->at_ns);
		double y = off_line(all, e, line);

		t += x;
		d += y;
		tt += x * x;
		td += x * y;
	}
	spread = tt - t * t / n;
	/* a standard deviation, in a uniform distribution over the time */
	if (n >= ENOUGH && spread / n > LONG_NS * LONG_NS / 12) {
		double drift = (td - t * d / n) / spread;

		line->offset_ns += whole((d - drift * t) / n);
		line->drift += drift;
	} else {
		line->offset_ns += whole(d / n);
	}
	if (line->drift > ALIGN_DRIFT)
		line->drift = ALIGN_DRIFT;
	if (line->drift < -ALIGN_DRIFT)
		line->drift = -ALIGN_DRIFT;
}

static void move_to(struct align_line *l, uint64_t guest_ns)
{
	l->offset_ns = align_at(l, guest_ns) - guest_ns;
	l->at_ns = guest_ns;
}

/* Takes n events from `from` on, forwards or (step -1) backwards. Returns the number matched; *last
 * is the last of these. */
static uint32_t walk(struct align_all *all, struct align_line line, uint32_t from, int step,
		     uint32_t n, uint32_t *last)
{
	struct newest w = {.n = 0};
	uint32_t misses = 0;
	uint64_t seen_ns = all->event[from].start_ns;

	for (uint32_t k = 0; k < n && misses < LOST; k++) {
		uint32_t i = step > 0 ? from + k : from - k;
		struct align_event *e = &all->event[i];
		uint64_t far = ALIGN_NEAR_NS + distance(e->start_ns, seen_ns) * UNSURE;

		e->partner = align_partner(all, e, align_at(&line, e->start_ns),
					   far < FAR_NS ? far : FAR_NS);
		misses = e->partner == ALIGN_NOBODY ? misses + 1 : 0;
		if (misses)
			continue;
		seen_ns = e->start_ns;
		*last = i;
		w.event[w.n++ % NEWEST] = i;
		move_to(&line, e->start_ns);
		correct(all, &w, &line);
		align_spend(all->work, STEPS_CORRECT);
	}
	return w.n;
}

uint32_t align_follow(struct align_all *all, const struct align_line *line, uint32_t from,
		      uint32_t low, uint32_t high, uint32_t *first, uint32_t *last)
{
	uint32_t n;

	align_spend(all->work, (high - low) / 4);
	for (uint32_t i = low; i < high; i++)
		all->event[i].partner = ALIGN_NOBODY;
	*first = *last = from;
	n = walk(all, *line, from, 1, high - from, last);
	if (from > low)
		n += walk(all, *line, from - 1, -1, from - low, first);
	return n;
}
