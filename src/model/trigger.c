/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/trigger.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"

#define SLOTS 64

/* ---- who ---- */

static bool matches(const struct triggers *t, const struct trigger *r, uint32_t lane,
		    struct source *s)
{
	char name[SOURCE_NAME + 16];

	if (r->cause) {
		if (t->find_cause)
			t->find_cause(t->ctx, lane, s);
		return s->cause && !strcmp(s->cause, r->who);
	}
	snprintf(name, sizeof(name), "%s %s", source_kind_name(s->kind), s->name);
	return glob_fits(r->who, s->name, 0) || glob_fits(r->who, name, 0) ||
	       (s->function && glob_fits(r->who, s->function, 0));
}

/* The parts of a hiccup that are no interval's. */
struct rest {
	const char *name;
	uint64_t ns;
};

#define RESTS 3
static void rests_of(const struct account *a, struct rest rest[RESTS])
{
	rest[0] = (struct rest){"edge", a->edge_ns};
	rest[1] = (struct rest){source_kind_name(SOURCE_LOST), a->lost_ns};
	rest[2] = (struct rest){source_kind_name(SOURCE_OUTSIDE), a->outside_ns};
}

/* True when what matches took more than any other. */
static bool is_by(const struct triggers *t, const struct trigger *r, const struct view *v,
		  uint32_t lane, const struct account *a)
{
	uint64_t theirs = 0, most = 0;
	struct rest rest[RESTS];

	if (!r->who[0])
		return true;
	for (uint32_t i = 0; i < a->npieces; i++) {
		uint64_t ns = a->pieces[i].net_ns;

		if (matches(t, r, lane, v->cpu[lane].sources.row[a->pieces[i].source]))
			theirs += ns;
		else if (ns > most)
			most = ns;
	}
	rests_of(a, rest);
	for (int i = 0; i < RESTS; i++)
		if (!r->cause && glob_fits(r->who, rest[i].name, 0))
			theirs += rest[i].ns;
		else if (rest[i].ns > most)
			most = rest[i].ns;
	return theirs > most;
}

static void name_most(const struct view *v, uint32_t lane, const struct account *a,
		      struct trigger_hit *hit)
{
	struct rest rest[RESTS];
	uint64_t most = 0;

	hit->who[0] = 0;
	hit->source = UINT32_MAX;
	if (!v->run.traced)
		return;
	for (uint32_t i = 0; i < a->npieces; i++) {
		const struct source *s = v->cpu[lane].sources.row[a->pieces[i].source];

		if (a->pieces[i].net_ns < most || !a->pieces[i].net_ns)
			continue;
		most = a->pieces[i].net_ns;
		hit->source = a->pieces[i].source;
		snprintf(hit->who, sizeof(hit->who), "%s %s", source_kind_name(s->kind), s->name);
	}
	rests_of(a, rest);
	for (int i = 0; i < RESTS; i++)
		if (rest[i].ns > most) {
			most = rest[i].ns;
			hit->source = UINT32_MAX;
			snprintf(hit->who, sizeof(hit->who), "%s", rest[i].name);
		}
}

/* ---- sums over the last TIME ---- */

/* State of one trigger and one lane: the newest 64ths, by their number modulo. */
struct trigger_sums {
	uint64_t newest; /* number of the newest 64th since the clock's begin */
	uint64_t slot[SLOTS];
};

static void sums_go_to(struct trigger_sums *s, uint64_t number)
{
	if (number <= s->newest)
		return;
	if (number - s->newest >= SLOTS)
		memset(s->slot, 0, sizeof(s->slot));
	else
		for (uint64_t i = s->newest + 1; i <= number; i++)
			s->slot[i % SLOTS] = 0;
	s->newest = number;
}

/* Adds n at a time; what is too old is left out. */
static void sums_add(struct trigger_sums *s, uint64_t number, uint64_t n)
{
	if (number + SLOTS > s->newest)
		s->slot[number % SLOTS] += n;
}

static uint64_t sums_all(const struct trigger_sums *s)
{
	uint64_t all = 0;

	for (int i = 0; i < SLOTS; i++)
		all += s->slot[i];
	return all;
}

/* Adds a hiccup's time where it was. */
static void sums_add_time(struct trigger_sums *s, uint64_t slot_ns, uint64_t from, uint64_t to)
{
	uint64_t last = to / slot_ns, number = from / slot_ns;

	sums_go_to(s, last);
	if (number + SLOTS <= last)
		number = last - SLOTS + 1;
	for (; number <= last; number++) {
		uint64_t a = number * slot_ns > from ? number * slot_ns : from;
		uint64_t b = (number + 1) * slot_ns < to ? (number + 1) * slot_ns : to;

		if (b > a)
			sums_add(s, number, b - a);
	}
}

static uint64_t count_of(const struct triggers *t, const struct trigger *r, const struct view *v,
			 uint32_t lane, const struct account *a)
{
	uint64_t n = 0;

	if (!r->who[0])
		return 1;
	for (uint32_t i = 0; i < a->npieces; i++)
		if (a->pieces[i].count &&
		    matches(t, r, lane, v->cpu[lane].sources.row[a->pieces[i].source]))
			n += a->pieces[i].count;
	return n;
}

/* Takes the hiccup into the sums of the trigger. True when they are above its limit. */
static bool sums_cross(const struct triggers *t, uint32_t i, const struct view *v, uint32_t lane,
		       const struct account *a)
{
	struct trigger_sums *s = &t->sums[i * t->lanes + lane];
	const struct trigger *r = &t->row[i];
	uint64_t slot_ns = r->window_ns / SLOTS, end = a->start_ns + a->duration_ns;
	bool crossed;

	if (r->event == TRIGGER_LOST && a->spot.window == WINDOW_REPORTED)
		return false;
	if (r->event == TRIGGER_LOST) {
		sums_add_time(s, slot_ns, a->start_ns, end);
		crossed = sums_all(s) > r->percent / 100 * r->window_ns;
	} else {
		sums_go_to(s, end / slot_ns);
		sums_add(s, end / slot_ns, count_of(t, r, v, lane, a));
		crossed = sums_all(s) > r->above;
	}
	if (crossed)
		memset(s->slot, 0, sizeof(s->slot));
	return crossed;
}

/* ---- all of them ---- */

int triggers_begin(struct triggers *t, uint32_t lanes)
{
	t->lanes = lanes;
	t->sums = calloc((size_t)t->count * lanes + 1, sizeof(*t->sums));
	return t->sums ? 0 : -ENOMEM;
}

const char *triggers_text(const struct triggers *t, char *buf, size_t len)
{
	size_t at = 0;

	for (uint32_t i = 0; i < t->count && at < len; i++)
		at += snprintf(buf + at, len - at, "%s%s", i ? ", " : "", t->row[i].text);
	return buf;
}

void triggers_free(struct triggers *t)
{
	free(t->sums);
	t->sums = NULL;
}

static bool is_pulled(const struct triggers *t, uint32_t i, const struct view *v, uint32_t lane,
		      const struct account *a)
{
	const struct trigger *r = &t->row[i];

	if (r->event >= TRIGGER_SIGUSR1)
		return false;
	if (r->event >= TRIGGER_LOST)
		return sums_cross(t, i, v, lane, a);
	if (a->duration_ns <= r->above)
		return false;
	if (r->event == TRIGGER_WAKE && !t->wakes && a->spot.window != WINDOW_WOKEN)
		return false;
	if (r->event == TRIGGER_LATE && a->spot.window != WINDOW_REPORTED)
		return false;
	return is_by(t, r, v, lane, a);
}

bool triggers_hear(struct triggers *t, const struct view *v, uint32_t lane, const struct account *a,
		   struct trigger_hit *hit)
{
	bool pulled = false;

	for (uint32_t i = 0; i < t->count && lane < t->lanes; i++) {
		if (!is_pulled(t, i, v, lane, a))
			continue;
		t->row[i].pulled++;
		if (pulled)
			continue;
		pulled = true;
		*hit = (struct trigger_hit){.trigger = &t->row[i],
					    .lane = lane,
					    .start_ns = a->start_ns,
					    .duration_ns = a->duration_ns,
					    .spot = a->spot};
		name_most(v, lane, a, hit);
	}
	return pulled;
}

bool triggers_pull(struct triggers *t, enum trigger_event event, uint64_t ns,
		   struct trigger_hit *hit)
{
	for (uint32_t i = 0; i < t->count; i++) {
		if (t->row[i].event != event)
			continue;
		t->row[i].pulled++;
		*hit = (struct trigger_hit){.trigger = &t->row[i],
					    .lane = UINT32_MAX,
					    .start_ns = ns,
					    .spot.cpu = SPOT_UNKNOWN,
					    .source = UINT32_MAX};
		return true;
	}
	return false;
}
