/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a recording: what its tail says, if it can be, or what the events tell without one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "model/watch.h"
#include "recording/fields.h"
#include "recording/format.h"
#include "recording/reader.h"

/* the clock's step may include time before the window, at most this much */
#define STEAL_NS 1000000000

/* ---- the tail ---- */

#define NOTHING "its end means nothing"

struct tail {
	struct run run;
	struct host host;
	struct reading cpus; /* place where these begin */
	uint64_t hiccups_lost, records_lost, longest_ns;
};

/* The next lane's facts, over those that the CPU has: fields that an older writer does not have
 * stay. Returns why they cannot be, or NULL. */
static const char *get_lane(struct recording *r, uint32_t i, struct reading *in, struct tail *t,
			    struct cpu *cpu)
{
	uint64_t missing = t->hiccups_lost + t->records_lost;

	get_cpu(in, cpu, &t->run.recursion_misses, r->texts);
	return in->bad ? NOTHING
		       : check_cpu(&r->checked[i], &t->run, cpu,
				   missing < t->records_lost ? UINT64_MAX : missing);
}

/* Looks at all of it before any of it is taken. */
static const char *check_tail(struct recording *r, struct reading *in, struct tail *t,
			      struct cpu *scratch)
{
	const char *why;

	t->run = r->view->run;
	t->run.not_observed = NULL;
	t->run.nnot_observed = 0;
	t->host = r->view->host;
	get_run(in, &t->run, r->texts);
	get_host(in, &t->host);
	t->hiccups_lost = get_number(in);
	t->records_lost = get_number(in);
	t->cpus = *in;
	t->longest_ns = t->run.recursion_misses = 0;
	why = in->bad ? NOTHING : check_run(r->checked, r->nlanes, &r->view->run, &t->run);
	for (uint32_t i = 0; i < r->nlanes && !why; i++) {
		struct recorded_lane *l = &r->lane[i];

		*scratch = l->index < r->view->ncpus ? r->view->cpu[l->index] : (struct cpu){0};
		scratch->closure = NULL;
		scratch->series = NULL;
		scratch->khz = (struct khz_changes){0};
		scratch->places = (struct places){0};
		scratch->nclosure = scratch->nseries = 0;
		why = get_lane(r, i, in, t, scratch);
		if (t->longest_ns < cpu_end_ns(scratch))
			t->longest_ns = cpu_end_ns(scratch);
		cpu_clear(scratch);
	}
	return why;
}

static void take_lane(struct recording *r, uint32_t i, struct tail *t, struct cpu *c)
{
	char before[sizeof(c->comm)];

	memcpy(before, c->comm, sizeof(before));
	get_lane(r, i, &t->cpus, t, c);
	reader_redact_lane(r, c, before);
}

static void take_tail(struct recording *r, struct tail *t)
{
	struct view *v = r->view;

	t->run.recursion_misses = 0;
	for (uint32_t i = 0; i < r->nlanes; i++)
		if (r->lane[i].index < v->ncpus)
			take_lane(r, i, t, &v->cpu[r->lane[i].index]);
		else
			skip_cpu(&t->cpus);
	if (t->run.duration_ns < t->longest_ns && !t->run.watch) /* the row was corrected */
		t->run.duration_ns = t->longest_ns;
	reader_redact_tail(r, &t->host, &t->run);
	v->run = t->run;
	v->host = t->host;
	for (uint32_t i = 0; i < v->ncpus && v->run.watch; i++) { /* by an earlier version */
		v->run.reports_lost += v->cpu[i].hiccups_lost;
		v->cpu[i].hiccups_lost = 0;
	}
	r->hiccups_lost = t->hiccups_lost;
	r->records_lost = t->records_lost;
}

const char *reader_tail(struct recording *r, struct reading *in)
{
	struct tail t = {.longest_ns = 0};
	struct cpu *scratch = malloc(sizeof(*scratch));
	const char *why = scratch ? check_tail(r, in, &t, scratch) : "there is no memory for it";
	const char **not_observed = why ? t.run.not_observed : r->view->run.not_observed;

	if (!why)
		take_tail(r, &t);
	free(scratch);
	free(not_observed);
	r->tail = !why;
	return why;
}

/* Makes the window of a CPU at least as long as the time lost in it: two anchors of one clock may
 * differ.
 */
static void hold_lost(struct recording *r, uint32_t lane)
{
	struct view *v = r->view;
	uint32_t i = r->lane[lane].index;

	if (!v->run.watch && !v->run.windows && v->cpu[i].observed_ns < v->cpu[i].hiccups.sum)
		v->cpu[i].observed_ns = v->cpu[i].hiccups.sum;
}

void reader_spot(struct recorded_lane *l, const struct spot *s)
{
	if (!l->named || s->tid == l->spot.tid)
		l->spot = *s;
	else
		l->spot = (struct spot){.comm = OTHERS_NAME};
	l->named = true;
}

/* Names the lane, and takes it that the thread was not seen all the time. */
static void name_thread(struct cpu *c, const struct spot *s)
{
	c->observed_ns = 0;
	c->tid = s->tid;
	memcpy(c->comm, s->comm, sizeof(c->comm));
	c->kernel_thread = s->thread == SPOT_THREAD_KERNEL;
}

/* For how long its events show that the CPU was measured. */
static uint64_t known_ns(const struct run *run, const struct recorded_lane *l, const struct cpu *c)
{
	uint64_t ns = l->last_ns > run->started_ns ? l->last_ns - run->started_ns : 0;

	return ns > c->offline.total_ns ? ns - c->offline.total_ns : 0;
}

/* Fills in what the tail would have said, as far as it is known without it. */
static void guess_tail(struct recording *r)
{
	struct run *run = &r->view->run;

	run->duration_ns = 0;
	for (uint32_t i = 0; i < r->nlanes; i++) {
		struct recorded_lane *l = &r->lane[i];
		struct cpu *c = l->index == UINT32_MAX ? NULL : &r->view->cpu[l->index];

		if (!c)
			continue;
		c->observed_ns = known_ns(run, l, c);
		if (run->duration_ns < cpu_window_ns(c))
			run->duration_ns = cpu_window_ns(c);
		if (run->watch)
			name_thread(c, &l->spot);
		c->hiccups_lost = c->hiccups_lost_ns = c->bookkeeping_ns = 0;
		c->closure_known = false;
		hold_lost(r, i);
		if (cpu_window_ns(c) > run->duration_ns)
			run->duration_ns = cpu_window_ns(c);
	}
}

/* ---- what is missing ---- */

static void describe_damage(struct recording *r)
{
	char *text = r->view->run.incomplete;
	size_t len = sizeof(r->view->run.incomplete);
	uint32_t damaged = r->chunks.damaged;
	char after[32], parts[64] = "";

	if (damaged && r->ncannot)
		snprintf(parts, sizeof(parts), "%u damaged part%s left out; ", damaged,
			 damaged == 1 ? " was" : "s were");
	if (r->ncannot)
		snprintf(text, len,
			 "%s%u part%s what cannot be, the first at byte %llu: %s; from there on %s "
			 "left out",
			 parts, r->ncannot, r->ncannot == 1 ? " holds" : "s hold",
			 (unsigned long long)r->cannot_at, r->cannot,
			 r->ncannot == 1 ? "it is" : "they are");
	else if (damaged)
		snprintf(text, len,
			 "%u damaged part%s left out, the first at byte %llu: what was in them is "
			 "missing",
			 damaged, damaged == 1 ? " was" : "s were",
			 (unsigned long long)r->chunks.damaged_at);
	else if (r->chunks.too_much)
		snprintf(text, len,
			 "from byte %llu on it was not read: it unpacks to more than %d times its "
			 "size, which no recording of culprit's does",
			 (unsigned long long)r->chunks.start, UNPACKED_TIMES);
	else if (!r->end)
		snprintf(text, len,
			 "the recording was cut off after %s, at byte %llu: the end is missing",
			 format_ns(r->view->run.duration_ns, after, sizeof(after)),
			 (unsigned long long)r->chunks.start);
	else if (r->hiccups_lost || r->records_lost)
		snprintf(text, len,
			 "the disk was too slow: %llu hiccups and %llu records are missing",
			 (unsigned long long)r->hiccups_lost, (unsigned long long)r->records_lost);
}

/* Forgets losses, because nobody knows when they were. */
static void forget_lost(struct view *v)
{
	uint64_t lost = view_hiccups_lost(v), waits = view_waits_lost(v), unpaired = 0;
	char *text = v->run.incomplete;
	size_t size = sizeof(v->run.incomplete), len;

	v->run.reports_lost = 0;
	for (uint32_t i = 0; i < v->ncpus; i++) {
		v->cpu[i].hiccups_lost = v->cpu[i].hiccups_lost_ns = v->cpu[i].waits_lost = 0;
		if (!view_threads(v))
			continue;
		unpaired += v->cpu[i].unpaired;
		v->cpu[i].unpaired = 0;
	}
	if (text[0])
		return;
	if (lost)
		snprintf(text, size,
			 "%llu hiccups of the whole were not recorded: some may be of this part",
			 (unsigned long long)lost);
	else if (waits)
		snprintf(text, size,
			 "%llu waits of the whole were not added up: some may be of this part",
			 (unsigned long long)waits);
	len = strlen(text);
	if (unpaired)
		snprintf(text + len, size - len,
			 "%s%llu time%s of the whole nobody saw when a thread left its CPU: some "
			 "may be of this part",
			 len ? "; " : "", (unsigned long long)unpaired, plural(unpaired));
}

/* ---- a part of the time ---- */

/* The time between these, from the run's begin on, in which the CPU was measured. */
static uint64_t measured_between(const struct run *run, struct cpu *c, uint64_t begin, uint64_t end)
{
	end = end > begin ? end : begin;
	offline_cut(&c->offline, run->started_ns + begin, run->started_ns + end);
	return end - begin - c->offline.total_ns;
}

/* A hiccup belongs, with all its time, to the part in which it begins; so the part's time lasts to
 * its end. */
static void clip(struct recording *r)
{
	struct run *run = &r->view->run;
	uint64_t whole = run->duration_ns, from = r->part.from_ns, to = r->part.to_ns;

	for (uint32_t i = 0; i < r->nlanes; i++) {
		struct recorded_lane *l = &r->lane[i];
		struct cpu *c = l->index == UINT32_MAX ? NULL : &r->view->cpu[l->index];
		uint64_t begin, end, last;

		if (!c)
			continue;
		begin = from > c->late_ns ? from : c->late_ns;
		last = cpu_end_ns(c);
		end = to && to < last ? to : last;
		if (to && to <= last)
			c->ended = NULL; /* later */
		if (l->cut && !run->watch && !run->windows && l->cut_ns > run->started_ns + begin)
			begin = l->cut_ns - run->started_ns;
		if (l->left_ns > run->started_ns + end && !run->watch && !run->windows)
			end = l->left_ns - run->started_ns;
		end = end < last ? end : last; /* by another anchor the last one may end later */
		c->observed_ns = run->watch ? 0 : measured_between(run, c, begin, end);
		c->closure_known = false;
		cpu_forget_series(c);
		khz_cut(c, run->started_ns + from, run->started_ns + (to ? to : TIME_MAX));
		hold_lost(r, i);
	}
	forget_lost(r->view);
	if (to && to < whole)
		whole = to;
	run->duration_ns = whole > from ? whole - from : 0;
	run->part = true;
}

/* ---- a larger threshold ---- */

void reader_raise_threshold(struct recording *r)
{
	for (uint32_t i = 0; i < r->nlanes && !r->view->run.windows; i++) {
		struct recorded_lane *l = &r->lane[i];
		struct cpu *c = l->index == UINT32_MAX ? NULL : &r->view->cpu[l->index];

		if (!c || c->threshold_ns >= r->part.threshold_ns)
			continue;
		l->measured_from_ns = c->measured_from_ns = c->threshold_ns;
		c->threshold_ns = r->part.threshold_ns;
		if (!c->shorts.known)
			c->shorts =
				(struct short_gaps){.known = true, .from_ns = c->measured_from_ns};
		c->shorts.count += l->below.count;
		c->shorts.total_ns += l->below.total_ns;
	}
}

/* The run's own sums are of all of it: of a part, and of a file that breaks off, only those gaps
 * are known that the larger threshold has made. */
static void forget_shorts(struct recording *r)
{
	for (uint32_t i = 0; i < r->nlanes; i++) {
		struct recorded_lane *l = &r->lane[i];
		struct cpu *c = l->index == UINT32_MAX ? NULL : &r->view->cpu[l->index];

		if (!c)
			continue;
		c->shorts = (struct short_gaps){.known = false};
		if (l->measured_from_ns)
			c->shorts = (struct short_gaps){.known = true,
							.from_ns = l->measured_from_ns,
							.count = l->below.count,
							.total_ns = l->below.total_ns};
	}
}

/* ---- all ---- */

/* A steal clock that rose by more than the time there was is none. */
static void check_steal(struct cpu *c)
{
	if (c->steal_known && c->steal_ns > c->observed_ns + STEAL_NS) {
		c->steal_known = false;
		c->steal_ns = 0;
	}
}

void reader_end(struct recording *r)
{
	bool asked = r->part.from_ns || r->part.to_ns, part = asked || r->view->run.part;

	if (!r->tail)
		guess_tail(r);
	for (uint32_t i = 0; i < r->view->ncpus; i++)
		check_steal(&r->view->cpu[i]);
	describe_damage(r);
	if (r->view->run.watch)
		watch_cut(r->view);
	r->whole_ns = r->view->run.duration_ns;
	if (asked)
		clip(r);
	if (r->tail)
		reader_raise_threshold(r);
	if (!r->tail || part)
		forget_shorts(r);
	if (part || r->view->run.incomplete[0])
		for (uint32_t i = 0; i < r->view->ncpus; i++)
			r->view->cpu[i].counts = *session_counts(r->session, i);
	if (r->view->run.watch)
		watch_count_lost(r->view, 0, true);
	r->view->run.damaged = r->view->run.incomplete[0];
	r->view->run.holes = r->holes || r->chunks.damaged;
	r->view->run.names_lack |= naming_lacks(r->naming);
	view_incomplete(r->view);
	if (!cpus_empty(&r->part.cpus))
		cpus_and(&r->view->run.cpus, &r->part.cpus);
}
