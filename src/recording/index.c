/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recording/format.h"
#include "recording/section.h"

int index_init(struct index *x, uint32_t nlanes)
{
	*x = (struct index){.nlanes = nlanes};
	x->lane = calloc(nlanes ? nlanes : 1, sizeof(*x->lane));
	x->read = calloc(nlanes ? nlanes : 1, sizeof(*x->read));
	return x->lane && x->read ? 0 : -ENOMEM;
}

void index_free(struct index *x)
{
	free(x->lane);
	free(x->read);
	x->lane = NULL;
	x->read = NULL;
}

void index_clear(struct index *x)
{
	memset(x->lane, 0, x->nlanes * sizeof(*x->lane));
	x->nread = 0;
	x->chunks = 0;
	x->raw = 0;
	x->needed = false;
}

/* ---- making ---- */

/* Widens the range of times [0] to [1], of which n are known, by another one. */
static void widen(uint64_t range[2], uint64_t n, const uint64_t by[2])
{
	if (!n || by[0] < range[0])
		range[0] = by[0];
	if (!n || by[1] > range[1])
		range[1] = by[1];
}

static void add_hiccups(struct index_lane *to, const struct index_lane *l)
{
	if (!l->hiccups)
		return;
	if (!to->hiccups)
		to->first_ns = l->first_ns;
	widen(to->begin_ns, to->hiccups, l->begin_ns);
	to->end_ns = l->end_ns > to->end_ns ? l->end_ns : to->end_ns;
	to->last_ns = l->last_ns;
	memcpy(to->cursor, l->cursor, sizeof(to->cursor));
	to->hiccups += l->hiccups;
	to->sum_ns += l->sum_ns;
}

static void add_records(struct index_lane *to, const struct index_lane *l)
{
	if (!l->records)
		return;
	widen(to->record_ns, to->records, l->record_ns);
	to->records += l->records;
}

static void add_steals(struct index_lane *to, const struct index_lane *l)
{
	if (!l->steal)
		return;
	widen(to->steals_ns, to->steal, l->steals_ns);
	to->steal_ns = l->steal_ns;
	to->steal = true;
}

static void add_hiccup(struct index_lane *to, const struct hiccup *h)
{
	struct index_lane one = {.hiccups = 1,
				 .sum_ns = h->end_ns - h->start_ns,
				 .first_ns = h->start_ns,
				 .begin_ns = {h->start_ns, h->start_ns},
				 .end_ns = h->end_ns,
				 .last_ns = h->end_ns};

	memcpy(one.cursor, h->after, sizeof(one.cursor));
	add_hiccups(to, &one);
}

void index_event(struct index *x, const struct event *e)
{
	struct index_lane *l = &x->lane[e->index];

	switch (e->type) {
	case EVENT_RECORD:
		widen(l->record_ns, l->records++,
		      (const uint64_t[]){e->record->end_ns, e->record->end_ns});
		break;
	case EVENT_HICCUP:
		add_hiccup(l, e->hiccup);
		break;
	case EVENT_STEAL:
		add_steals(l, &(struct index_lane){.steal = true,
						   .steals_ns = {e->ns, e->ns},
						   .steal_ns = e->ns});
		break;
	default:
		x->needed = true;
	}
}

void index_add(struct index *to, const struct index *x)
{
	for (uint32_t i = 0; i < x->nlanes; i++) {
		const struct index_lane *l = &x->lane[i];

		add_hiccups(&to->lane[i], l);
		add_records(&to->lane[i], l);
		add_steals(&to->lane[i], l);
	}
	to->chunks += x->chunks;
	to->raw += x->raw;
	to->needed |= x->needed;
}

/* ---- as bytes ---- */

enum { HAS_STEAL = 1, IS_NEEDED = 1 };

static bool is_empty(const struct index_lane *l)
{
	return !l->hiccups && !l->records && !l->steal;
}

static void put_lane(struct bytes *b, const struct index_lane *l)
{
	put_number(b, l->hiccups);
	put_number(b, l->records);
	put_u8(b, l->steal ? HAS_STEAL : 0);
	if (l->hiccups) {
		put_number(b, l->begin_ns[0]);
		put_number(b, l->begin_ns[1] - l->begin_ns[0]);
		put_number(b, l->first_ns - l->begin_ns[0]);
		put_number(b, l->end_ns - l->begin_ns[0]);
		put_number(b, l->end_ns - l->last_ns);
		put_number(b, l->sum_ns);
		for (int i = 0; i < LEVELS; i++)
			put_u32(b, l->cursor[i]);
	}
	if (l->records) {
		put_number(b, l->record_ns[0]);
		put_number(b, l->record_ns[1] - l->record_ns[0]);
	}
	if (l->steal) {
		put_number(b, l->steals_ns[0]);
		put_number(b, l->steals_ns[1] - l->steals_ns[0]);
		put_number(b, l->steal_ns - l->steals_ns[0]);
	}
}

void put_index(struct bytes *b, const struct index *x)
{
	uint32_t some = 0, last = 0;
	struct bytes s = {0};

	for (uint32_t i = 0; i < x->nlanes; i++)
		some += !is_empty(&x->lane[i]);
	put_number(&s, x->chunks);
	put_number(&s, x->raw);
	put_u8(&s, x->needed ? IS_NEEDED : 0);
	put_number(&s, some);
	for (uint32_t i = 0; i < x->nlanes; i++) {
		struct bytes lane = {0};

		if (is_empty(&x->lane[i]))
			continue;
		put_number(&s, i - last);
		last = i;
		put_lane(&lane, &x->lane[i]);
		put_section(&s, &lane);
	}
	put_section(b, &s);
}

/* Adds to a time: the sum is one, or `bad` is set. */
static uint64_t later(struct reading *r, uint64_t ns, uint64_t by)
{
	r->bad |= by > TIME_MAX || ns + by > TIME_MAX;
	return r->bad ? 0 : ns + by;
}

static uint64_t get_time(struct reading *r)
{
	return later(r, 0, get_number(r));
}

static void get_hiccups(struct reading *r, struct index_lane *l)
{
	uint64_t first, end, last;

	l->begin_ns[0] = get_time(r);
	l->begin_ns[1] = later(r, l->begin_ns[0], get_number(r));
	first = get_number(r);
	l->first_ns = later(r, l->begin_ns[0], first);
	end = get_number(r);
	l->end_ns = later(r, l->begin_ns[0], end);
	last = get_number(r);
	r->bad |= last > end || l->first_ns > l->begin_ns[1] || l->end_ns < l->begin_ns[1];
	l->last_ns = l->end_ns - last;
	l->sum_ns = get_time(r);
	for (int i = 0; i < LEVELS; i++)
		l->cursor[i] = get_u32(r);
}

static void get_lane(struct reading *r, struct index_lane *l)
{
	unsigned what;

	l->hiccups = get_number(r);
	l->records = get_number(r);
	what = get_u8(r);
	if (l->hiccups)
		get_hiccups(r, l);
	if (l->records) {
		l->record_ns[0] = get_time(r);
		l->record_ns[1] = later(r, l->record_ns[0], get_number(r));
	}
	l->steal = what & HAS_STEAL;
	if (!l->steal)
		return;
	l->steals_ns[0] = get_time(r);
	l->steals_ns[1] = later(r, l->steals_ns[0], get_number(r));
	l->steal_ns = later(r, l->steals_ns[0], get_number(r));
}

bool get_index(struct reading *r, struct index *x)
{
	struct reading s = get_section(r);
	uint64_t some, events = 0, at = 0;

	while (x->nread)
		x->lane[x->read[--x->nread]] = (struct index_lane){0};
	x->chunks = get_number(&s);
	x->raw = get_number(&s);
	x->needed = get_u8(&s) & IS_NEEDED;
	some = get_number(&s);
	s.bad |= some > x->nlanes || x->raw > (uint64_t)x->chunks * CHUNK_MAX;
	for (uint64_t i = 0; i < some && !s.bad; i++) {
		uint64_t step = get_number(&s);
		struct reading lane = get_section(&s);
		struct index_lane *l;

		s.bad |= step >= x->nlanes - at || (i && !step);
		if (s.bad)
			break;
		at += step;
		x->read[x->nread++] = at;
		l = &x->lane[at];
		get_lane(&lane, l);
		/* each event takes a byte or more */
		s.bad |= lane.bad || l->hiccups > x->raw || l->records > x->raw;
		if (s.bad)
			break;
		events += l->hiccups + l->records;
		s.bad |= events > x->raw;
	}
	return !s.bad;
}
