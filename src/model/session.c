/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/session.h"

#include <stdlib.h>
#include <string.h>

#include "model/outside.h"
#include "model/session_names.h"
#include "model/summary.h"

/* Something outside the kernel that waits for session_meet: a gap, or with end 0 a reading of the
 * steal clock. */
struct waiting {
	uint64_t place, start_ns, end_ns, ns;
	uint32_t index;
};

/* State of a lane while others are fed, too. */
struct lane_apart {
	struct summary_apart summary;
	struct waiting *waiting;
	size_t nwaiting, room;
};

struct session_lane {
	struct join *join;
	struct intervals *intervals;
	uint64_t steal_ns;        /* base of its steal clock */
	struct spot spot;         /* spot of its next hiccup */
	struct lane_apart *apart; /* NULL: nothing yet */
};

struct session {
	struct view *view;
	bool spans, intervals, real_time, windows; /* options of all lanes */
	struct session_lane *lane;
	uint32_t nlanes; /* the view may be cut before the session is freed */
	struct outside *outside;
	const struct names *asked;
	bool kept; /* asked directly: nobody has to keep or hear the names */
	const struct tap *tap;
	const struct divider *divider;
	struct session_names names;
};

/* ---- the session ---- */

static const struct spot no_spot = {.cpu = SPOT_UNKNOWN};

/* Opens the lane when its first event comes: a recording may name thousands of CPUs, and hold
 * something of a few. */
static bool open_lane(struct session *s, uint32_t i)
{
	struct session_lane *l = &s->lane[i];
	const struct view *v = s->view;

	l->join = join_new(&(struct join_options){
		.sources = &s->view->cpu[i].sources,
		.ticks = &s->view->cpu[i].ticks,
		.bystanders = s->windows ? &s->view->cpu[i].bystanders : NULL,
		.intervals = l->intervals,
		.spans = s->spans,
		.real_time = s->real_time,
		.windows = s->windows,
		.names = s->kept    ? s->asked
			 : s->asked ? &s->names.names
				    : NULL,
		.threshold_ns = v->cpu[i].threshold_ns,
		.bounds = v->cpu[i].bounds});
	return l->join;
}

static int prepare_lane(struct session *s, uint32_t i)
{
	struct session_lane *l = &s->lane[i];

	l->spot = no_spot;
	if (!s->view->run.watch)
		l->spot.cpu = s->view->cpu[i].number;
	l->intervals = s->intervals ? calloc(1, sizeof(*l->intervals)) : NULL;
	return s->intervals && !l->intervals ? -1 : 0;
}

struct session *session_new(const struct session_options *o)
{
	struct session *s = calloc(1, sizeof(*s));
	bool ok;

	if (!s)
		return NULL;
	s->view = o->view;
	s->asked = o->names;
	s->tap = o->tap;
	s->divider = o->divider;
	s->kept = o->kept && !o->tap;
	s->spans = s->view->drawn = o->spans;
	s->intervals = o->intervals;
	s->windows = o->view->run.windows;
	/* A workload sleeps, and who has the CPU meanwhile was let in by nobody; of watched threads
	 * the watch stage tells. */
	s->real_time = o->view->run.real_time && !s->windows;
	session_names_init(&s->names, o);
	s->nlanes = o->view->ncpus;
	s->lane = calloc(s->nlanes, sizeof(*s->lane));
	s->outside = outside_new(o->view, !o->view->run.traced   ? WORD_NOT_TRACED
					  : o->view->run.rest[0] ? WORD_REST
								 : WORD_HARDWARE);
	ok = s->lane && s->outside;
	for (uint32_t i = 0; ok && i < s->nlanes; i++)
		ok = !prepare_lane(s, i);
	if (ok)
		return s;
	session_free(s);
	return NULL;
}

static void free_apart(struct lane_apart *a)
{
	if (!a)
		return;
	for (uint32_t i = 0; i < a->summary.n; i++)
		worst_free(&a->summary.worst[i]);
	free(a->waiting);
	free(a);
}

void session_free(struct session *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; s->lane && i < s->nlanes; i++) {
		join_free(s->lane[i].join);
		free(s->lane[i].intervals);
		free_apart(s->lane[i].apart);
	}
	outside_free(s->outside);
	free(s->lane);
	free(s);
}

/* False: no memory. */
static bool wait_for_others(struct lane_apart *a, const struct waiting *w)
{
	if (a->nwaiting == a->room) {
		size_t room = a->room ? 2 * a->room : 64;
		struct waiting *more = reallocarray(a->waiting, room, sizeof(*more));

		if (!more)
			return false;
		a->waiting = more;
		a->room = room;
	}
	a->waiting[a->nwaiting++] = *w;
	return true;
}

/* Threads that wait together say nothing of stopped CPUs. */
static void take_outside(struct session *s, uint32_t i, const struct account *a, uint64_t place)
{
	const struct waiting gap = {place, a->start_ns, a->start_ns + a->duration_ns,
				    a->outside_ns - a->host_nothing_ns - a->host_not_covered_ns, i};

	if (a->host_nothing_ns)
		summary_outside(s->view, i, a->start_ns, a->host_nothing_ns, WORD_HOST_NOTHING);
	if (a->host_not_covered_ns)
		summary_outside(s->view, i, a->start_ns, a->host_not_covered_ns,
				WORD_HOST_NOT_COVERED);
	if (!gap.ns)
		return;
	if (s->view->run.watch)
		summary_outside(s->view, i, a->start_ns, a->outside_ns, WORD_REST);
	else if (!s->lane[i].apart)
		outside_add(s->outside, i, gap.start_ns, gap.end_ns, gap.ns);
	else if (!wait_for_others(s->lane[i].apart, &gap))
		summary_outside(s->view, i, a->start_ns, a->outside_ns, WORD_HARDWARE);
}

static const struct account *take_hiccup(struct session *s, uint32_t i, const struct hiccup *h,
					 uint64_t place)
{
	struct account *a = join_hiccup(s->lane[i].join, h);

	if (s->divider && a->outside_ns)
		a = s->divider->divide(s->divider->ctx, i, a);
	a->spot = s->lane[i].spot;
	if (s->view->run.watch)
		s->lane[i].spot = no_spot;
	if (s->lane[i].apart)
		summary_add_apart(s->view, i, a, place, &s->lane[i].apart->summary);
	else
		summary_add(s->view, i, a);
	if (a->outside_ns)
		take_outside(s, i, a, place);
	return a;
}

static void take_steal(struct session *s, uint32_t i, uint64_t ns, uint64_t place)
{
	struct cpu *c = &s->view->cpu[i];

	if (!c->steal_known)
		s->lane[i].steal_ns = ns;
	c->steal_known = true;
	/* the steal clock of some kernels falls */
	c->steal_ns = ns > s->lane[i].steal_ns ? ns - s->lane[i].steal_ns : 0;
	if (!s->lane[i].apart)
		outside_steal(s->outside, i, ns);
	else
		wait_for_others(s->lane[i].apart,
				&(struct waiting){.place = place, .ns = ns, .index = i});
}

static const struct account *feed(struct session *s, const struct event *e, uint64_t place)
{
	const struct account *a = NULL;

	switch (e->type) {
	case EVENT_START:
		join_start(s->lane[e->index].join, e->cursor);
		break;
	case EVENT_RECORD:
		join_record(s->lane[e->index].join, e->record);
		break;
	case EVENT_HICCUP:
		a = take_hiccup(s, e->index, e->hiccup, place);
		break;
	case EVENT_RELIEVE:
		join_relieve(s->lane[e->index].join, e->ns);
		break;
	case EVENT_WHERE:
		s->lane[e->index].spot = *e->spot;
		break;
	case EVENT_STEAL:
		take_steal(s, e->index, e->ns, place);
		break;
	default:
		return NULL;
	}
	session_tell(s->tap, e);
	return a;
}

const struct account *session_feed(struct session *s, const struct event *e)
{
	if (e->index >= s->nlanes || (!s->lane[e->index].join && !open_lane(s, e->index)))
		return NULL;
	return feed(s, e, 0);
}

/* ---- lanes apart from each other ---- */

struct join *session_join(struct session *s, uint32_t index)
{
	if (index >= s->nlanes || (!s->lane[index].join && !open_lane(s, index)))
		return NULL;
	return s->lane[index].join;
}

const struct account *session_feed_apart(struct session *s, const struct event *e, uint64_t place)
{
	struct session_lane *l = session_join(s, e->index) ? &s->lane[e->index] : NULL;

	if (l && !l->apart)
		l->apart = calloc(1, sizeof(*l->apart));
	return l && l->apart ? feed(s, e, place) : NULL;
}

static int by_place(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	return x->place < y->place ? -1 : x->place > y->place;
}

static void meet_outside(struct session *s, struct waiting *w, size_t n)
{
	qsort(w, n, sizeof(*w), by_place);
	for (size_t i = 0; i < n; i++)
		if (w[i].end_ns)
			outside_add(s->outside, w[i].index, w[i].start_ns, w[i].end_ns, w[i].ns);
		else
			outside_steal(s->outside, w[i].index, w[i].ns);
}

void session_meet(struct session *s)
{
	struct summary_apart **summary = calloc(s->nlanes, sizeof(struct summary_apart *));
	struct waiting *all = NULL;
	size_t n = 0;

	for (uint32_t i = 0; i < s->nlanes; i++) {
		n += s->lane[i].apart ? s->lane[i].apart->nwaiting : 0;
		if (summary && s->lane[i].apart)
			summary[i] = &s->lane[i].apart->summary;
	}
	if (summary)
		summary_meet(s->view, summary, s->nlanes);
	free(summary);
	all = n ? calloc(n, sizeof(*all)) : NULL;
	n = 0;
	for (uint32_t i = 0; i < s->nlanes && all; i++) {
		struct lane_apart *a = s->lane[i].apart;

		if (a && a->nwaiting)
			memcpy(all + n, a->waiting, a->nwaiting * sizeof(*all));
		n += a ? a->nwaiting : 0;
	}
	if (all)
		meet_outside(s, all, n);
	for (uint32_t i = 0; i < s->nlanes; i++)
		if (s->lane[i].apart)
			s->lane[i].apart->nwaiting = 0;
	free(all);
}

/* Lets the rows tell who was there. */
static void find_suspects(struct view *v)
{
	char said[SUSPECTS_SAID];
	const char *text;

	text = suspects_find(&v->suspects, &v->suspect) ? NULL
							: suspects_say(v, said, sizeof(said));
	text = view_text(v, text);
	for (uint32_t i = 0; i < v->ncpus && text; i++)
		for (uint32_t k = 0; k < v->cpu[i].sources.count; k++)
			if (v->cpu[i].sources.row[k]->word == WORD_SIMULTANEOUS)
				v->cpu[i].sources.row[k]->together = text;
}

void session_finish(struct session *s)
{
	outside_finish(s->outside);
	for (uint32_t i = 0; i < s->view->ncpus; i++) {
		sources_end_runs(&s->view->cpu[i].sources);
		sources_last(&s->view->cpu[i].sources, SOURCE_OUTSIDE);
	}
	session_names_finish(s->view, s->kept ? s->asked : s->asked ? &s->names.names : NULL);
	summary_settle(s->view);
	find_suspects(s->view);
}

uint32_t session_waiting(const struct session *s, uint32_t index)
{
	return s->lane[index].join ? join_waiting(s->lane[index].join) : 0;
}

const struct join_counts *session_counts(const struct session *s, uint32_t index)
{
	static const struct join_counts none;

	return s->lane[index].join ? join_counts(s->lane[index].join) : &none;
}

const struct coincidences *session_coincidences(const struct session *s)
{
	return outside_coincidences(s->outside);
}

struct intervals *session_intervals(const struct session *s, uint32_t index)
{
	return s->lane[index].intervals;
}
