/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of tuning a machine, or of one try: what was tried in which order, with its effect.
 * All that a ticket needs whose reader has to approve the change. */
#ifndef CULPRIT_TUNED_H
#define CULPRIT_TUNED_H

#include "model/tried.h"
#include "model/trigger.h"

#define TUNED_WHY TRIED_WHY

/* One fix, or several that were tried as one. */
struct tuned_step {
	struct tried_fix fix[TRIED_FIXES];
	uint32_t nfixes;
	char why[TUNED_WHY]; /* reason why it could not be tried; "": it could */
	char cut[TRIED_WHY]; /* as in struct tried */
	enum tried_verdict verdict;
	bool kept;
	struct knobs knobs; /* the settings that it changes; owned */
	/* Time of its sources, and of all hiccups: without, with. Known if the verdict is not
	 * TRIED_NOT. */
	struct diff_cell asked[2], total[2];
	uint64_t windows, window_ns;    /* windows of each side */
	bool in_turn;                   /* with and without alternate */
	uint32_t others, gone, offline; /* as in struct tried */
	bool stuck;
};

/* Sums of a window without changes. */
struct tuned_look {
	uint64_t observed_ns;      /* by all CPUs together; 0: nothing is known */
	uint64_t hiccups, lost_ns; /* with those that were not read */
	uint64_t worst_ns;         /* without them */
	uint64_t unread;           /* hiccups that came faster than they could be read */
};

enum tuned_goal {
	GOAL_UNKNOWN, /* not measured in this state, or hiccups were lost */
	GOAL_MET,
	GOAL_MISSED,
};

enum tuned_end {
	TUNED_NOTHING, /* nothing is left that can be tried */
	TUNED_GOAL,    /* the goal is met */
	TUNED_ENOUGH,  /* as many were tried as were allowed */
	TUNED_CUT,     /* ended early: `cut` */
	TUNED_ENDS,
};

struct tuned {
	const struct host *host;
	const struct cpus *cpus; /* measured */
	bool one;                /* a single try: there are no looks */
	struct tuned_step *step; /* owned */
	uint32_t nsteps, room;
	struct tuned_look before, after; /* after: behind the last change, or zeros */
	const char *goal;                /* NULL: none */
	enum tuned_goal reached;         /* as the settings are in the end */
	enum tuned_end end;
	char cut[TUNED_WHY]; /* "SIGINT came", unescaped */
	bool dry;
	char *boot; /* boot parameters that the audit asks for; owned; NULL: none */
};

struct tuned_look tuned_sum_up(const struct view *v); /* the view is complete */

/* By a complete view that these triggers heard from its begin: each of them is a goal's contrary. A
 * hiccup that was not read could have pulled any. */
enum tuned_goal tuned_judge(const struct view *v, const struct triggers *goal);

/* Adds a step of zeros; NULL: out of memory. Valid until the next call. */
struct tuned_step *tuned_add(struct tuned *t);
void tuned_free(struct tuned *t); /* frees its contents */

/* Takes over what a try was, as a step: copies all. 0 or -ENOMEM. */
int tuned_take(struct tuned_step *s, const struct tried *t);

const char *tuned_ended(const struct tuned *t); /* "nothing is left to try"; unescaped */

bool tuned_any_stuck(const struct tuned *t);
bool tuned_any_changed(const struct tuned *t); /* with what was changed back */
uint32_t tuned_kept(const struct tuned *t);    /* number of steps */

/* True for a step that was measured, to its end, and not kept. */
static inline bool tuned_in_vain(const struct tuned_step *s)
{
	return !s->why[0] && !s->cut[0] && !s->kept && s->verdict != TRIED_NOT;
}

#endif
