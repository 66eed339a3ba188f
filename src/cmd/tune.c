/* SPDX-License-Identifier: GPL-2.0-or-later */
/* culprit tune: tries one fix after the other, the costliest cause first, and keeps what helps. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/book.h"
#include "audit/conclude.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/fixes.h"
#include "cmd/limits.h"
#include "cmd/setup.h"
#include "cmd/ticket.h"
#include "cmd/trial.h"
#include "cmd/undo.h"
#include "collect/host.h"
#include "collect/knobs.h"
#include "render/schemas.h"

#define WINDOWS    5 /* number of each side, for each fix */
#define WINDOW_MIN (200 * NSEC_PER_MSEC)
#define TRIES_MAX  256

struct options {
	struct measure measure;
	struct output output;
	int format;
	const char *state;
	struct triggers goal;
	uint64_t look_ns, tries;
	bool dry, undo;
	struct setup_files files;
};

#define FIELD(name) offsetof(struct options, name)

static const struct opt goal_opts[] = {
	{0, "until", "GOAL",
	 "end when this is so in such a window: 'worst<20us', 'lost<0.1%/1s', 'count<10/s'; may "
	 "be given several times: all of them; culprit help triggers has the words",
	 0, limits_set_trigger},
	{0},
};

static const struct opt tune_opts[] = {
	{'d', "duration", "TIME",
	 "how long the windows of one fix take together: 10s, 5m; a bare number is seconds",
	 FIELD(measure.duration_ns), opt_set_duration, .preset = "20 s"},
	{.include = measure_opts, .offset = FIELD(measure)},
	{0, "look", "TIME",
	 "how long a window without changes is, before the first fix and after each that was kept",
	 FIELD(look_ns), opt_set_duration, .preset = "5 s"},
	{.include = goal_opts,
	 .offset = FIELD(goal),
	 .arg = &(const unsigned){RUN_TRIGGERS | TRIGGER_GOAL}},
	{'n', "tries", "N", "try at most so many fixes", FIELD(tries), measure_set_count,
	 .arg = &(const struct measure_range){1, TRIES_MAX}, .preset = "32"},
	{0, "dry-run", NULL, "say in which order what would be tried, and change nothing",
	 FIELD(dry),
	 .excludes = "undo,tuned,ansible,service,sysctl,performance-profile,kernel-words",
	 .why = "changes nothing"},
	{0, "undo", NULL, "put back all that tune and try have left in force", FIELD(undo),
	 .excludes = "duration,cpus,threshold,priority,housekeeping,clock,begin,look,until,tries,"
		     "tuned,ansible,service,sysctl,performance-profile,kernel-words,format,output",
	 .why = "only puts back what is in force"},
	{0, "state", "DIR", NULL, FIELD(state), opt_set_string},
	{.include = setup_opts, .offset = FIELD(files)},
	{'q', "quiet", NULL, "print no progress, and not beforehand what is tried",
	 FIELD(measure.quiet)},
	{'f', "format", "FORMAT", "the format of the report", FIELD(format), opt_set_choice,
	 .choices = OPT_CHOICES(ticket_formats), .preset = "text"},
	{.include = output_file_opts, .offset = FIELD(output.path)},
	OPT_SCHEMA(schema_tune),
	{0},
};

static const struct opt_example tune_examples[] = {
	{"sudo culprit tune -c 3 --dry-run", "what would be tried there"},
	{"sudo culprit tune -c 3 --until 'worst<20us' --tuned ./quiet",
	 "until no hiccup is longer, and what helped as a tuned profile"},
	{"sudo culprit tune -c 2,3 -f markdown -o ticket.md", "for who has to approve it"},
	{"sudo culprit tune --undo", "takes back what is in force"},
	{0},
};

const struct opt_command tune_usage = {
	.name = "tune",
	.operands = "[CAUSE...]",
	.summary = "try one fix after the other, and keep what helps",
	.about = "Measures a window, takes the cause that costs most and whose fix is a setting of "
		 "the running kernel, tries it as culprit try does, without and with it, "
		 "and keeps it if its sources take less time, with 95 % confidence, and all "
		 "hiccups together no more. Then it goes on with the next, until nothing is left "
		 "to try or the goal is met. In the end it lists what was kept and what that "
		 "brought, what was tried in vain, what could not be tried, and what needs a "
		 "boot. With a CAUSE, as culprit try takes it, only fixes of these are "
		 "tried.\n\nWhat "
		 "was kept stays in force, also when it is ended early, until --undo "
		 "or a reboot; what is being tried is put back, also when it is killed. It leaves "
		 "alone what culprit try leaves alone.\n\nExit status: 0 done, and the goal, if "
		 "there is one, is met, 1 error, 2 the goal is not met, or that is not known "
		 "because hiccups were lost, 3 it was ended early. Of --dry-run and --undo: 0 "
		 "done, 1 error.",
	.opts = tune_opts,
	.examples = tune_examples,
	.environment = (const struct opt_choice[]){ENV_NO_COLOR, ENV_COLUMNS, {0}},
};

struct tuning {
	struct options *o;
	struct tuned result;
	struct host host;
	struct view *view;             /* view of the last whole look; NULL: none yet */
	struct wish only[TRIED_FIXES]; /* none: all */
	uint32_t nonly;
	struct wish done[TRIES_MAX]; /* those that could not be tried, too */
	uint32_t ndone, tried;
	char boot[BOOT_ID];
};

/* ---- looks ---- */

/* NULL: nothing */
static void drop_view(struct view *v)
{
	if (v)
		view_free(v);
	free(v);
}

/* Measures without changing anything. Returns the exit code. A look that was cut leaves the view of
 * the last one. */
static int look(struct tuning *t)
{
	struct triggers *goal = &t->o->goal;
	struct view *v = calloc(1, sizeof(*v));
	int code;

	if (!v) {
		complain("out of memory");
		return EXIT_ERROR;
	}
	v->host = t->host;
	for (uint32_t i = 0; i < goal->count; i++)
		goal->row[i].pulled = 0;
	code = trial_look(v, &t->o->measure, t->o->look_ns, goal->count ? goal : NULL);
	if (code != EXIT_OK) {
		snprintf(t->result.cut, sizeof(t->result.cut), "%s", v->run.incomplete);
		drop_view(v);
		return code;
	}
	*(t->view ? &t->result.after : &t->result.before) = tuned_sum_up(v);
	t->result.reached = tuned_judge(v, goal);
	drop_view(t->view);
	t->view = v;
	return EXIT_OK;
}

/* The settings are no longer what they were in the last look. */
static void forget_looks(struct tuning *t)
{
	t->result.after = (struct tuned_look){0};
	t->result.reached = GOAL_UNKNOWN;
}

/* ---- steps ---- */

/* Begins a step of this cause. NULL with the reason said. */
static struct tuned_step *add_step(struct tuning *t, const struct wish *which)
{
	struct tuned_step *s = tuned_add(&t->result);

	if (!s) {
		complain("out of memory");
		return NULL;
	}
	s->fix[0] = (struct tried_fix){which->cause->id, which->cause->title, which->number,
				       which->cause->lag_s};
	s->nfixes = 1;
	t->done[t->ndone++] = *which;
	return s;
}

/* Tries what is planned. Returns an exit code of trial_run. */
static int run_trial(struct tuning *t, struct tried *tried, struct tuned_step *s)
{
	struct trial *r = trial_new(tried, &t->o->measure, t->o->state, t->boot);
	int code = EXIT_ERROR;

	if (!r)
		return EXIT_ERROR;
	trial_again(r);
	code = trial_run(r, true);
	if (tuned_take(s, tried)) {
		complain("out of memory");
		code = EXIT_ERROR;
	}
	trial_free(r);
	return code;
}

/* Says what comes next. */
static void announce(const struct tuning *t, const struct tried *tried)
{
	const struct tried_fix *f = &tried->fix[0];
	char number[24] = "";

	if (t->o->measure.quiet || t->o->dry)
		return;
	if (f->number)
		snprintf(number, sizeof(number), ": %u", f->number);
	say("trying [%s] %s%s", f->id, f->title, number);
}

enum outcome { STEP_FAILED = -1, STEP_NONE, STEP_IN_VAIN, STEP_KEPT };

/* Tries the next fix. *code: the exit code, if that was the end. */
static enum outcome step(struct tuning *t, int *code)
{
	struct tried tried = {.host = &t->host,
			      .cpus = &t->o->measure.cpus,
			      .in_turn = true,
			      .windows = WINDOWS,
			      .window_ns = t->o->measure.duration_ns / (2 * WINDOWS)};
	enum outcome outcome = STEP_FAILED;
	const struct fixes_choice all = {t->only, t->nonly, t->done, t->ndone};
	struct tuned_step *s;
	struct wish which;
	char why[KNOB_WHY];
	int err;

	*code = EXIT_ERROR;
	if (!t->o->dry && undo_kept(t->o->state, &tried.knobs))
		return STEP_FAILED;
	err = fixes_next(&tried, t->view, &t->o->measure, &all, &which, why);
	if (err == 1) {
		outcome = STEP_NONE;
	} else if (err == -ENOMEM) {
		complain("out of memory");
	} else if ((s = add_step(t, &which)) && err) {
		snprintf(s->why, sizeof(s->why), "%s", why);
		outcome = STEP_IN_VAIN;
	} else if (s && t->o->dry) {
		t->tried++;
		outcome = tuned_take(s, &tried) ? STEP_FAILED : STEP_IN_VAIN;
	} else if (s) {
		t->tried++;
		tried.in_turn = !tried.fix[0].lag_s;
		announce(t, &tried);
		*code = run_trial(t, &tried, s);
		if (tried.stuck)
			forget_looks(t);
		outcome = tried.kept                                    ? STEP_KEPT
			  : *code == EXIT_OK || *code == EXIT_CROSSED   ? STEP_IN_VAIN
			  : tried.lost && !tried.stuck && !measure_stop ? STEP_IN_VAIN
									: STEP_FAILED;
		if (outcome == STEP_FAILED && !measure_stop)
			memcpy(t->result.cut, tried.cut, sizeof(tried.cut));
	}
	knobs_free(&tried.knobs);
	return outcome;
}

/* Says which of the causes that were asked for there was nothing of. 0 or -1. */
static int say_unseen(struct tuning *t)
{
	for (uint32_t i = 0; i < t->nonly && t->ndone < TRIES_MAX; i++) {
		const struct wish *w = &t->only[i];
		struct tuned_step *s;
		uint32_t at = 0;

		while (at < t->ndone && (t->done[at].cause != w->cause ||
					 (w->number && t->done[at].number != w->number)))
			at++;
		if (at < t->ndone)
			continue;
		s = add_step(t, w);
		if (!s)
			return -1;
		snprintf(s->why, sizeof(s->why), "%s",
			 w->cause->knob.kind ? "no source that it could be tried for came in a "
					       "window without changes"
					     : "its fix is no setting that can be changed while "
					       "the machine runs");
	}
	return 0;
}

/* Goes on until the end. Returns the exit code. */
static int go(struct tuning *t)
{
	enum outcome outcome;
	int code = look(t);

	while (code == EXIT_OK) {
		if (t->result.reached == GOAL_MET && !t->o->dry) {
			t->result.end = TUNED_GOAL;
			return EXIT_OK;
		}
		do {
			if (t->tried == t->o->tries || t->ndone == TRIES_MAX) {
				t->result.end = TUNED_ENOUGH;
				return EXIT_OK;
			}
			outcome = step(t, &code);
		} while (outcome == STEP_IN_VAIN);
		if (outcome == STEP_NONE) {
			t->result.end = TUNED_NOTHING;
			return say_unseen(t) ? EXIT_ERROR : EXIT_OK;
		}
		if (outcome == STEP_KEPT) {
			forget_looks(t);
			code = look(t);
		}
	}
	t->result.end = TUNED_CUT;
	if (code == EXIT_ERROR || !t->result.cut[0])
		snprintf(t->result.cut, sizeof(t->result.cut), "%s",
			 code == EXIT_ERROR ? "there was an error, which standard error has"
					    : measure_end_name());
	return code;
}

/* ---- the result ---- */

static int conclude_all(struct tuning *t, int code)
{
	if (!t->view || !t->result.before.observed_ns)
		return code;
	if (conclude(t->view)) {
		complain("out of memory");
		return EXIT_ERROR;
	}
	t->result.boot = findings_boot(&t->view->findings, FINDING_WARN);
	if (ticket_write(&t->o->output, t->o->format, &t->result) ||
	    (!t->o->dry && setup_kept(&t->o->files, t->view, &t->result)))
		return EXIT_ERROR;
	if (code == EXIT_OK && t->o->goal.count && t->result.reached != GOAL_MET && !t->o->dry)
		code = EXIT_CROSSED;
	return code;
}

static int tune(struct tuning *t)
{
	int lock = t->o->dry ? -1 : undo_begin(t->o->state, t->boot);
	int code;

	if (!t->o->dry && lock < 0)
		return EXIT_ERROR;
	code = conclude_all(t, go(t));
	if (lock >= 0)
		journal_unlock(t->o->state, lock);
	return code;
}

static int check(const struct options *o)
{
	if (o->measure.duration_ns < 2 * WINDOWS * WINDOW_MIN)
		return complain("-d is too short for %d windows of 200 ms: give 2 s or more",
				2 * WINDOWS);
	if (geteuid() != 0)
		return complain("only root may change what fixes change: use sudo");
	return o->undo ? 0 : setup_check(&o->files);
}

int cmd_tune(int argc, char **argv)
{
	struct options o = {.look_ns = 5 * NSEC_PER_SEC, .tries = 32, .state = JOURNAL_DIR};
	struct tuning *t = calloc(1, sizeof(*t));
	char goal[TRIGGERS_MAX * (TRIGGER_TEXT + 2)];
	int operands, code = EXIT_ERROR;

	if (!t)
		return EXIT_ERROR;
	measure_init(&o.measure);
	o.measure.duration_ns = 20 * NSEC_PER_SEC;
	o.measure.must_trace = true;
	code = opt_parse(&tune_usage, argc, argv, &o, &operands);
	if (!code)
		code = check(&o) || fixes_parse(argv + 1, operands, t->only, &t->nonly) ? -1 : 0;
	if (code || o.undo) {
		free(t);
		return code > 0 ? EXIT_OK : code ? EXIT_ERROR : undo_all(o.state);
	}
	t->o = &o;
	host_read(&t->host);
	t->result.host = &t->host;
	t->result.cpus = &o.measure.cpus;
	t->result.dry = o.dry;
	t->result.goal = o.goal.count ? triggers_text(&o.goal, goal, sizeof(goal)) : NULL;
	code = EXIT_ERROR;
	if (!measure_check(&o.measure, &t->host) && !output_open(&o.output))
		code = output_close(&o.output, tune(t));
	drop_view(t->view);
	tuned_free(&t->result);
	free(t);
	return code;
}
