/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/flight.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/now.h"
#include "base/say.h"
#include "base/units.h"
#include "base/way.h"
#include "cmd/actions.h"
#include "cmd/flight_file.h"
#include "cmd/limits.h"
#include "recording/blackbox.h"
#include "recording/create.h"

#define BYTES_MAX (64ULL << 20)
#define KEEP_DIR  100
#define AFTER_NS  NSEC_PER_SEC
#define WRITE_NS  (30 * NSEC_PER_SEC) /* wait for the disk at the end */
#define MARGIN_NS NSEC_PER_SEC        /* for a trigger to be noticed, and the disk */

struct flight {
	const struct flight_options *o;
	struct triggers when;
	const char *path;
	bool directory, force, stop;
	const struct cpus *housekeeping;
	struct actions *actions;
	struct blackbox *box;
	struct view *view;
	uint64_t slice_ns;     /* when the next slice is due */
	bool pending, writing; /* pending: the time behind a trigger is not over */
	bool ends;             /* no other file follows */
	struct trigger_hit hit;
	uint64_t due_ns;
	char label[sizeof(((struct run *)0)->label)];
	char file[PATH_MAX];
	char said[LIMITS_HIT]; /* the trigger of the file that is being written */
	char stopped_by[LIMITS_HIT];
	char writes[PATH_MAX];
	uint64_t kept_at[RATE_MAX]; /* CLOCK_MONOTONIC, of the newest files */
	uint64_t began;             /* number of files; those that failed leave their place */
	uint64_t kept, joined, too_late, too_many, too_often, failed; /* triggers: what became */
};

static bool too_often(const struct flight *f, uint64_t now)
{
	uint64_t n = f->o->rate.count;

	return n && f->began >= n &&
	       now - f->kept_at[(f->began - n) % RATE_MAX] < f->o->rate.within_ns;
}

static uint64_t keep_most(const struct flight *f)
{
	if (!f->directory)
		return 1;
	return f->o->keep ? f->o->keep : KEEP_DIR;
}

/* Decides what becomes of a trigger: a recording of its own, or why not. */
static void keep(struct flight *f, const struct trigger_hit *hit, uint64_t now)
{
	if (!actions_keep(f->actions))
		return;
	if (f->pending) {
		f->joined++;
		return;
	}
	/* with a recording for each that comes while the last one is written it would never end */
	if (f->stop && hit->trigger->event != TRIGGER_END) {
		f->too_late++;
		return;
	}
	if (f->began - f->failed >= keep_most(f) || too_often(f, now)) {
		if (f->began - f->failed >= keep_most(f))
			f->too_many++;
		else
			f->too_often++;
		return;
	}
	f->pending = true;
	f->hit = *hit;
	f->due_ns = hit->start_ns + hit->duration_ns + f->o->after_ns;
	f->kept_at[f->began++ % RATE_MAX] = now;
	snprintf(f->label, sizeof(f->label), "%.*s", (int)sizeof(f->label) - 1, hit->trigger->text);
	if (f->directory)
		flight_file(f->path, hit, f->o->redact, f->file);
	else
		snprintf(f->file, sizeof(f->file), "%s", f->path);
}

static void pull(struct flight *f, const struct trigger_hit *hit)
{
	keep(f, hit, now_ns());
	if (!actions_do(f->actions, f->view, hit, f->pending ? f->file : NULL) || f->stop)
		return;
	f->stop = true;
	limits_describe(f->view, hit, f->stopped_by);
}

void flight_hear(struct flight *f, uint32_t lane, const struct account *a)
{
	struct trigger_hit hit;

	if (triggers_hear(&f->when, f->view, lane, a, &hit))
		pull(f, &hit);
}

static void write_file(struct flight *f, uint64_t now)
{
	uint64_t start = f->hit.start_ns > f->o->last_ns ? f->hit.start_ns - f->o->last_ns : 0;
	struct blackbox_file file = {.path = f->file,
				     .force = f->force,
				     .housekeeping = f->housekeeping,
				     .label = f->label,
				     .from_ns = start};

	f->pending = false;
	limits_describe(f->view, &f->hit, f->said);
	snprintf(f->writes, sizeof(f->writes), "%s", f->file);
	f->slice_ns = now + blackbox_slice_ns(f->box);
	if (blackbox_write(f->box, &file, f->view, now))
		f->failed++;
	else
		f->writing = true;
}

static void look_at_file(struct flight *f)
{
	enum blackbox_state state = blackbox_poll(f->box);
	struct recorder_stats n = blackbox_stats(f->box);
	char time[32];

	if (state == BLACKBOX_WRITES || state == BLACKBOX_IDLE)
		return;
	f->writing = false;
	if (state == BLACKBOX_FAILED) {
		f->failed++;
		if (!f->ends) /* otherwise pieces fill a full disk; the last one may be read */
			create_remove(f->writes);
		return;
	}
	f->kept++;
	if (n.hiccups_lost || n.records_lost)
		say("%s: the disk was too slow, or memory was short: %llu hiccups and %llu records "
		    "are missing in it",
		    f->writes, (unsigned long long)n.hiccups_lost,
		    (unsigned long long)n.records_lost);
	if (blackbox_names_lack(f->box))
		say("%s: names may be missing: more came than there is room for", f->writes);
	actions_tell(f->actions, "%s: %s; %s in it", f->writes, f->said,
		     format_ns(blackbox_written_ns(f->box), time, sizeof(time)));
}

static int look_at_path(struct flight *f)
{
	struct stat st;
	size_t len = strlen(f->path);
	bool meant = len && f->path[len - 1] == '/';
	int made;

	f->directory = meant || (!stat(f->path, &st) && S_ISDIR(st.st_mode));
	/* One that is there, too: a link that is not followed is told of before the window. */
	made = f->directory ? way_mkdir(f->path, 0700) : 0;
	if (made < 0)
		return complain("cannot %s %s: %s", meant ? "make the directory" : "write into",
				f->path, made == -ENOTDIR ? "it is no directory" : way_error(made));
	if (made)
		say("made the directory %s", f->path);
	if (!f->directory && f->o->keep > 1)
		return complain(
			"--keep %llu needs a directory, and %s is none: write %s/, which is made "
			"where it is missing",
			(unsigned long long)f->o->keep, f->path, f->path);
	if (!f->directory && !f->force && !access(f->path, F_OK))
		return complain("%s exists already: choose another name, or overwrite it with "
				"--force",
				f->path);
	if (f->directory && access(f->path, W_OK))
		return complain("cannot write into %s: %s", f->path, strerror(errno));
	if (f->directory && len > PATH_MAX - FLIGHT_FILE)
		return complain("%.60s...: the name is too long", f->path);
	return 0;
}

/* Without --when the end is a trigger; SIGUSR1 always is. */
static void add_triggers(struct flight *f)
{
	struct triggers *t = &f->when;
	bool given = false;
	char why[8];

	*t = f->o->when;
	for (uint32_t i = 0; i < t->count; i++)
		given |= t->row[i].event == TRIGGER_SIGUSR1;
	if (!t->count)
		trigger_parse("end", TRIGGER_BIT(END), &t->row[t->count++], why, sizeof(why));
	if (!given)
		trigger_parse("SIGUSR1", TRIGGER_BIT(SIGUSR1), &t->row[t->count++], why,
			      sizeof(why));
}

struct flight *flight_open(const struct flight_options *o, const char *path, bool force, long pid,
			   bool report, const struct cpus *housekeeping)
{
	struct flight *f = calloc(1, sizeof(*f));
	static struct flight_options full; /* with what was not given */

	full = *o;
	if (!full.after_ns)
		full.after_ns = AFTER_NS;
	if (!f || !path) {
		complain(f ? "--last keeps recordings: say where, with --record DIRECTORY"
			   : "out of memory");
		free(f);
		return NULL;
	}
	f->o = &full;
	f->path = path;
	f->force = force;
	f->housekeeping = housekeeping;
	add_triggers(f);
	if (!look_at_path(f) &&
	    (f->actions = actions_open(full.then, full.nthen, pid, report, housekeeping)) &&
	    !(f->box =
		      blackbox_new(full.last_ns + full.after_ns + MARGIN_NS, BYTES_MAX, o->redact)))
		complain("out of memory");
	if (f->box) {
		measure_catch_usr1();
		return f;
	}
	flight_close(f);
	return NULL;
}

const struct tap *flight_tap(const struct flight *f)
{
	return blackbox_tap(f->box);
}

int flight_prepare(struct flight *f, struct view *v)
{
	f->view = v;
	if (limits_begin_triggers(&f->when, v))
		return -1;
	return blackbox_prepare(f->box, v) ? complain("out of memory") : 0;
}

void flight_begin(struct flight *f)
{
	blackbox_begin(f->box, f->view);
	f->slice_ns = now_ns() + blackbox_slice_ns(f->box);
}

static bool is_due(const struct flight *f, uint64_t now)
{
	return f->pending && !f->writing && now >= f->due_ns;
}

bool flight_wants_snapshot(const struct flight *f, uint64_t now)
{
	return now >= f->slice_ns || is_due(f, now);
}

static void look_at_signal(struct flight *f, uint64_t now)
{
	struct trigger_hit hit;

	if (measure_usr1 && triggers_pull(&f->when, TRIGGER_SIGUSR1, now, &hit)) {
		measure_usr1 = 0;
		pull(f, &hit);
	}
}

bool flight_step(struct flight *f, uint64_t now, bool snapshot)
{
	look_at_signal(f, now);
	look_at_file(f);
	if (snapshot && is_due(f, now)) {
		write_file(f, now);
	} else if (snapshot && now >= f->slice_ns) {
		blackbox_slice(f->box, f->view, now);
		f->slice_ns = now + blackbox_slice_ns(f->box);
	}
	return !f->stop || f->pending || f->writing;
}

static void await_file(struct flight *f)
{
	uint64_t deadline = now_ns() + WRITE_NS;
	struct timespec nap = {0, 2 * NSEC_PER_MSEC};

	while (f->writing && now_ns() < deadline) {
		look_at_file(f);
		nanosleep(&nap, NULL);
	}
	if (f->writing)
		say("%s: the disk takes too long: its end may be missing", f->writes);
}

/* "3 triggers: 2 recordings, 1 left out by --rate" */
static void say_counts(const struct flight *f)
{
	const struct {
		uint64_t n;
		const char *text;
	} row[] = {
		{f->joined, "fell into the time of another"},
		{f->too_late, "came after the one that stopped the run"},
		{f->too_many, "came when there were as many as --keep allows"},
		{f->too_often, "came sooner than --rate allows"},
		{f->failed, "could not be written"},
	};
	char text[400] = "", count[32];
	uint64_t lost = view_hiccups_lost(f->view);
	size_t at = 0;

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		if (row[i].n)
			at += snprintf(text + at, sizeof(text) - at, "%s%s %s", at ? ", " : "",
				       format_count(row[i].n, count, sizeof(count)), row[i].text);
	if (at)
		say("not kept: of the triggers %s", text);
	if (lost)
		say("%s hiccups were lost, and each of them may have been a trigger",
		    format_count(lost, count, sizeof(count)));
	for (uint32_t i = 0; i < f->when.count; i++)
		if (f->when.row[i].pulled)
			say("%s: %s time%s", f->when.row[i].text,
			    format_count(f->when.row[i].pulled, count, sizeof(count)),
			    plural(f->when.row[i].pulled));
}

static void say_nothing_kept(const struct flight *f)
{
	uint64_t pulled = 0;

	for (uint32_t i = 0; i < f->when.count; i++)
		pulled += f->when.row[i].pulled;
	if (!f->kept && (!pulled || actions_keep(f->actions)))
		actions_tell(f->actions, "nothing was kept: %s",
			     pulled ? "no recording could be written" : "no trigger was pulled");
}

int flight_end(struct flight *f)
{
	uint64_t now = f->view->run.started_ns + f->view->run.duration_ns;
	struct trigger_hit hit;

	look_at_signal(f, now); /* one that came right before the end */
	if (triggers_pull(&f->when, TRIGGER_END, now, &hit))
		pull(f, &hit);
	await_file(f);
	f->ends = true;
	if (f->pending && !f->writing)
		write_file(f, now);
	else if (f->pending)
		f->failed++; /* the one before it still is not written */
	await_file(f);
	actions_end(f->actions);
	say_counts(f);
	say_nothing_kept(f);
	return f->failed || f->writing ? -1 : 0;
}

const char *flight_stopped(const struct flight *f)
{
	return f->stop ? f->stopped_by : NULL;
}

uint64_t flight_rights(const struct flight *f)
{
	return actions_rights(f->actions) | (actions_keep(f->actions) ? RIGHTS_OF_FILES : 0);
}

void flight_close(struct flight *f)
{
	if (!f)
		return;
	actions_close(f->actions);
	triggers_free(&f->when);
	blackbox_free(f->box);
	free(f);
}
