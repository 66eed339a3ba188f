/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The chunks of a recording, one after the other: events go to a batch, what other chunks say to
 * the view. */
#include "base/say.h"
#include "recording/course.h"
#include "recording/fields.h"
#include "recording/format.h"
#include "recording/reader.h"
#include "recording/together.h"

/* ---- chunks ---- */

/* Looks at the first one alone: each takes the time of all CPUs there are. */
static void take_tail(struct recording *r, struct reading *in)
{
	const char *why = r->tails++ ? "it ends twice" : reader_tail(r, in);

	if (why)
		reader_refuse(r, why);
}

/* A part of the time has no series, so no course. */
static void take_courses(struct recording *r, struct reading *in)
{
	uint64_t lane = get_number(in);
	struct cpu none = {0}, *c = &none;

	if (!r->tail) /* damaged or cut off, so that nobody knows what was measured */
		return;
	in->bad |= lane >= r->nlanes;
	if (!in->bad && r->lane[lane].index < r->view->ncpus)
		c = &r->view->cpu[r->lane[lane].index];
	get_courses(in, c);
	if (in->bad)
		reader_refuse(r, "it has values that were not measured");
}

static void take_stops(struct recording *r, struct reading *in)
{
	struct suspects *s = &r->view->suspects;
	uint64_t started = r->view->run.started_ns;

	if (!r->tail || s->looked)
		return;
	get_suspects(in, s);
	if (in->bad) {
		suspects_free(s);
		reader_refuse(r, "who ran when CPUs stopped means nothing");
		return;
	}
	if (r->part.redact)
		redact_suspects(r->part.redact, s);
	if (r->part.from_ns || r->part.to_ns)
		suspects_cut(s, started + r->part.from_ns,
			     r->part.to_ns ? started + r->part.to_ns : UINT64_MAX);
}

void reader_take_chunk(struct recording *r)
{
	struct reading in = {r->chunks.payload, r->chunks.payload + r->chunks.len, false};

	r->waits = false;
	switch (r->chunks.type) {
	case CHUNK_RUN:
		reader_run(r, &in);
		break;
	case CHUNK_FACT:
		get_facts(&in, &r->view->facts, r->part.redact);
		break;
	case CHUNK_TAIL:
		take_tail(r, &in);
		break;
	case CHUNK_COURSE:
		take_courses(r, &in);
		break;
	case CHUNK_STOPS:
		take_stops(r, &in);
		break;
	case CHUNK_END:
		r->end = r->over = true;
		break;
	}
}

/* The next chunk of events. False: another one waits, or there is none. */
static bool next_events(struct recording *r)
{
	while (!r->over && !r->waits) {
		struct reading in;

		if (part_passes(r))
			continue;
		if (!chunks_next(&r->chunks)) {
			r->over = true;
			break;
		}
		in = (struct reading){r->chunks.payload, r->chunks.payload + r->chunks.len, false};
		if (r->chunks.type != CHUNK_EVENTS) {
			r->waits = true;
		} else if (r->tail) {
			reader_refuse(r, "it goes on behind its end");
		} else {
			decoder_start(r->decoder, &in);
			r->reading = in;
			return true;
		}
	}
	return false;
}

/* ---- events ---- */

/* True for a hiccup below this threshold. Sources in it are below the threshold, too. */
static bool too_short(const struct recording *r, struct recorded_lane *l, const struct event *e)
{
	uint64_t ns = e->type == EVENT_HICCUP ? e->hiccup->end_ns - e->hiccup->start_ns : 0;

	if (e->type != EVENT_HICCUP || !l->measured_from_ns || ns >= r->part.threshold_ns)
		return false;
	l->below.count++;
	l->below.total_ns += ns;
	l->below_lost += e->hiccup->lost;
	return true;
}

static void fill_name(struct recording *r, struct batch *b, const struct event *e)
{
	const uint8_t *from = r->reading.at;

	naming_skip(&r->reading, e);
	if (!r->reading.bad)
		batch_add_name(b, e, from, r->reading.at);
}

static void fill_steal(struct batch *b, struct recorded_lane *l)
{
	batch_add(b, &(struct event){.type = EVENT_STEAL, .index = l->index, .ns = l->steal_ns});
	l->steal_waits = false;
}

/* True for what is not wanted of it, because of its time. */
static inline bool leaves(const struct recording *r, struct recorded_lane *l, struct event *e)
{
	return (r->part.from_ns || r->part.to_ns) && part_leaves(l, e);
}

/* Most events are records, which have less to be looked at than others. */
static void fill_record(struct recording *r, struct batch *b, struct event *e)
{
	struct recorded_lane *l = &r->lane[e->index];
	const char *why = check_record(&r->checked[e->index], e->record);

	if (why) {
		reader_refuse(r, why);
		return;
	}
	if (e->record->end_ns > l->last_ns)
		l->last_ns = e->record->end_ns;
	if (r->part.redact)
		reader_redact_event(r, e);
	if (l->index == UINT32_MAX || leaves(r, l, e))
		return;
	e->index = l->index;
	if (l->steal_waits)
		fill_steal(b, l);
	batch_add_record(b, e);
}

/* Notes for how long a CPU was offline, in case that no tail says it: since its last event, until
 * its next hiccup. */
static void note_offline(struct recording *r, struct recorded_lane *l, const struct event *e)
{
	if (l->index == UINT32_MAX)
		return;
	if (e->type == EVENT_START && !l->gone_ns) {
		l->gone_ns = l->last_ns;
	} else if (e->type == EVENT_HICCUP && l->gone_ns) {
		offline_add(&r->view->cpu[l->index].offline, l->gone_ns, e->hiccup->start_ns);
		l->gone_ns = 0;
	}
}

static void fill_event(struct recording *r, struct batch *b, struct event *e)
{
	struct recorded_lane *l = &r->lane[e->index];
	struct hiccup hiccup;
	const char *why;

	if (e->type == EVENT_RECORD) {
		fill_record(r, b, e);
		return;
	}
	if (event_is_name(e->type)) {
		fill_name(r, b, e);
		return;
	}
	why = check_event(&r->checked[e->index], &r->view->run, r->end_ns, e);
	if (why) {
		reader_refuse(r, why);
		return;
	}
	note_offline(r, l, e);
	if (e->type == EVENT_HICCUP && e->hiccup->end_ns > l->last_ns)
		l->last_ns = e->hiccup->end_ns;
	if (r->part.redact)
		reader_redact_event(r, e);
	if (e->type == EVENT_WHERE)
		reader_spot(l, e->spot);
	if (l->index == UINT32_MAX || leaves(r, l, e) || too_short(r, l, e))
		return;
	if (e->type == EVENT_HICCUP) {
		hiccup = *e->hiccup;
		hiccup.lost += l->below_lost;
		l->below_lost = 0;
		e->hiccup = &hiccup;
		if (hiccup.end_ns > l->left_ns)
			l->left_ns = hiccup.end_ns;
	}
	e->index = l->index;
	if (l->steal_waits)
		fill_steal(b, l);
	part_steal(l, e);
	batch_add(b, e);
}

void reader_fill(struct recording *r, struct batch *b)
{
	const struct batch *last = &r->batch[b == &r->batch[0]];
	struct event e;

	batch_clear(b, last->place + last->n);
	while (!batch_full(b)) {
		if (decoder_next(r->decoder, &r->reading, &e)) {
			fill_event(r, b, &e);
			continue;
		}
		if (r->reading.bad)
			reader_refuse(r, "an event means nothing");
		r->reading = (struct reading){0};
		if (!next_events(r))
			break;
	}
	batch_sort(b);
}
