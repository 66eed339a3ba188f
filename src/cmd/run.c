/* SPDX-License-Identifier: GPL-2.0-or-later */
/* culprit run: measure, join, report. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/advise.h"
#include "base/confine.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/hosted.h"
#include "cmd/limits.h"
#include "cmd/live.h"
#include "cmd/newfile.h"
#include "cmd/output.h"
#include "cmd/style.h"
#include "cmd/textfile.h"
#include "render/openmetrics.h"
#include "collect/host.h"

struct options {
	struct measure measure;
	struct output output;
	struct styled styled;
	const char *hiccups, *record;
	struct textfile_options textfile;
	struct hosted_options hosted;
	bool force;
	struct limits limits;
};

#define FIELD(name) offsetof(struct options, name)

static const struct opt run_opts[] = {
	{.include = measure_report_opts, .offset = FIELD(measure)},
	{.include = output_opts, .offset = FIELD(output)},
	OUTPUT_BY(FIELD(measure.by), "no-trace"),
	{'r', "record", "FILE", "also record the run in FILE, for culprit report and diff",
	 FIELD(record), output_set_file, .writes = true},
	{0, "force", NULL, "overwrite a recording that exists", FIELD(force), .needs = "record",
	 .why = "overwrites a recording, but none is made"},
	{0, "hiccups", "FILE",
	 "also write each hiccup to FILE, with its pieces and who asked for them: the lines of -f "
	 "jsonl",
	 FIELD(hiccups), output_set_file, .writes = true},
	{.include = style_opts, .offset = FIELD(styled)},
	{.include = textfile_opts, .offset = FIELD(textfile)},
	{0, "interval", "TIME", .alias = "textfile-interval"},
	{.include = hosted_opts, .offset = FIELD(hosted)},
	{.include = limits_opts, .offset = FIELD(limits)},
	{.include = limits_stop_on_opts,
	 .offset = FIELD(limits),
	 .arg = &(const unsigned){RUN_TRIGGERS}},
	{0},
};

static const struct opt_example run_examples[] = {
	{"sudo culprit run", "ten seconds of the isolated CPUs; if there are none, of all but the "
			     "lowest"},
	{"sudo culprit run -c 3 -d 1m -f html -o cpu3.html",
	 "a minute of CPU 3, as a page for a browser"},
	{"sudo culprit run -c 2,3 -P f:10 --max-hiccup 50us",
	 "samplers with a real-time priority; exits with 2 if a hiccup was longer"},
	{"culprit run -c 3 --no-trace", "how long CPU 3 was away, not why: needs no privileges"},
	{0},
};

const struct opt_command run_usage = {
	.name = "run",
	.summary = "measure CPUs and say who interrupted them",
	.about = "Spins on each CPU, notices each time the CPU was away, and joins each gap with "
		 "what the kernel ran there. Ctrl-C ends the run early, with the full "
		 "report.\n\n" EXIT_STATUS("2 --max-hiccup, --max-lost or --stop-on was crossed, "),
	.opts = run_opts,
	.examples = run_examples,
	.environment = (const struct opt_choice[]){ENV_NO_COLOR, ENV_COLUMNS, ENV_NOTIFY, {0}},
};

/* State of the callbacks of a live run. */
struct run_state {
	struct options *o;
	struct view *view;
	struct newfile new; /* file of --hiccups before the window */
	FILE *lines;        /* file that takes them */
	int lines_error;    /* errno of the first write of these that failed */
	int lines_cut;      /* result of newfile_cut then */
	bool lines_full;    /* the file that is open takes no more */
	bool failed;        /* --style or --raw cannot go on */
	struct textfile *textfile;
	struct hosted *hosted; /* makes the report; NULL: we do */
};

/* error: errno, or -errno. */
static int lines_refused(const struct options *o, int error)
{
	return complain("cannot write to %s: %s; choose another file with --hiccups", o->hiccups,
			newfile_error(error));
}

static int begin(void *ctx)
{
	struct run_state *s = ctx;

	if (s->lines && !(s->lines = newfile_hand_over(&s->new)))
		return lines_refused(s->o, errno);
	if (s->o->styled.style == STYLE_OSNOISE)
		output_grow(&s->o->output); /* a line each period */
	/* No style goes with a host, and without end() nothing would end it. */
	s->failed = !s->hosted && style_begin(&s->o->styled, s->view, s->o->output.file);
	return 0;
}

static void take_hiccup(void *ctx, uint32_t index, const struct account *a)
{
	struct run_state *s = ctx;

	if (!s->failed)
		style_hiccup(&s->o->styled, s->view, index, a, s->o->output.file);
	if (s->lines && !s->lines_full && !ferror(s->lines))
		render_jsonl(s->view, index, a, s->lines);
}

/* The first failure is told of at the end. */
static void lines_failed(struct run_state *s, int error, int cut)
{
	if (s->lines_error)
		return;
	s->lines_error = error;
	s->lines_cut = cut;
}

/* Leaves whole lines in the file, also for the time that ending the run takes after the report. */
static void flush_lines(struct run_state *s)
{
	int error;

	if (!s->lines || s->lines_full || (!fflush(s->lines) && !ferror(s->lines)))
		return;
	error = errno ? errno : EIO;
	lines_failed(s, error, newfile_cut(s->lines));
	s->lines_full = true;
}

/* True while the open file is what has this name: a new one in its place would destroy it. */
static bool still_there(FILE *file, const char *path)
{
	struct stat open, named;

	return !fstat(fileno(file), &open) && !stat(path, &named) && open.st_dev == named.st_dev &&
	       open.st_ino == named.st_ino;
}

/* Opens a new file for the lines when somebody has renamed the old one. */
static void reopen_lines(struct run_state *s)
{
	FILE *new;

	if (!measure_hup)
		return;
	measure_hup = 0;
	if (!s->lines || still_there(s->lines, s->o->hiccups))
		return;
	new = newfile_grow(s->o->hiccups);
	if (!new) {
		say("SIGHUP: cannot open %s anew: %s; what was open goes on", s->o->hiccups,
		    newfile_error(errno));
		return;
	}
	if (fclose(s->lines))
		lines_failed(s, errno, -EIO);
	s->lines = new;
	s->lines_full = false;
}

static bool step(void *ctx)
{
	struct run_state *s = ctx;

	flush_lines(s);
	reopen_lines(s);
	return !s->failed;
}

/* Returns the exit code of a run that ended with `code`. */
static int close_lines(struct run_state *s, int code)
{
	if (s->new.file) { /* no window has opened */
		newfile_close(&s->new, false);
		return code;
	}
	if (!s->lines)
		return code;
	flush_lines(s);
	if (fclose(s->lines))
		lines_failed(s, errno, -EIO);
	if (!s->lines_error || code == EXIT_ERROR)
		return code;
	complain("writing %s: %s%s", s->o->hiccups, strerror(s->lines_error),
		 newfile_cut_said(s->lines_cut));
	return EXIT_ERROR;
}

static void write_textfile(struct run_state *s, bool running)
{
	advise(s->view); /* out of memory: some sources have no cause this time */
	textfile_write(s->textfile, s->view, running);
}

static void snapshot(void *ctx)
{
	write_textfile(ctx, true);
}

static int end(void *ctx)
{
	struct run_state *s = ctx;

	if (s->textfile)
		write_textfile(s, false);
	if (s->hosted) {
		hosted_ended(s->hosted);
		return EXIT_OK;
	}
	if (style_end(&s->o->styled, s->view, s->o->output.file) || s->failed ||
	    style_json(&s->o->styled, s->view, &s->o->limits))
		return EXIT_ERROR;
	return s->o->styled.style == STYLE_NONE ? live_report(&s->o->output, s->view) : EXIT_OK;
}

static int run(struct options *o, struct view *v)
{
	struct run_state state = {.o = o, .view = v};
	struct collect_options co = measure_collect(&o->measure);
	struct live live = {.measure = &o->measure,
			    .engine = &collect_engine,
			    .engine_options = &co,
			    .view = v,
			    .output = o->styled.style == STYLE_NONE ? &o->output : NULL,
			    .limits = &o->limits,
			    .record_to = o->record,
			    .force = o->force,
			    .keeps = o->textfile.path || o->output.path || o->hiccups ||
						     o->styled.json.path
					     ? RIGHTS_OF_FILES
					     : 0,
			    .ctx = &state,
			    .begin = begin,
			    .step = step,
			    .every_ns = textfile_every(&o->textfile),
			    .end = end};
	int code, err;

	if (textfile_wanted(&o->textfile) &&
	    !(state.textfile = textfile_open(&o->textfile, o->output.metrics_per == PER_HOST,
					     output_label(&o->output), &o->measure.housekeeping)))
		return EXIT_ERROR;
	err = o->hiccups ? newfile_open(&state.new, o->hiccups) : 0;
	if (err) {
		lines_refused(o, err);
		textfile_close(state.textfile);
		return EXIT_ERROR;
	}
	state.lines = state.new.file;
	if (state.lines || style_wants_hiccups(&o->styled))
		live.hiccup = take_hiccup;
	if (state.textfile)
		live.snapshot = snapshot;
	if (o->hosted.listen.text) {
		state.hosted = hosted_open(&o->hosted, &live);
		if (!state.hosted)
			return close_lines(&state, EXIT_ERROR);
		live.output = NULL;
		hosted_await(state.hosted);
	}
	code = live_run(&live);
	if (state.hosted)
		code = hosted_report(state.hosted, &o->output, o->measure.by, code);
	hosted_close(state.hosted);
	if (textfile_close(state.textfile))
		code = EXIT_ERROR;
	return close_lines(&state, code);
}

/* Refuses what a tool's columns have no place for. */
static int check_style(const struct options *o)
{
	if (o->styled.style == STYLE_OSNOISE && o->measure.no_trace)
		return complain("--style osnoise counts interruptions, and --no-trace sees none: "
				"leave out one of the two");
	if (o->styled.style == STYLE_OSLAT && o->measure.threshold_ns > NSEC_PER_USEC)
		return complain("--style oslat counts loops by the microsecond, and shorter gaps "
				"than -t would all be in the first: leave out -t");
	return 0;
}

/* Refuses what gives names where nothing shows them: the other tools' columns have none. */
static int check_names(const struct options *o)
{
	bool beside = o->hiccups || textfile_wanted(&o->textfile) || o->limits.stop_on.count;

	if (o->styled.style == STYLE_NONE || beside)
		return 0;
	if (o->measure.by)
		return complain(
			"--by tells threads apart, and --style %s names none: leave out one "
			"of the two, or give --hiccups or --textfile, too",
			style_names[o->styled.style].name);
	if (!o->record && (o->measure.commands || o->measure.user_stacks))
		return complain("%s is for names, and --style %s has none: leave out one of the "
				"two, or give --hiccups or --record, too",
				o->measure.commands ? "--command-lines" : "--user-stacks",
				style_names[o->styled.style].name);
	return 0;
}

int cmd_run(int argc, char **argv)
{
	struct options o = {0};
	struct view *v = calloc(1, sizeof(*v));
	int operands, code;

	measure_init(&o.measure);
	code = opt_parse(&run_usage, argc, argv, &o, &operands);
	if (code || !v) {
		free(v);
		return code > 0 ? EXIT_OK : EXIT_ERROR;
	}
	style_prepare(&o.styled, &o.measure);
	host_read(&v->host);
	if (textfile_check(&o.textfile, &o.output) ||
	    output_check_traced(&o.output, !o.measure.no_trace)) {
		code = EXIT_ERROR;
	} else if (check_style(&o) || check_names(&o) || measure_check(&o.measure, &v->host) ||
		   live_check_record(o.record, o.force) || output_open(&o.output)) {
		code = EXIT_ERROR;
	} else {
		code = output_close(&o.output,
				    rt_file_open(&o.styled.json) ? EXIT_ERROR : run(&o, v));
		if (rt_file_close(&o.styled.json))
			code = EXIT_ERROR;
	}
	view_free(v);
	free(v);
	return code;
}
