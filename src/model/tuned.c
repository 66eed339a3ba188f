/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/tuned.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct tuned_look tuned_sum_up(const struct view *v)
{
	struct tuned_look l = {0};

	for (uint32_t i = 0; i < v->ncpus; i++) {
		const struct cpu *c = &v->cpu[i];

		l.observed_ns += c->observed_ns;
		l.hiccups += c->hiccups.count + c->hiccups_lost;
		l.lost_ns += c->hiccups.sum + c->hiccups_lost_ns;
		l.unread += c->hiccups_lost;
		if (c->hiccups.count && c->hiccups.max > l.worst_ns)
			l.worst_ns = c->hiccups.max;
	}
	return l;
}

enum tuned_goal tuned_judge(const struct view *v, const struct triggers *goal)
{
	for (uint32_t i = 0; i < goal->count; i++)
		if (goal->row[i].pulled)
			return GOAL_MISSED;
	for (uint32_t i = 0; i < v->ncpus; i++)
		if (!v->cpu[i].observed_ns || v->cpu[i].hiccups_lost)
			return GOAL_UNKNOWN;
	return goal->count && v->ncpus ? GOAL_MET : GOAL_UNKNOWN;
}

struct tuned_step *tuned_add(struct tuned *t)
{
	struct tuned_step *grown = t->step;

	if (t->nsteps == t->room) {
		grown = realloc(t->step, (t->room + 16) * sizeof(*grown));
		if (!grown)
			return NULL;
		t->step = grown;
		t->room += 16;
	}
	grown[t->nsteps] = (struct tuned_step){0};
	return &grown[t->nsteps++];
}

void tuned_free(struct tuned *t)
{
	for (uint32_t i = 0; i < t->nsteps; i++)
		knobs_free(&t->step[i].knobs);
	free(t->step);
	free(t->boot);
	t->step = NULL;
	t->boot = NULL;
	t->nsteps = t->room = 0;
}

int tuned_take(struct tuned_step *s, const struct tried *t)
{
	memcpy(s->fix, t->fix, sizeof(s->fix));
	s->nfixes = t->nfixes;
	s->verdict = t->verdict;
	s->kept = t->kept;
	s->windows = t->windows;
	s->window_ns = t->window_ns;
	s->in_turn = t->in_turn;
	s->others = t->others;
	s->gone = t->gone;
	s->offline = t->offline;
	s->stuck = t->stuck;
	memcpy(s->cut, t->cut, sizeof(s->cut));
	if (t->diff) {
		memcpy(s->asked, t->asked, sizeof(s->asked));
		memcpy(s->total, t->diff->total, sizeof(s->total));
	}
	for (uint32_t i = 0; i < t->knobs.count; i++) {
		const struct knob *k = &t->knobs.row[i];
		struct knob *mine;

		if (k->kept)
			continue; /* an earlier try's */
		mine = knobs_add(&s->knobs, k->kind, k->path, k->old, k->new);
		if (!mine)
			return -ENOMEM;
		mine->tid = k->tid;
		mine->born = k->born;
		memcpy(mine->comm, k->comm, sizeof(mine->comm));
	}
	return 0;
}

const char *tuned_ended(const struct tuned *t)
{
	static const char *const names[TUNED_ENDS] = {
		[TUNED_NOTHING] = "nothing is left to try",
		[TUNED_GOAL] = "the goal is met",
		[TUNED_ENOUGH] = "as many fixes were tried as were allowed",
	};

	return t->end == TUNED_CUT ? t->cut : names[t->end];
}

bool tuned_any_stuck(const struct tuned *t)
{
	for (uint32_t i = 0; i < t->nsteps; i++)
		if (t->step[i].stuck)
			return true;
	return false;
}

bool tuned_any_changed(const struct tuned *t)
{
	for (uint32_t i = 0; i < t->nsteps; i++)
		if (t->step[i].knobs.count)
			return true;
	return false;
}

uint32_t tuned_kept(const struct tuned *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->nsteps; i++)
		n += t->step[i].kept;
	return n;
}
