/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/live.h"

#include <string.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/now.h"
#include "base/jumps.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/guard.h"
#include "cmd/live_record.h"
#include "cmd/memory.h"
#include "collect/facts.h"
#include "collect/host.h"
#include "collect/readings.h"
#include "model/report.h"

#define PROGRESS_NS (250 * NSEC_PER_MSEC)

/* "1.2 h of 1 d · 1,234 hiccups · worst 38.2 us" */
static void describe_progress(const struct view *v, uint64_t elapsed_ns, uint64_t duration_ns,
			      char line[160])
{
	uint64_t hiccups = 0, worst = v->nworst ? v->worst[0].duration_ns : 0;
	char of[40] = "", a[32], b[32], c[32], d[32];

	for (uint32_t i = 0; i < v->ncpus; i++)
		hiccups += v->cpu[i].hiccups.count;
	if (duration_ns != UINT64_MAX)
		snprintf(of, sizeof(of), " of %s", format_ns(duration_ns, b, sizeof(b)));
	snprintf(line, 160, "%s%s · %s hiccups · worst %s", format_ns(elapsed_ns, a, sizeof(a)), of,
		 format_count(hiccups, c, sizeof(c)), format_ns(worst, d, sizeof(d)));
}

static void show_progress(const struct view *v, uint64_t elapsed_ns, uint64_t duration_ns)
{
	char line[160];

	describe_progress(v, elapsed_ns, duration_ns, line);
	say_progress(line);
}

/* Tells the manager of a service. */
static void tell_status(struct live *l, uint64_t elapsed_ns)
{
	char line[160];

	describe_progress(l->view, elapsed_ns, l->measure->duration_ns, line);
	notify_tell(&l->notify, "STATUS=%s", line);
}

static void hear(void *ctx, uint32_t index, const struct account *a)
{
	const struct live *l = ctx;

	if (l->limits)
		limits_hear(l->limits, l->view, index, a);
	if (l->flight)
		flight_hear(l->flight, index, a);
	if (l->output)
		output_hiccup(l->output, l->view, index, a);
	if (l->hiccup)
		l->hiccup(l->ctx, index, a);
}

/* Lets the participants work. False: one of them wants to end. */
static bool step(struct live *l)
{
	bool more = !l->output || output_flush(l->output);

	more &= !l->limits || !l->limits->stopped;
	return more && (!l->step || l->step(l->ctx));
}

static void snapshot(struct live *l, uint64_t now, uint64_t *due_ns)
{
	if (!l->snapshot || now < *due_ns)
		return;
	*due_ns += l->every_ns;
	if (*due_ns <= now)
		*due_ns = now + l->every_ns;
	l->engine->snapshot(l->run);
	facts_ended(l->view); /* otherwise the advice names them all the same */
	l->snapshot(l->ctx);
}

/* False: it wants to end. */
static bool step_flight(struct live *l, uint64_t now)
{
	bool due = l->flight && flight_wants_snapshot(l->flight, now);

	if (due)
		l->engine->snapshot(l->run);
	return !l->flight || flight_step(l->flight, now, due);
}

/* Says why there is less to measure than was asked for: as soon as it is known, and again when more
 * is missing. */
static void tell_incomplete(struct live *l)
{
	char before[sizeof(l->view->run.incomplete)];

	memcpy(before, l->view->run.incomplete, sizeof(before));
	view_incomplete(l->view);
	if (strcmp(before, l->view->run.incomplete))
		say("incomplete: %s", l->view->run.incomplete);
	if (l->view->run.names_lack && !l->names_said)
		say("names: " REPORT_NAMES_LACK "; a new run has room again");
	l->names_said = l->view->run.names_lack;
}

/* Says what CLOCK_MONOTONIC does not know, and has not been said. */
static void tell_jump(struct jump *j)
{
	char text[32];

	if (j->suspended_ns)
		say("the machine was suspended for %s: it goes on, but what was measured right "
		    "before and after that may be wrong",
		    format_ns(j->suspended_ns, text, sizeof(text)));
	if (j->set_ns)
		say("the system clock was set %s by %s: it goes on, measured by another clock, but "
		    "times of day from before and after that do not compare",
		    j->set_ns > 0 ? "forward" : "back",
		    format_ns(j->set_ns > 0 ? j->set_ns : -j->set_ns, text, sizeof(text)));
	*j = (struct jump){0};
}

/* Looks once a second, and adds to `jump`. */
static void look_at_clocks(struct clocks *last, struct jump *jump)
{
	struct clocks now;
	struct jump j;

	if (now_ns() - last->monotonic_ns < NSEC_PER_SEC || !clocks_read(&now))
		return;
	j = last->monotonic_ns ? clocks_compare(last, &now) : (struct jump){0};
	*last = now;
	jump->suspended_ns += j.suspended_ns;
	jump->set_ns += j.set_ns;
}

static void measure(struct live *l, struct recorder *recorder)
{
	const struct measure *m = l->measure;
	bool progress = !m->quiet && isatty(STDERR_FILENO);
	uint64_t begin = l->view->run.started_ns, shown = begin, due = begin, now;
	bool recording = recorder;
	struct clocks clocks = {0};
	struct jump jump = {0};

	while (measure_wait(m, begin) && l->engine->poll(l->run)) {
		if (recording)
			recording = recorder_poll(recorder);
		if (recorder && !recording && l->scratch)
			break;
		look_at_clocks(&clocks, &jump);
		if (!l->full_screen) {
			tell_incomplete(l);
			tell_jump(&jump);
		}
		readings_take(&l->view->run.readings, l->host_clock, false);
		now = now_ns();
		snapshot(l, now, &due);
		if (notify_step(&l->notify, now))
			tell_status(l, now - begin);
		if (!step_flight(l, now) || !step(l))
			break;
		if (progress && now - shown >= PROGRESS_NS) {
			show_progress(l->view, now - begin, m->duration_ns);
			shown = now;
		}
	}
	if (progress)
		say_progress("");
	if (l->over)
		l->over(l->ctx);
	if (!l->full_screen) /* on which culprit ends, also where it takes nothing */
		say_wait(true);
	tell_jump(&jump);
}

int live_report(struct output *o, struct view *v)
{
	const struct view *view = v;

	o->live = true;
	output_explain(v);
	return output_end(o, &view, 1) ? EXIT_ERROR : EXIT_OK;
}

/* The right that maps want, if any: to make one, and before Linux 5.19 to read one, too. Where
 * nothing is traced there is none. */
static uint64_t right_of_maps(const struct live *l)
{
	uint64_t either = RIGHT_BPF | RIGHT_SYS_ADMIN;

	if (!l->view->run.traced || (!l->makes_maps && confine_try(either, host_maps_are_free)))
		return 0;
	return host_own_caps() & RIGHT_BPF ? RIGHT_BPF : RIGHT_SYS_ADMIN;
}

/* The rights that it needs in the window, but for maps. */
static uint64_t rights_to_keep(const struct live *l)
{
	uint64_t files = (l->output && l->output->path ? RIGHTS_OF_FILES : 0) |
			 (l->limits ? limits_rights(l->limits) : 0);

	return files | l->keeps | (l->flight ? flight_rights(l->flight) : 0);
}

/* Gives away what only the begin has needed. */
static void confine(const struct live *l, uint64_t keeps)
{
	if (keeps == RIGHTS_ALL)
		confine_rights(keeps);
	else /* reports of a program that was killed are removed there */
		guard_in_window(right_of_maps(l) | keeps,
				l->keeps & RIGHT_FOWNER ? "/dev/shm" : NULL);
}

static int too_early(const struct live *l)
{
	complain("ended before this window opened: nothing was measured in it");
	return l->too_early ? l->too_early : EXIT_ERROR;
}

/* Returns the exit code. A run that a trigger has stopped is judged as any other, and its verdicts
 * say by what. */
static int judge(struct live *l, int *bad)
{
	const char *stopped = l->flight ? flight_stopped(l->flight) : NULL;
	const struct view *v = l->view;
	int code = stopped ? EXIT_CROSSED : EXIT_OK, judged;

	if (!l->limits)
		return code;
	if (stopped)
		cases_add(&l->limits->cases, v->host.hostname, "the run", "--then stop",
			  v->run.duration_ns / 1e9, stopped);
	judged = limits_crossed(l->limits, v);
	*bad |= limits_write(l->limits);
	return judged ? judged : code;
}

/* Runs from the window's begin to its end. */
static int run_window(struct live *l, struct recorder *recorder)
{
	uint64_t keeps = rights_to_keep(l);
	struct cpus isolated;
	int code, bad = 0;

	if (l->limits && (limits_begin(l->limits, l->view) || limits_open(l->limits)))
		return EXIT_ERROR;
	if (recorder && (recorder_head(recorder, l->view) || live_record_settle(l, recorder)))
		return EXIT_ERROR;
	if (l->flight && flight_prepare(l->flight, l->view))
		return EXIT_ERROR;
	if (measure_await_begin(l->measure))
		return measure_stop ? too_early(l) : EXIT_ERROR;
	l->host_clock = readings_open();
	if (keeps != RIGHTS_ALL)
		guard_before_window(keeps);
	if (l->engine->begin(l->run))
		return EXIT_ERROR;
	readings_take(&l->view->run.readings, l->host_clock, false);
	if (l->flight)
		flight_begin(l->flight);
	if (live_record_place(l, recorder))
		return EXIT_ERROR;
	if (recorder)
		recorder_begun(recorder, l->view);
	if (l->output)
		output_begin(l->output);
	if (l->begin && l->begin(l->ctx))
		return EXIT_ERROR;
	measure_announce(l->measure);
	notify_tell(&l->notify, "READY=1");
	say_wait(false);
	confine(l, keeps);
	measure(l, recorder);
	notify_tell(&l->notify, "STOPPING=1"); /* the rest may wait for a disk */
	l->engine->end(l->run);
	readings_take(&l->view->run.readings, l->host_clock, true);
	host_isolated(&isolated);
	view_isolation(l->view, &isolated);
	facts_ended(l->view);
	tell_incomplete(l);
	step(l);
	if (recorder) {
		bad = recorder_end(recorder, l->view);
		l->stats = recorder_stats(recorder);
	}
	bad |= l->flight && flight_end(l->flight); /* with all lanes */
	code = l->end ? l->end(l->ctx) : live_report(l->output, l->view);
	if (!code)
		code = judge(l, &bad);
	if (code != EXIT_ERROR && l->view->run.incomplete[0])
		code = EXIT_INCOMPLETE;
	return bad ? EXIT_ERROR : code;
}

/* Reads the facts before anything of ours is attached or runs, and long before the window. */
static void take_facts(const struct live *l)
{
	struct facts_options o = {.from = &l->measure->housekeeping};
	int err = l->measure->no_audit ? 0 : facts_take(&l->view->facts, &o);

	if (err)
		say("not all facts of the machine could be kept: %s", facts_error(err));
}

static void redact(struct live *l, struct recorder *recorder)
{
	redact_head(l->redact, &l->view->host, &l->view->run);
	redact_facts(&l->view->facts);
	if (recorder)
		recorder_redact(recorder, l->redact);
}

int live_run(struct live *l)
{
	struct engine_hooks hooks = {.ctx = l, .stop = &measure_stop};
	struct recorder *recorder = NULL;
	int code = EXIT_ERROR;

	if (live_record_refused(l))
		return EXIT_ERROR;
	hooks.spans = l->spans || (l->output && output_spans(l->output));
	if (l->hiccup || (l->output && output_lines(l->output)) ||
	    (l->limits && l->limits->stop_on.count))
		hooks.hear = hear;
	l->host_clock = -1;
	memory_returns();
	measure_catch_signals();
	notify_open(&l->notify);
	if (l->last && l->last->last_ns) {
		l->flight = flight_open(l->last, l->record_to, l->force, l->signal_pid,
					l->output != NULL, &l->measure->housekeeping);
		if (!l->flight)
			return EXIT_ERROR;
		hooks.tap = flight_tap(l->flight);
		hooks.hear = hear;
	} else if (l->record_to) {
		recorder = live_record_open(l);
		if (!recorder)
			return EXIT_ERROR;
		if (l->scratch)
			recorder_scratch(recorder, l->scratch);
		hooks.tap = recorder_tap(recorder);
	}
	take_facts(l);
	if (l->redact)
		redact(l, recorder);
	l->run = l->engine->open(l->engine_options, &hooks, l->view);
	if (l->run)
		code = run_window(l, recorder);
	else if (measure_stop)
		code = too_early(l);
	if (l->run && l->engine->close(l->run))
		code = EXIT_ERROR;
	if (l->limits)
		limits_end(l->limits);
	if (l->host_clock >= 0)
		close(l->host_clock);
	recorder_close(recorder);
	live_record_close(l);
	flight_close(l->flight);
	notify_close(&l->notify);
	return code;
}
