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

void part_find(struct recording *r)
{
	struct event e;

	while (chunks_next(&r->chunks)) {
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
}

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
	case EVENT_START:
		if (l->cut)
			memcpy(e->cursor, l->cursor, sizeof(e->cursor));
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
