/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All windows are parts of one recording: the probes are attached once, and the knobs are turned
 * between the parts. They come as A B B A A B ..., so that what drifts all the time is in both
 * sides alike, and each change is followed by a pause that belongs to no window. Fixes that go on
 * for a while after they were taken back are measured behind all windows without them. */
#include "cmd/trial.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "audit/advise.h"
#include "base/confine.h"
#include "base/now.h"
#include "base/say.h"
#include "cmd/cmd.h"
#include "cmd/fixes.h"
#include "cmd/limits.h"
#include "cmd/live.h"
#include "collect/knobs.h"
#include "recording/read.h"

#define PAUSE_NS (500 * NSEC_PER_MSEC)
#define LATE_NS  (30 * NSEC_PER_SEC) /* afterwards the guardian puts things back by itself */

struct turn {
	uint64_t from_ns, to_ns; /* since the run's begin */
	bool with;
};

struct trial {
	struct tried *tried;
	struct measure measure;
	struct guardian *guardian;
	const char *dir;
	struct view *live; /* view of the whole measurement */

	struct turn turn[DIFF_RECORDINGS];
	uint32_t at, wanted; /* windows */
	uint32_t sure;       /* windows before the last turn, which found all as it had to be */
	bool on, was_on, over, failed, again;
	bool stopped; /* by a signal */
	bool blind;   /* in a window no time was observed: the sampler had no turn */

	struct view view[DIFF_RECORDINGS];
	struct recording *recording[DIFF_RECORDINGS];
	uint32_t nviews;
	const struct view *side[2][DIFF_RECORDINGS];
	uint32_t nside[2];
	struct diff diff;
};

static struct trial *make_trial(struct tried *t, const struct measure *m, struct guardian *g,
				const char *dir)
{
	struct trial *r = calloc(1, sizeof(*r));

	if (r)
		*r = (struct trial){.tried = t,
				    .measure = *m,
				    .guardian = g,
				    .dir = dir,
				    .live = calloc(1, sizeof(*r->live)),
				    .wanted = 2 * t->windows};
	if (r && r->live)
		return r;
	free(r);
	complain("out of memory");
	return NULL;
}

struct trial *trial_new(struct tried *t, const struct measure *m, const char *dir, const char *boot)
{
	struct guardian *g;
	struct trial *r;

	if (journal_write(dir, boot, &t->knobs))
		return NULL;
	g = guardian_start(&t->knobs, dir, boot, &m->housekeeping);
	r = g ? make_trial(t, m, g, dir) : NULL;
	if (r)
		return r;
	if (g)
		guardian_end(g, false, NULL);
	else
		guardian_restore(&t->knobs, dir, boot, false, NULL);
	return NULL;
}

void trial_again(struct trial *r)
{
	r->again = true;
}

void trial_free(struct trial *r)
{
	if (!r)
		return;
	diff_free(&r->diff);
	for (uint32_t i = 0; i < r->nviews; i++) {
		view_free(&r->view[i]);
		recording_close(r->recording[i]);
	}
	view_free(r->live);
	free(r->live);
	free(r);
}

/* ---- the windows ---- */

static bool has_fixes(const struct trial *r, uint32_t window)
{
	return r->tried->in_turn ? (window + 1) / 2 % 2 : window >= r->tried->windows;
}

/* The settings are no longer those of the try. */
static void lose(struct trial *r, const char *why)
{
	struct tried *t = r->tried;

	if (!*t->cut)
		snprintf(t->cut, sizeof(t->cut), "%s", why);
	t->lost = true;
	r->at = r->sure;
}

static int turn_to(struct trial *r, bool on)
{
	enum turned turned;
	char why[KNOB_WHY];
	uint64_t for_ns = r->tried->windows * (r->tried->window_ns + PAUSE_NS) + LATE_NS;

	if (r->on && on)
		return 0;
	/* looks also at those that are back already: they may be lost by now */
	turned = guardian_turn(r->guardian, on, for_ns, why);
	r->on = on && turned == TURNED;
	if (turned == TURNED) {
		r->was_on |= on;
		r->sure = r->at;
		return 0;
	}
	if (turned != TURNED_ERROR)
		lose(r, why);
	/* never taken by the kernel is not lost */
	r->failed |= turned == TURNED_ERROR || (turned == TURNED_REFUSED && !r->was_on);
	return -1;
}

/* Plans the next window, which begins now, or after a pause if something has to be changed. */
static int next_window(struct trial *r)
{
	struct turn *next = &r->turn[r->at];
	bool with = has_fixes(r, r->at), change = with != r->on;

	if (turn_to(r, with))
		return -1;
	next->with = with;
	next->from_ns = now_ns() - r->live->run.started_ns + (change || !r->at ? PAUSE_NS : 0);
	next->to_ns = next->from_ns + r->tried->window_ns;
	return 0;
}

static int begin(void *ctx)
{
	struct trial *r = ctx;

	return next_window(r);
}

static bool step(void *ctx)
{
	struct trial *r = ctx;

	if (!guardian_lives(r->guardian)) {
		r->failed = true;
		return false;
	}
	if (r->over)
		return false; /* the engine has ended */
	if (now_ns() - r->live->run.started_ns < r->turn[r->at].to_ns)
		return true;
	if (++r->at == r->wanted)
		return false;
	return !next_window(r);
}

/* Turns the fix back before the engine ends, which may wait for samplers and for the disk: also
 * where the guardian is gone, or the user wants to end. */
static void over(void *ctx)
{
	struct trial *r = ctx;

	r->over = true;
	r->stopped = measure_stop;
	turn_to(r, false);
}

static int end(void *ctx)
{
	(void)ctx;
	return EXIT_OK;
}

static int measure(struct trial *r)
{
	struct collect_options co;
	char path[PATH_MAX], words[PATH_MAX + 64];
	struct live live = {.measure = &r->measure,
			    .engine = &collect_engine,
			    .engine_options = &co,
			    .view = r->live,
			    .record_to = journal_recording(r->dir, path, sizeof(path)),
			    .force = true,
			    .scratch = words,
			    .keeps = r->again ? RIGHTS_ALL : RIGHTS_OF_KNOBS | RIGHTS_OF_FILES,
			    .ctx = r,
			    .too_early = EXIT_INCOMPLETE,
			    .begin = begin,
			    .step = step,
			    .over = over,
			    .end = end};
	int code;

	snprintf(words, sizeof(words), "the try is over: what it measures cannot be kept in %s",
		 r->dir);
	r->measure.duration_ns = UINT64_MAX;
	r->live->host = *r->tried->host;
	co = measure_collect(&r->measure);
	code = live_run(&live);
	return r->failed ? EXIT_ERROR : code;
}

struct look {
	struct view *view;
	struct triggers *goal;
};

static int begin_goal(void *ctx)
{
	struct look *l = ctx;

	return limits_begin_triggers(l->goal, l->view);
}

static void hear_goal(void *ctx, uint32_t index, const struct account *a)
{
	struct look *l = ctx;
	struct trigger_hit hit;

	triggers_hear(l->goal, l->view, index, a, &hit);
}

int trial_look(struct view *v, struct measure *m, uint64_t duration_ns, struct triggers *goal)
{
	struct measure mine = *m;
	struct collect_options co;
	struct look look = {v, goal};
	struct live live = {.measure = &mine,
			    .engine = &collect_engine,
			    .engine_options = &co,
			    .view = v,
			    .keeps = RIGHTS_ALL, /* another measurement follows */
			    .too_early = EXIT_INCOMPLETE,
			    .ctx = &look,
			    .begin = goal ? begin_goal : NULL,
			    .hiccup = goal ? hear_goal : NULL,
			    .end = end};
	int code;

	mine.duration_ns = duration_ns;
	co = measure_collect(&mine);
	code = live_run(&live);
	m->begin = (struct measure_begin){0};
	if (goal)
		triggers_free(goal);
	if (code != EXIT_OK || !measure_stop)
		return code;
	complain("%s: no fix is tried any more", measure_end_name());
	return EXIT_INCOMPLETE;
}

/* ---- what they differ in ---- */

static bool observed(const struct view *v)
{
	for (uint32_t i = 0; i < v->ncpus; i++)
		if (v->cpu[i].observed_ns)
			return true;
	return false;
}

/* Reads the window's part of the recording, as a run of its own. 0 or -1. */
static int read_window(struct trial *r, const char *path, const struct turn *turn)
{
	const struct part part = {.from_ns = turn->from_ns, .to_ns = turn->to_ns};
	struct view *v = &r->view[r->nviews];
	uint64_t started;

	r->recording[r->nviews] = recording_open(path, &part, v);
	if (!r->recording[r->nviews])
		return -1;
	recording_finish(r->recording[r->nviews++]);
	v->run.started_ns += turn->from_ns;
	if (!parse_iso_time(v->run.started, &started))
		format_iso_time(started + turn->from_ns, v->run.started);
	if (advise(v))
		return complain("out of memory");
	if (!observed(v)) {
		r->blind = true;
		return 0;
	}
	r->side[turn->with][r->nside[turn->with]++] = v;
	return 0;
}

static int compare(struct trial *r)
{
	struct tried *t = r->tried;
	char path[PATH_MAX];
	int err = 0;

	journal_recording(r->dir, path, sizeof(path));
	for (uint32_t i = 0; i < r->at && !err; i++)
		err = read_window(r, path, &r->turn[i]);
	if (err)
		return -1;
	if (r->nside[0] < 2 || r->nside[1] < 2)
		return 0;
	err = diff_make(
		&r->diff,
		(const struct diff_side[]){{r->side[0], r->nside[0]}, {r->side[1], r->nside[1]}}, 2,
		DIFF_BETWEEN);
	if (!err)
		err = diff_together(&r->diff, fixes_meant, t, t->asked);
	if (err)
		return complain("out of memory");
	t->diff = &r->diff;
	t->verdict = tried_judge(t);
	return 0;
}

/* Says why it ended early, if it did. said: lines that told of its settings already. */
static void tell_end(struct trial *r, int code, uint32_t said)
{
	const char *incomplete = r->live->run.incomplete;
	struct tried *t = r->tried;

	if (*t->cut || code != EXIT_INCOMPLETE)
		;
	else if (*incomplete && !r->stopped)
		snprintf(t->cut, sizeof(t->cut), "%s", incomplete);
	else if (measure_stop && r->at < r->wanted)
		snprintf(t->cut, sizeof(t->cut), "%s", measure_end_name());
	if (t->lost && !t->stuck && !said)
		say("%s%s", r->failed ? "" : "the try ended early: ", t->cut);
}

int trial_run(struct trial *r, bool keep)
{
	struct tried *t = r->tried;
	struct guardian_sum sum = {0};
	int code = measure(r);

	if (code != EXIT_ERROR && compare(r))
		code = EXIT_ERROR;
	journal_scrap(r->dir);
	t->whole = r->at == r->wanted && (t->diff || !r->blind);
	if (code == EXIT_OK && keep && t->whole && t->verdict == TRIED_HELPS) {
		t->kept = !turn_to(r, true);
		code = r->failed ? EXIT_ERROR : code;
	}
	if (guardian_end(r->guardian, t->kept, &sum)) {
		t->kept = false;
		t->stuck = true;
		code = EXIT_ERROR;
	}
	t->others = sum.others;
	t->gone = sum.gone;
	t->offline = sum.offline;
	if (code == EXIT_OK && (!t->whole || t->lost))
		code = EXIT_INCOMPLETE;
	tell_end(r, code, sum.said);
	if (code == EXIT_OK && t->verdict != TRIED_HELPS)
		code = EXIT_CROSSED;
	return code;
}
