/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/blackbox_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/now.h"
#include "base/units.h"

#define EVENTS_BYTES (192 << 10) /* cuts a chunk of events at this size */
#define NAMES_BYTES  (1 << 20)   /* with more, names are collected anew, beside these */
#define SLICES_KEPT  64          /* slices that the time is divided into */
#define SLICE_MIN_NS (100 * NSEC_PER_MSEC)
#define WAITING_MAX  1024      /* records of a lane that wait for their hiccup; older ones go */
#define BEFORE_BYTES (1 << 20) /* with more, the others that wait are left out, as lost */

/* ---- slices ---- */

static void drop_first(struct blackbox *b)
{
	struct box_slice *s = box_slice(b, b->first++);

	for (uint32_t i = 0; i < s->nchunks; i++)
		free(s->chunk[i].bytes.at);
	b->bytes -= s->bytes;
	free(s->chunk);
	free(s->before.at);
	free(s->count);
	memset(s, 0, sizeof(*s));
}

void box_trim(struct blackbox *b)
{
	while (b->first + 1 < b->last) {
		bool wanted = b->w.recorder && b->first >= b->w.next && b->first < b->w.end;
		bool old = box_slice(b, b->first + 1)->begin_ns + b->keep_ns <=
			   box_slice(b, b->last - 1)->begin_ns;

		if (wanted ? b->bytes <= 2 * b->most_bytes && b->last - b->first < BOX_SLICES
			   : !old && b->bytes <= b->most_bytes && b->last - b->first < BOX_SLICES)
			return;
		if (wanted) {
			struct box_slice *s = box_slice(b, b->w.next++);

			for (uint32_t i = b->w.chunk; i < s->nchunks; i++)
				recorder_lacks(b->w.recorder, s->chunk[i].hiccups,
					       s->chunk[i].records);
			recorder_lacks(b->w.recorder, s->hiccups_lost, s->records_lost);
			b->w.chunk = 0;
		}
		drop_first(b);
	}
}

/* Out of memory they are gone, and count as lost in a recording of the slice. */
void box_cut(struct blackbox *b)
{
	const struct bytes *packed = encoder_bytes(b->events);
	struct box_slice *s = box_slice(b, b->last - 1);
	struct box_chunk c = {.hiccups = b->hiccups, .records = b->records}, *more;

	if (!packed->len)
		return;
	more = reallocarray(s->chunk, s->nchunks + 1, sizeof(*more));
	put_raw(&c.bytes, packed->at, packed->len);
	if (more)
		s->chunk = more;
	if (!more || c.bytes.failed || packed->failed) {
		free(c.bytes.at);
		s->hiccups_lost += b->hiccups;
		s->records_lost += b->records;
	} else {
		s->chunk[s->nchunks++] = c;
		s->bytes += packed->len;
		b->bytes += packed->len;
	}
	b->hiccups = b->records = 0;
	encoder_reset(b->events);
	box_trim(b);
}

/* ---- what comes ---- */

static void put(struct blackbox *b, struct encoder *to, const struct event *e)
{
	struct hide_room room;
	struct event hidden = hide_event(&b->hide, e, &room);

	encoder_put(to, &hidden);
}

void box_forget_names(struct blackbox *b)
{
	b->all_named = b->named = b->last + 1;
	encoder_reset(b->names);
	memset(b->seen, 0, sizeof(*b->seen));
}

/* Begins new names: what is needed again comes again, so that of these and the ones before them
 * only slices from before both can lack some. */
static void renew_names(struct blackbox *b)
{
	const struct bytes *full = encoder_bytes(b->names);

	b->older_names.len = 0;
	put_raw(&b->older_names, full->at, full->len);
	b->all_named = b->named;
	b->named = b->last + 1; /* the slice in hand has had names, and what waits goes on */
	if (b->older_names.failed || full->failed) {
		free(b->older_names.at);
		b->older_names = (struct bytes){0};
		b->all_named = b->named;
	}
	encoder_reset(b->names);
	memset(b->seen, 0, sizeof(*b->seen));
}

static void put_name(struct blackbox *b, const struct event *e)
{
	if (encoder_len(b->names) > NAMES_BYTES && (!b->w.recorder || b->w.begun))
		renew_names(b);
	if (!seen_before(b->seen, e->type, e->named.number))
		put(b, b->names, e);
}

static void advance(uint32_t *cursor, uint32_t seq)
{
	if ((int32_t)(seq - *cursor) > 0)
		*cursor = seq;
}

static void wait_for_hiccup(struct box_lane *l, const struct record *r)
{
	if (l->nwaiting == l->room && l->room < WAITING_MAX) {
		uint32_t room = l->room ? 2 * l->room : 64;
		struct record *more = reallocarray(l->waiting, room, sizeof(*more));

		if (more) {
			l->waiting = more;
			l->room = room;
		}
	}
	if (l->nwaiting == l->room) { /* the older half is below the threshold, or lost */
		uint32_t half = (l->room + 1) / 2;

		for (uint32_t i = 0; i < half; i++)
			advance(&l->cursor[l->waiting[i].level % LEVELS], l->waiting[i].seq);
		memmove(l->waiting, l->waiting + half, (l->room - half) * sizeof(*l->waiting));
		l->nwaiting -= half;
	}
	if (l->nwaiting < l->room)
		l->waiting[l->nwaiting++] = *r;
}

static void end_wait(struct box_lane *l, const struct hiccup *h)
{
	uint32_t kept = 0;

	memcpy(l->cursor, h->after, sizeof(l->cursor));
	for (uint32_t i = 0; i < l->nwaiting; i++) {
		const struct record *r = &l->waiting[i];

		if ((int32_t)(r->seq - l->cursor[r->level % LEVELS]) > 0)
			l->waiting[kept++] = *r;
	}
	l->nwaiting = kept;
	l->begun = true;
}

static void note(struct blackbox *b, const struct event *e)
{
	struct box_slice *s = box_slice(b, b->last - 1);
	struct box_lane *l = &b->lane[e->index];

	switch (e->type) {
	case EVENT_START:
		memcpy(l->cursor, e->cursor, sizeof(l->cursor));
		l->begun = true;
		l->nwaiting = 0; /* the CPU went offline since */
		break;
	case EVENT_RECORD:
		wait_for_hiccup(l, e->record);
		b->records++;
		break;
	case EVENT_HICCUP:
		end_wait(l, e->hiccup);
		b->hiccups++;
		if (e->hiccup->start_ns < s->first_ns)
			s->first_ns = e->hiccup->start_ns;
		break;
	case EVENT_STEAL:
		l->steal_known = true;
		l->steal_ns = e->ns;
		break;
	default:
		break;
	}
}

static void on_event(void *ctx, const struct event *e)
{
	struct blackbox *b = ctx;

	if (!b->nlanes || hide_leaves(&b->hide, e))
		return;
	if (event_is_name(e->type)) {
		put_name(b, e);
		return;
	}
	if (e->index >= b->nlanes)
		return;
	note(b, e);
	put(b, b->events, e);
	if (encoder_len(b->events) >= EVENTS_BYTES)
		box_cut(b);
}

/* Adds what a join must know before the events that come next. */
static void put_before(struct blackbox *b, struct box_slice *s)
{
	struct encoder *e = encoder_new(b->nlanes);

	for (uint32_t i = 0; e && i < b->nlanes; i++) {
		const struct box_lane *l = &b->lane[i];
		struct event event = {.type = EVENT_START, .index = i};

		memcpy(event.cursor, l->cursor, sizeof(event.cursor));
		if (l->begun)
			encoder_put(e, &event);
		if (l->steal_known)
			encoder_put(e, &(struct event){
					       .type = EVENT_STEAL, .index = i, .ns = l->steal_ns});
		for (uint32_t k = 0; k < l->nwaiting && encoder_len(e) < BEFORE_BYTES; k++)
			put(b, e,
			    &(struct event){
				    .type = EVENT_RECORD, .index = i, .record = &l->waiting[k]});
	}
	if (e)
		put_raw(&s->before, encoder_bytes(e)->at, encoder_bytes(e)->len);
	if (!e || s->before.failed) { /* no recording can begin with it */
		free(s->count);
		s->count = NULL;
	}
	encoder_free(e);
	s->bytes += s->before.len;
	b->bytes += s->before.len;
}

struct box_count box_count(const struct cpu *c)
{
	return (struct box_count){.observed_ns = c->observed_ns,
				  .unpaired = c->unpaired,
				  .hiccups_lost = c->hiccups_lost,
				  .hiccups_lost_ns = c->hiccups_lost_ns,
				  .bookkeeping_ns = c->bookkeeping_ns,
				  .steal_ns = c->steal_ns,
				  .woken = c->woken,
				  .woken_due = c->woken_due,
				  .reported = c->reported,
				  .reported_ns = c->reported_ns,
				  .unseen_ns = c->unseen_ns,
				  .unseen_whole = c->unseen_whole,
				  .waits_lost = c->waits_lost,
				  .halts = c->halts,
				  .halted_ns = c->halted_ns,
				  .halted_here_ns = c->halted_here_ns,
				  .asleep_ns = c->asleep_ns,
				  .taken_ns = c->taken_ns,
				  .unended = c->unended};
}

void blackbox_slice(struct blackbox *b, const struct view *v, uint64_t now)
{
	struct box_slice *s;

	if (b->first != b->last)
		box_cut(b);
	b->last++;
	box_trim(b);
	s = box_slice(b, b->last - 1);
	s->begin_ns = s->first_ns = now;
	s->reports_lost = v->run.reports_lost;
	s->count = calloc(b->nlanes, sizeof(*s->count));
	for (uint32_t i = 0; s->count && i < b->nlanes && i < v->ncpus; i++)
		s->count[i] = box_count(&v->cpu[i]);
	put_before(b, s);
}

/* ---- the box ---- */

struct blackbox *blackbox_new(uint64_t keep_ns, uint64_t bytes, struct redact *redact)
{
	struct blackbox *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->tap = (struct tap){b, on_event};
	b->keep_ns = keep_ns;
	b->slice_ns = keep_ns / SLICES_KEPT > SLICE_MIN_NS ? keep_ns / SLICES_KEPT : SLICE_MIN_NS;
	b->most_bytes = bytes;
	b->seen = calloc(1, sizeof(*b->seen));
	if (b->seen && !hide_init_random(&b->hide)) {
		b->hide.redact = redact;
		return b;
	}
	blackbox_free(b);
	return NULL;
}

int blackbox_prepare(struct blackbox *b, const struct view *v)
{
	b->nlanes = v->ncpus;
	b->lane = calloc(b->nlanes, sizeof(*b->lane));
	b->events = encoder_new(b->nlanes);
	b->names = encoder_new(b->nlanes);
	if (!b->lane || !b->events || !b->names) {
		b->nlanes = 0;
		return -ENOMEM;
	}
	blackbox_slice(b, v, now_ns());
	return 0;
}

void blackbox_begin(struct blackbox *b, const struct view *v)
{
	struct box_slice *s = box_slice(b, b->first);

	s->begin_ns = s->first_ns = v->run.started_ns;
}

void blackbox_free(struct blackbox *b)
{
	if (!b)
		return;
	recorder_close(b->w.recorder);
	free(b->w.part.cpu);
	while (b->first < b->last)
		drop_first(b);
	for (uint32_t i = 0; b->lane && i < b->nlanes; i++)
		free(b->lane[i].waiting);
	free(b->lane);
	encoder_free(b->events);
	encoder_free(b->names);
	free(b->older_names.at);
	free(b->seen);
	free(b);
}

const struct tap *blackbox_tap(const struct blackbox *b)
{
	return &b->tap;
}

uint64_t blackbox_slice_ns(const struct blackbox *b)
{
	return b->slice_ns;
}

uint64_t blackbox_from_ns(const struct blackbox *b)
{
	return b->slice[b->first % BOX_SLICES].begin_ns;
}

uint64_t blackbox_bytes(const struct blackbox *b)
{
	return b->bytes;
}
