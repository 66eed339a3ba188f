/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A part of a recording's time: where it begins and ends on each CPU, and what lies outside. */
#include <string.h>

#include "recording/format.h"
#include "recording/reader.h"

#define NEAR_NS 1000000 /* sequences identify records no farther apart than this */

static void note_hiccup(const struct recording *r, struct recorded_lane *l, const struct hiccup *h)
{
	uint64_t from = r->view->run.started_ns + r->part.from_ns,
		 to = r->view->run.started_ns + r->part.to_ns;

	if (r->part.from_ns && h->start_ns < from) {
		l->cut = true;
		l->cut_ns = h->end_ns;
		memcpy(l->cursor, h->after, sizeof(l->cursor));
	}
	if (r->part.to_ns && h->start_ns >= to && h->start_ns < l->stop_ns)
		l->stop_ns = h->start_ns;
}

/* ---- chunks that hold nothing of it ---- */

static bool all(const uint64_t range[2], uint64_t from_ns, uint64_t to_ns)
{
	return range[0] >= from_ns && range[1] < to_ns;
}

/* True when the hiccups lie on one side of this time, if it bounds the part. */
static bool one_side(const struct index_lane *l, uint64_t part_ns, uint64_t ns)
{
	return !l->hiccups || !part_ns || all(l->begin_ns, 0, ns) ||
	       all(l->begin_ns, ns, UINT64_MAX);
}

/* True when the index says as much as the chunks of where the part begins and ends. */
static bool is_told(const struct recording *r, const struct index_lane *l)
{
	uint64_t started = r->view->run.started_ns;

	return one_side(l, r->part.from_ns, started + r->part.from_ns) &&
	       one_side(l, r->part.to_ns, started + r->part.to_ns);
}

static void note_hiccups(const struct recording *r, struct recorded_lane *l,
			 const struct index_lane *of)
{
	struct hiccup h = {.start_ns = of->begin_ns[0], .end_ns = of->last_ns};

	memcpy(h.after, of->cursor, sizeof(h.after));
	if (of->hiccups)
		note_hiccup(r, l, &h);
}

/* True when part_leaves is true of all hiccups and records. */
static bool is_left(const struct recorded_lane *l, const struct index_lane *of)
{
	bool early = l->cut && (!of->hiccups || all(of->begin_ns, 0, l->cut_ns)),
	     late = !of->hiccups || of->begin_ns[0] >= l->stop_ns;

	for (unsigned level = 0; level < LEVELS; level++)
		early &= !l->passed[level];
	if (of->records) {
		early &= of->record_ns[1] + NEAR_NS < l->cut_ns;
		late &= of->record_ns[0] > l->stop_ns;
	}
	return (!of->hiccups && !of->records) || early || late;
}

/* True when what the steal clock showed decides about no gap, or that of the last reading alone. */
static bool steals_little(const struct recorded_lane *l, const struct index_lane *of)
{
	return !of->steal || !l->gap_waits ||
	       (l->steal_known && all(of->steals_ns, l->steal_ns, l->steal_ns + 1));
}

static bool passes(const struct recording *r, uint32_t i)
{
	const struct recorded_lane *l = &r->lane[i];
	const struct index_lane *of = &r->index.lane[i];

	if (!check_index(&r->checked[i], &r->view->run, r->end_ns, of))
		return false;
	if (l->index == UINT32_MAX)
		return true;
	return r->finding ? is_told(r, of) : is_left(l, of) && steals_little(l, of);
}

static void take_index(struct recording *r, uint32_t i)
{
	struct recorded_lane *l = &r->lane[i];
	const struct index_lane *of = &r->index.lane[i];

	checked_add(&r->checked[i], of);
	if (r->finding) {
		note_hiccups(r, l, of);
		return;
	}
	if (of->hiccups && of->end_ns > l->last_ns)
		l->last_ns = of->end_ns;
	if (of->records && of->record_ns[1] > l->last_ns)
		l->last_ns = of->record_ns[1];
	if (of->steal) {
		l->steal_ns = of->steal_ns;
		l->steal_known = l->steal_waits = true;
	}
}

/* The index of the chunks that come next, if it is about them. */
static bool find_index(struct recording *r, struct chunk_group *g)
{
	bool found = chunks_ahead(&r->chunks, g);
	struct reading in = {r->chunks.payload, r->chunks.payload + r->chunks.len, false};

	r->judged = g->end;
	return found && get_index(&in, &r->index) && r->index.chunks == g->chunks &&
	       r->index.raw == g->raw;
}

bool part_passes(struct recording *r)
{
	struct chunk_group g;

	if (!r->indexed || r->chunks.at < r->judged || !find_index(r, &g) ||
	    (r->index.needed && !r->finding))
		return false;
	for (uint32_t i = 0; i < r->index.nread; i++)
		if (!passes(r, r->index.read[i]))
			return false;
	for (uint32_t i = 0; i < r->index.nread; i++)
		take_index(r, r->index.read[i]);
	r->chunks.at = g.next;
	return true;
}

void part_steal(struct recorded_lane *l, const struct event *e)
{
	if (e->type == EVENT_HICCUP)
		l->gap_waits = true;
	if (e->type != EVENT_STEAL)
		return;
	if (l->steal_known && e->ns > l->steal_ns)
		l->gap_waits = false;
	l->steal_known = true;
	l->steal_ns = e->ns;
}

/* ---- where it begins and ends ---- */

static bool next_chunk(struct recording *r)
{
	while (part_passes(r))
		;
	return chunks_next(&r->chunks);
}

void part_find(struct recording *r)
{
	struct event e;

	r->finding = true;
	while (next_chunk(r)) {
		r->reading = (struct reading){r->chunks.payload, r->chunks.payload + r->chunks.len,
					      false};
		if (r->chunks.type == CHUNK_RUN)
			reader_run(r, &r->reading);
		if (r->chunks.type != CHUNK_EVENTS)
			continue;
		decoder_start(r->decoder, &r->reading);
		while (decoder_next(r->decoder, &r->reading, &e) &&
		       !check_event(&r->checked[e.index], &r->view->run, r->end_ns, &e)) {
			if (e.type == EVENT_HICCUP)
				note_hiccup(r, &r->lane[e.index], e.hiccup);
			naming_skip(&r->reading, &e);
		}
	}
	chunks_rewind(&r->chunks);
	chunks_next(&r->chunks); /* the head */
	memset(r->checked, 0, r->nlanes * sizeof(*r->checked));
	r->reading = (struct reading){0};
	r->ncannot = 0;
	r->finding = false;
	r->judged = 0;
}

/* ---- event by event ---- */

/* True before the part: by time, and near the cut by the place in the sequence. */
static bool before_part(struct recorded_lane *l, const struct record *rec)
{
	if (!l->cut || l->passed[rec->level])
		return false;
	if (rec->end_ns + NEAR_NS < l->cut_ns)
		return true;
	if (rec->end_ns < l->cut_ns + NEAR_NS && (int32_t)(rec->seq - l->cursor[rec->level]) <= 0)
		return true;
	l->passed[rec->level] = true;
	return false;
}

bool part_leaves(struct recorded_lane *l, struct event *e)
{
	switch (e->type) {
	case EVENT_RECORD:
		return before_part(l, e->record) || e->record->end_ns > l->stop_ns;
	case EVENT_HICCUP:
		return (l->cut && e->hiccup->start_ns < l->cut_ns) ||
		       e->hiccup->start_ns >= l->stop_ns;
	case EVENT_START: /* a later one is of a CPU that was offline, maybe in the part */
		for (unsigned level = 0; level < LEVELS && l->cut; level++)
			if ((int32_t)(l->cursor[level] - e->cursor[level]) > 0) {
				memcpy(e->cursor, l->cursor, sizeof(e->cursor));
				break;
			}
		return false;
	default:
		return false;
	}
}

void part_start(struct recording *r, const struct recorded_lane *l)
{
	struct event e = {.type = EVENT_START, .index = l->index};

	memcpy(e.cursor, l->cursor, sizeof(e.cursor));
	if (l->cut && l->index != UINT32_MAX)
		session_feed(r->session, &e);
}
