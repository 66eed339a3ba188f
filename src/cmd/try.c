/* SPDX-License-Identifier: GPL-2.0-or-later */
/* culprit try: puts a fix in force, measures without and with it in turn, and takes it back. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/fixes.h"
#include "cmd/ticket.h"
#include "cmd/trial.h"
#include "cmd/undo.h"
#include "collect/host.h"
#include "recording/read.h"
#include "render/schemas.h"
#include "render/tried.h"

#define LOOK_NS    (3 * NSEC_PER_SEC) /* the first window, in which fixes are looked for */
#define WINDOW_MIN (200 * NSEC_PER_MSEC)

struct options {
	struct measure measure;
	struct output output;
	int format;
	const char *report;
	const char *state; /* directory of the journal; another one for tests */
	long rounds;
	bool apply, dry, undo, together;
};

#define FIELD(name) offsetof(struct options, name)

static int set_rounds(const char *text, void *field, const struct opt *row, char *why,
		      size_t whylen)
{
	(void)row;
	return parse_integer(text, 2, DIFF_RECORDINGS / 2, field, why, whylen);
}

static const struct opt try_opts[] = {
	{'d', "duration", "TIME",
	 "how long all windows take together: 10s, 5m; a bare number is "
	 "seconds",
	 FIELD(measure.duration_ns), opt_set_duration, .preset = "30 s"},
	{.include = measure_opts, .offset = FIELD(measure)},
	{'n', "windows", "N", "how many windows without the fix, and how many with it",
	 FIELD(rounds), set_rounds, .preset = "5"},
	{'r', "report", "RECORDING",
	 "try the fix of what took most time in this recording, instead of in a first window",
	 FIELD(report), opt_set_string},
	{0, "together", NULL, "try several fixes at once, as one", FIELD(together)},
	{0, "apply", NULL,
	 "leave the fix in force if it helps; --undo takes it back, and so does a reboot",
	 FIELD(apply), .excludes = "dry-run,undo", .why = "changes something"},
	{0, "keep", NULL, .alias = "apply"},
	{0, "dry-run", NULL, "say what would be changed, and change nothing", FIELD(dry),
	 .excludes = "undo", .why = "changes nothing"},
	{0, "undo", NULL,
	 "put back what an earlier try has left in force, or could not put back because it was "
	 "killed together with its guardian",
	 FIELD(undo),
	 .excludes = "duration,cpus,threshold,priority,housekeeping,clock,begin,windows,report,"
		     "together,format,output",
	 .why = "only puts back what is in force"},
	{0, "state", "DIR", NULL, FIELD(state), opt_set_string},
	{'q', "quiet", NULL, "print no progress, and not beforehand what will be changed",
	 FIELD(measure.quiet)},
	{'f', "format", "FORMAT", "the format of the report", FIELD(format), opt_set_choice,
	 .choices = OPT_CHOICES(ticket_formats), .preset = "text"},
	{.include = output_file_opts, .offset = FIELD(output.path)},
	OPT_SCHEMA(schema_try),
	{0},
};

static const struct opt_example try_examples[] = {
	{"sudo culprit try -c 3 K09 --dry-run", "what the fix of K09 would change here"},
	{"sudo culprit try -c 3 K09", "half a minute: does it help?"},
	{"sudo culprit try -c 3 K34:812 -d 2m", "moves thread 812 away from CPU 3 and back"},
	{"sudo culprit try -c 3 --apply",
	 "the fix of what takes most time there, kept if it helps"},
	{"sudo culprit try --undo", "takes back what is in force"},
	{0},
};

const struct opt_command try_usage = {
	.name = "try",
	.operands = "[CAUSE...]",
	.summary = "try a fix: measure without and with it in turn, and take it back",
	.about =
		"CAUSE is the id of a cause, K09, whose fix is a setting of the running kernel; "
		"with the number of a thread or an interrupt, K34:812, it is about this one. "
		"Without a CAUSE, or without the number where there has to be one, it takes what "
		"costs most in a first window of 3 s, or in a recording (-r).\n\nIt measures "
		"windows without and with the fix, as A B B A A B and so on (all with it behind "
		"all without it where the kernel goes on with it for a time), compares them as "
		"culprit diff does, and puts back what was there: also when it is interrupted or "
		"killed, because a process of its own watches over it. Should that be killed, too, "
		"/var/lib/culprit has what is to be put back, for --undo. It refuses what it "
		"cannot put back, what the kernel lets nobody change, what tuned or irqbalance "
		"change by themselves here, and several fixes at once without --together. A "
		"thread that is moved and moved back keeps the CPUs that it had as its own "
		"wish; what it starts while it is moved keeps the CPUs of the fix.\n\nExit status: "
		"0 it helps, 1 error, 2 it does not, or that cannot be told "
		"from chance, 3 it was cut short. Of --dry-run and --undo: 0 done, 1 error.",
	.opts = try_opts,
	.examples = try_examples,
	.environment = (const struct opt_choice[]){ENV_NO_COLOR, ENV_COLUMNS, {0}},
};

/* ---- a try ---- */

/* Says beforehand what will be changed. */
static void announce(const struct tried *t)
{
	char name[512];

	for (uint32_t i = 0; i < t->knobs.count; i++)
		if (!t->knobs.row[i].kept)
			say("will set %s to %s and back to %s",
			    knob_name(&t->knobs.row[i], name, sizeof(name)), t->knobs.row[i].new,
			    *t->knobs.row[i].old ? t->knobs.row[i].old : "nothing");
}

static int write_report(struct options *o, const struct tried *t)
{
	struct render_options r;

	if (o->format > TICKET_JSON)
		return ticket_write_one(&o->output, o->format, t);
	output_ready(&o->output, &r);
	return output_done(&o->output, o->format ? render_tried_json(t, o->output.file)
						 : render_tried_text(t, &r, o->output.file));
}

/* Tries what is planned. The journal's directory is locked. */
static int try_plan(struct options *o, struct tried *t, const char *boot)
{
	struct trial *r;
	int code;

	if (!o->measure.quiet)
		announce(t);
	r = trial_new(t, &o->measure, o->state, boot);
	if (!r)
		return EXIT_ERROR;
	code = trial_run(r, o->apply);
	if (code != EXIT_ERROR && write_report(o, t))
		code = EXIT_ERROR;
	trial_free(r);
	return code;
}

/* Opens a recording, and refuses one that somebody else may have made: it is read with root's
 * rights, and other commands read theirs without. What is checked is what is read: the name is
 * looked up once. A descriptor, or -1 with the reason said. */
static int open_trusted(const char *path)
{
	struct stat s;
	int fd;

	if (!strcmp(path, "-"))
		return complain("-r -: try takes only a recording that is a file of root's own");
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return complain("cannot read %s: %s", path,
				errno == ELOOP ? "it is a symbolic link: name the recording itself"
					       : strerror(errno));
	if (fstat(fd, &s))
		complain("%s: %s", path, strerror(errno));
	else if (!S_ISREG(s.st_mode))
		complain("%s is no regular file: give a recording", path);
	else if (s.st_uid != geteuid() || s.st_mode & (S_IWGRP | S_IWOTH))
		complain("%s belongs to, or can be changed by, somebody else: try takes only "
			 "root's own recordings; culprit report reads all",
			 path);
	else
		return fd;
	close(fd);
	return -1;
}

/* 0, or -1 with the reason said. */
static int read_trusted(const char *path, const struct host *here, struct view *v,
			struct recording **r)
{
	int fd = open_trusted(path);
	char name[64];

	if (fd < 0)
		return -1;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	*r = recording_open(name, &(struct part){.name = path}, v);
	if (*r)
		recording_finish(*r);
	close(fd);
	if (!*r)
		return -1;
	if (strcmp(v->host.hostname, here->hostname))
		return complain("%s was made on another machine, %s: its threads and interrupts "
				"are not those of this one",
				path, v->host.hostname);
	return 0;
}

/* Returns the view in which fixes that were not named are looked for. NULL with the reason said,
 * or, unless *code is EXIT_ERROR, because it was cut short. */
static struct view *look(struct options *o, const struct host *host, struct recording **r,
			 int *code)
{
	struct view *v = calloc(1, sizeof(*v));

	*code = EXIT_ERROR;
	if (!v) {
		complain("out of memory");
		return NULL;
	}
	if (!o->report) {
		v->host = *host;
		*code = trial_look(v, &o->measure, LOOK_NS, NULL);
	} else if (!read_trusted(o->report, host, v, r)) {
		*code = EXIT_OK;
	}
	if (*code == EXIT_OK)
		return v;
	view_free(v);
	recording_close(*r);
	*r = NULL;
	free(v);
	return NULL;
}

static int try(struct options *o, struct tried *t, const struct wish *wish, uint32_t n)
{
	struct recording *r = NULL;
	struct view *v = NULL;
	char boot[BOOT_ID];
	int lock = -1, code = EXIT_ERROR;

	if (fixes_need_view(wish, n) && !(v = look(o, t->host, &r, &code)))
		return code;
	code = EXIT_ERROR;
	if (!o->dry)
		lock = undo_begin(o->state, boot);
	if ((o->dry || (lock >= 0 && !undo_kept(o->state, &t->knobs))) &&
	    !fixes_plan(t, wish, n, v, &o->measure, o->together ? TRIED_FIXES : 1)) {
		for (uint32_t i = 0; i < t->nfixes; i++)
			t->in_turn &= !t->fix[i].lag_s;
		if (o->dry)
			code = write_report(o, t) ? EXIT_ERROR : EXIT_OK;
		else
			code = try_plan(o, t, boot);
	}
	if (lock >= 0)
		journal_unlock(o->state, lock);
	if (v)
		view_free(v);
	recording_close(r);
	free(v);
	return code;
}

static int check(const struct options *o, const struct wish *wish, uint32_t n,
		 const struct tried *t)
{
	if (o->report && !fixes_need_view(wish, n))
		return complain("-r is where to look for what to try, and CAUSE says it: leave out "
				"one of the two");
	if (n > 1 && !o->together)
		return complain("several fixes at once tell nothing of each: try one after the "
				"other, or give --together");
	if (t->window_ns < WINDOW_MIN)
		return complain("-d is too short for %u windows of 200 ms: give a longer one, or "
				"fewer windows (-n)",
				2 * t->windows);
	if (geteuid() != 0)
		return complain("only root may change what fixes change: use sudo");
	return 0;
}

int cmd_try(int argc, char **argv)
{
	struct options o = {.rounds = 5, .state = JOURNAL_DIR};
	struct host host = {0};
	struct wish wish[TRIED_FIXES];
	struct tried t = {.host = &host, .cpus = &o.measure.cpus, .in_turn = true};
	int operands, code;
	uint32_t n;

	measure_init(&o.measure);
	o.measure.duration_ns = 30 * NSEC_PER_SEC;
	o.measure.must_trace = true;
	code = opt_parse(&try_usage, argc, argv, &o, &operands);
	if (code)
		return code > 0 ? EXIT_OK : EXIT_ERROR;
	if (o.undo && operands) {
		complain("--undo takes back all that is in force: leave out %s", argv[1]);
		return EXIT_ERROR;
	}
	t.windows = o.rounds;
	t.window_ns = o.measure.duration_ns / (2 * t.windows);
	t.dry = o.dry;
	if (fixes_parse(argv + 1, operands, wish, &n) || check(&o, wish, n, &t))
		return EXIT_ERROR;
	if (o.undo)
		return undo_all(o.state);
	host_read(&host);
	code = EXIT_ERROR;
	if (!measure_check(&o.measure, &host) && !output_open(&o.output))
		code = output_close(&o.output, try(&o, &t, wish, n));
	knobs_free(&t.knobs);
	return code;
}
