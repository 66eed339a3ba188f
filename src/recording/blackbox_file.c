/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A part of the last time as a file: through a recorder, with the numbers of the part. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "base/say.h"
#include "base/units.h"
#include "recording/blackbox_state.h"

/* Counts of a lane in the part that begins with the slice. Counts that are not known of a part stay
 * zero; a reader counts records itself. */
static void narrow_lane(struct cpu *c, const struct box_count *from, uint64_t earlier)
{
	struct box_count now = box_count(c);

	c->observed_ns = now.observed_ns - from->observed_ns;
	if (c->observed_ns)
		c->observed_ns += earlier;
	c->unpaired = now.unpaired - from->unpaired;
	c->hiccups_lost = now.hiccups_lost - from->hiccups_lost;
	c->hiccups_lost_ns = now.hiccups_lost_ns - from->hiccups_lost_ns;
	c->bookkeeping_ns = now.bookkeeping_ns - from->bookkeeping_ns;
	c->steal_ns = now.steal_ns > from->steal_ns ? now.steal_ns - from->steal_ns : 0;
	c->woken = now.woken - from->woken;
	c->woken_due = now.woken_due - from->woken_due;
	c->reported = now.reported - from->reported;
	c->reported_ns = now.reported_ns - from->reported_ns;
	c->unseen_ns = now.unseen_ns - from->unseen_ns;
	c->unseen_whole = now.unseen_whole - from->unseen_whole;
	c->waits_lost = now.waits_lost - from->waits_lost;
	c->halts = now.halts - from->halts;
	c->halted_ns = now.halted_ns - from->halted_ns;
	c->halted_here_ns = now.halted_here_ns - from->halted_here_ns;
	c->asleep_ns = now.asleep_ns - from->asleep_ns;
	c->taken_ns = now.taken_ns - from->taken_ns;
	c->unended = now.unended - from->unended;
	c->unseen_max_ns = c->unseen_ns < c->unseen_max_ns ? c->unseen_ns : c->unseen_max_ns;
	c->counts = (struct join_counts){0};
	c->shorts.known = c->closure_known = c->smi_known = c->ran_steal_known = false;
	c->smi_count = c->loop_count = 0;
	c->closure = NULL;
	c->series = NULL;
	c->khz = (struct khz_changes){0}; /* the run's own, as these are */
	c->places = (struct places){0};
	c->khz_changes = c->khz_min = c->khz_max = c->khz_until_ns = 0;
	c->nclosure = c->nseries = 0;
}

/* Finds where the part begins: with its first slice, or the hiccup that was going on then. */
static uint64_t begin_of(struct blackbox *b)
{
	uint64_t first = box_slice(b, b->w.next)->begin_ns;

	for (uint64_t i = b->w.next; i < b->w.end; i++)
		if (box_slice(b, i)->first_ns < first)
			first = box_slice(b, i)->first_ns;
	return first;
}

/* The view of the part: the run's own but for its numbers. */
static int narrow(struct blackbox *b, const struct blackbox_file *f, const struct view *v,
		  uint64_t now)
{
	const struct box_slice *s = box_slice(b, b->w.next);
	struct view *part = &b->w.part;
	uint64_t begin = begin_of(b);

	if (begin < v->run.started_ns)
		begin = v->run.started_ns;
	free(part->cpu);
	*part = *v;
	part->cpu = calloc(b->nlanes, sizeof(*part->cpu));
	if (!part->cpu || !s->count || v->ncpus < b->nlanes)
		return complain("recording to %s: not enough memory", f->path);
	part->ncpus = b->nlanes;
	for (uint32_t i = 0; i < b->nlanes; i++) {
		part->cpu[i] = v->cpu[i];
		narrow_lane(&part->cpu[i], &s->count[i], v->run.watch ? 0 : s->begin_ns - begin);
	}
	part->run.part = true;
	part->run.reports_lost -= s->reports_lost;
	part->run.duration_ns = now - begin;
	for (uint32_t i = 0; i < b->nlanes && !v->run.watch; i++) {
		struct cpu *c = &part->cpu[i];

		offline_cut(&c->offline, begin, now);
		c->late_ns -= c->late_ns < begin - v->run.started_ns ? c->late_ns
								     : begin - v->run.started_ns;
		if (cpu_end_ns(c) > part->run.duration_ns)
			c->observed_ns = part->run.duration_ns - c->offline.total_ns - c->late_ns;
	}
	part->run.started_ns = begin;
	format_iso_time(clock_ns(CLOCK_REALTIME) - (now_ns() - begin), part->run.started);
	if (f->label && !part->run.label[0] && !b->hide.redact) /* the record may name a thread */
		snprintf(part->run.label, sizeof(part->run.label), "%s", f->label);
	b->written_ns = part->run.duration_ns;
	return 0;
}

int blackbox_write(struct blackbox *b, const struct blackbox_file *f, const struct view *v,
		   uint64_t now)
{
	struct box_file *w = &b->w;

	box_cut(b);
	w->end = b->last;
	w->next = b->first;
	while (w->next + 1 < w->end && box_slice(b, w->next + 1)->begin_ns <= f->from_ns)
		w->next++;
	w->chunk = 0;
	w->begun = w->older_named = false;
	b->names_lack = w->next < b->all_named;
	if (narrow(b, f, v, now))
		return -1;
	w->recorder = recorder_open(f->path, f->force, f->housekeeping);
	if (!w->recorder)
		return -1;
	if (!recorder_head(w->recorder, &w->part)) {
		recorder_begun(w->recorder, &w->part);
		/* later events are not this file's */
		blackbox_slice(b, v, now);
		return 0;
	}
	recorder_close(w->recorder);
	w->recorder = NULL;
	return -1;
}

static bool give(struct blackbox *b, const struct bytes *bytes, uint64_t hiccups, uint64_t records)
{
	return !bytes->len || bytes->failed || recorder_put(b->w.recorder, bytes, hiccups, records);
}

/* The newest names; none when there was no memory for one of them. */
static const struct bytes *newest_names(struct blackbox *b)
{
	const struct bytes *names = encoder_bytes(b->names);

	if (names->failed) {
		b->names_lack = true;
		box_forget_names(b);
	}
	return names;
}

/* Gives the recorder as much as it takes now. True: all. */
static bool give_all(struct blackbox *b)
{
	struct box_file *w = &b->w;

	if (!w->begun) {
		if (!w->older_named && !give(b, &b->older_names, 0, 0))
			return false;
		w->older_named = true;
		if (!give(b, newest_names(b), 0, 0) ||
		    !give(b, &box_slice(b, w->next)->before, 0, 0))
			return false;
		w->begun = true;
	}
	for (; w->next < w->end; w->next++, w->chunk = 0) {
		const struct box_slice *s = box_slice(b, w->next);

		for (; w->chunk < s->nchunks; w->chunk++) {
			const struct box_chunk *c = &s->chunk[w->chunk];

			if (!give(b, &c->bytes, c->hiccups, c->records))
				return false;
		}
		recorder_lacks(b->w.recorder, s->hiccups_lost, s->records_lost);
	}
	return true;
}

static enum blackbox_state done(struct blackbox *b, enum blackbox_state state)
{
	b->stats = recorder_stats(b->w.recorder);
	recorder_close(b->w.recorder);
	b->w.recorder = NULL;
	box_trim(b);
	return state;
}

enum blackbox_state blackbox_poll(struct blackbox *b)
{
	struct box_file *w = &b->w;
	int written;

	if (!w->recorder)
		return BLACKBOX_IDLE;
	if (w->next != UINT64_MAX) {
		if (!recorder_poll(w->recorder))
			return done(b, BLACKBOX_FAILED);
		if (!give_all(b))
			return BLACKBOX_WRITES;
		w->next = UINT64_MAX;
		if (recorder_tail(w->recorder, &w->part))
			return done(b, BLACKBOX_FAILED);
	}
	written = recorder_written(w->recorder);
	if (!written)
		return BLACKBOX_WRITES;
	return done(b, written < 0 ? BLACKBOX_FAILED : BLACKBOX_WRITTEN);
}

uint64_t blackbox_written_ns(const struct blackbox *b)
{
	return b->written_ns;
}

bool blackbox_names_lack(const struct blackbox *b)
{
	return b->names_lack;
}

struct recorder_stats blackbox_stats(const struct blackbox *b)
{
	return b->stats;
}
