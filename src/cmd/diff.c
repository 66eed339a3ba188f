/* SPDX-License-Identifier: GPL-2.0-or-later */
/* culprit diff: what changed between recordings, and whether it is more than chance. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/diff_groups.h"
#include "cmd/diff_kind.h"
#include "cmd/diff_options.h"
#include "cmd/guard.h"
#include "cmd/joined.h"
#include "cmd/output.h"
#include "model/through.h"
#include "recording/read.h"
#include "render/diff.h"

/* The files, side by side. */
struct files {
	const char *path[DIFF_RECORDINGS];
	/* By which they are shown: the path, or without the names of users "A", "B2". */
	const char *name[DIFF_RECORDINGS];
	char letter[DIFF_RECORDINGS][16];
	struct recording *recording[DIFF_RECORDINGS];
	struct view view[DIFF_RECORDINGS];
	struct joined *joined[DIFF_RECORDINGS]; /* with --host */
	const struct view *views[DIFF_RECORDINGS];
	uint32_t n; /* number of files, over all sides */
	struct diff_side side[DIFF_FILES];
	uint32_t sides;
	struct redact *redact; /* replaces the names in all of them; NULL: names are as recorded */
	struct hosts_given hosts;
};

/* "after.rec", or for several recordings "side B". */
static const char *side_name(const struct files *f, uint32_t k, char *buf, size_t len)
{
	if (f->side[k].n > 1)
		snprintf(buf, len, "side %c", 'A' + (int)k);
	else
		snprintf(buf, len, "%s", f->name[f->side[k].view - f->views]);
	return buf;
}

/* True for more than that, when two windows may differ by it. */
static bool passed_over(const struct diff_options *o, const struct diff *d, uint32_t k)
{
	const struct ratio *r = &d->total[k].time_ratio;

	return !d->in_turn[k] && d->between > 1 && r->value > 1 + o->worse / 100 &&
	       r->low * d->between > 1;
}

/* Says of a figure that it may be worse, and that nobody knows. */
static void say_not_judged(const struct diff_options *o, const struct diff_value *v,
			   const char *series, const char *figure, const char *name,
			   const char *first)
{
	char a[32];

	say("%s: %s, %s: %s %% more than in %s, and --fail-if-worse %g does not judge it: one "
	    "value has no interval; to know more, make several recordings of each side in turn",
	    name, series, figure, format_percent(100 * (v->ratio.value - 1), a, sizeof(a)), first,
	    o->worse);
}

/* Says which figures of what a workload measured are worse in a side. True: some are. */
static bool judge_series(const struct diff_options *o, const struct diff *d, uint32_t k,
			 const char *name, const char *first)
{
	char a[32], series[4 * SERIES_NAME + 8];
	bool worse = false;

	for (uint32_t s = 0; s < d->nseries; s++)
		for (int i = 0; i < DIFF_FIGURES; i++) {
			const struct diff_value *v = &d->series[s].side[k][i];

			escape_text(d->series[s].name, SERIES_NAME, series, sizeof(series));
			if (diff_value_not_judged(v, o->worse))
				say_not_judged(o, v, series, diff_figure_name(i), name, first);
			if (!diff_value_worse_by(v, o->worse))
				continue;
			worse = true;
			say("%s: %s, %s: %s %% more than in %s (ratio %.3g to %.3g): more than "
			    "--fail-if-worse %g",
			    name, series, diff_figure_name(i),
			    format_percent(100 * (v->ratio.value - 1), a, sizeof(a)), first,
			    v->ratio.low, v->ratio.high, o->worse);
		}
	return worse;
}

static int judge(const struct diff_options *o, const struct diff *d, const struct files *f)
{
	char a[32], first[256], name[256];
	int code = EXIT_OK;

	for (uint32_t k = 1; k < d->n && !isnan(o->worse); k++) {
		const struct ratio *r = &d->total[k].time_ratio;
		bool worse = diff_worse_by(d, k, o->worse);

		side_name(f, 0, first, sizeof(first));
		side_name(f, k, name, sizeof(name));
		if (worse && isinf(r->value))
			say("%s: it lost time, and %s lost none: worse than --fail-if-worse %g",
			    name, first, o->worse);
		else if (worse)
			say("%s: it lost %s %% more time than %s (ratio %.3g to %.3g): more than "
			    "--fail-if-worse %g",
			    name, format_percent(100 * (r->value - 1), a, sizeof(a)), first, r->low,
			    r->high, o->worse);
		else if (passed_over(o, d, k))
			say("%s: it lost more time than %s, but two windows may differ as much "
			    "when nothing has changed (--between %g), so this is no failure; to "
			    "know more, make several recordings of each side in turn",
			    name, first, o->between);
		if (judge_series(o, d, k, name, first) || worse)
			code = EXIT_CROSSED;
	}
	return code;
}

static int compare(struct diff_options *o, const struct files *f)
{
	struct render_options r;
	struct diff d;
	int code = EXIT_ERROR, err = diff_make(&d, f->side, f->sides, o->between);

	if (err) {
		complain("out of memory");
	} else {
		output_ready(&o->output, &r);
		if (!output_done(&o->output,
				 render_diff(&d, f->name, o->output.format, &r, o->output.file)))
			code = judge(o, &d, f);
	}
	diff_free(&d);
	return code;
}

/* Frees one file's view and names. */
static void close_file(struct files *f, uint32_t i)
{
	view_free(&f->view[i]);
	recording_close(f->recording[i]);
	joined_close(f->joined[i]);
	memset(&f->view[i], 0, sizeof(f->view[i]));
	f->recording[i] = NULL;
	f->joined[i] = NULL;
}

/* Reads the recording, and those of its host beside it. */
static int read_all(struct files *f, uint32_t i, struct part *part)
{
	struct view *v = &f->view[i];
	uint32_t index;

	if (f->hosts.path[0] && (!(f->joined[i] = joined_open(f->path[i], &f->hosts, part)) ||
				 joined_begin(f->joined[i], part, v)))
		return -1;
	f->recording[i] = recording_open(f->path[i], part, v);
	if (!f->recording[i])
		return -1;
	while (f->joined[i] && recording_next(f->recording[i], &index))
		;
	recording_finish(f->recording[i]);
	if (!f->joined[i])
		return 0;
	joined_finish(f->joined[i], v);
	if (v->host_side->verdict != ALIGN_FOUND)
		say("%s: its host: %s", f->path[i], v->host_side->text);
	return 0;
}

static int read_file(struct files *f, uint32_t i, uint64_t threshold_ns)
{
	struct part part = {.redact = f->redact, .threshold_ns = threshold_ns};
	const struct view *v = &f->view[i];

	if (read_all(f, i, &part)) {
		close_file(f, i);
		return -1;
	}
	if (diff_observed_ns(v))
		return 0;
	if (diff_left_out(v))
		complain("%s: there is nothing to compare: how much of their time its %s lost "
			 "is not known, because %s; culprit report shows what is known",
			 f->path[i], v->run.watch ? "threads" : "CPUs",
			 view_thread_known(v) ? "they reported their losses themselves, left a "
						"CPU unseen or were not seen to run"
					      : "the file is damaged");
	else
		complain("%s: no time was observed in it%s%s: there is nothing to compare",
			 f->path[i], v->run.incomplete[0] ? ": " : "", v->run.incomplete);
	close_file(f, i);
	return -1;
}

/* Recordings are compared from the largest of their thresholds on: reads those with a lower one
 * again. A workload's windows have thresholds of their own. */
static int level(struct files *f)
{
	uint64_t threshold_ns = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		if (f->view[i].run.windows)
			return 0;
		for (uint32_t k = 0; k < f->view[i].ncpus; k++)
			if (f->view[i].cpu[k].threshold_ns > threshold_ns)
				threshold_ns = f->view[i].cpu[k].threshold_ns;
	}
	for (uint32_t i = 0; i < f->n; i++) {
		const struct view *v = &f->view[i];
		bool lower = false;

		for (uint32_t k = 0; k < v->ncpus; k++)
			lower |= v->cpu[k].threshold_ns < threshold_ns;
		if (!lower)
			continue;
		close_file(f, i);
		if (read_file(f, i, threshold_ns))
			return -1;
	}
	return 0;
}

static void name_files(struct files *f)
{
	for (uint32_t k = 0, at = 0; k < f->sides; k++)
		for (uint32_t i = 1; i <= f->side[k].n; i++, at++) {
			bool redacted = f->view[at].run.redacted;

			if (f->side[k].n > 1)
				snprintf(f->letter[at], sizeof(f->letter[at]), "%c%u", 'A' + (int)k,
					 i);
			else
				snprintf(f->letter[at], sizeof(f->letter[at]), "%c", 'A' + (int)k);
			f->name[at] = redacted ? f->letter[at] : f->path[at];
		}
}

static int diff(struct diff_options *o, struct files *f)
{
	int code = EXIT_ERROR;
	bool redacted = false;
	uint32_t i;

	for (i = 0; i < f->n; i++) {
		f->views[i] = &f->view[i];
		if (read_file(f, i, 0))
			break;
	}
	for (uint32_t k = 0; i == f->n && k < f->n; k++)
		redacted |= f->view[k].run.redacted;
	if (redacted)
		say("left out: %s", VIEW_REDACTED);
	if (i == f->n && diff_kinds_alike(f->path, f->view, f->n) && !level(f)) {
		name_files(f);
		code = compare(o, f);
	}
	while (i-- > 0)
		close_file(f, i);
	return code;
}

/* ---- the command line ---- */

/* Index of -- between files; argc: none. */
static int separator(int argc, char **argv)
{
	for (int i = 2; i + 1 < argc; i++)
		if (!strcmp(argv[i], "--"))
			return i;
	return argc;
}

static int add_side(struct files *f, char **path, uint32_t n)
{
	if (f->sides == DIFF_FILES || n > DIFF_RECORDINGS - f->n)
		return complain("too many recordings: diff takes at most %d sides and %d "
				"recordings",
				DIFF_FILES, DIFF_RECORDINGS);
	f->side[f->sides++] = (struct diff_side){&f->views[f->n], n};
	for (uint32_t i = 0; i < n; i++)
		f->path[f->n++] = path[i];
	return 0;
}

/* Makes each file a side, where no -- is between them. */
static int take_files(struct files *f, char **path, int n, bool alone)
{
	if (!alone)
		return n ? add_side(f, path, n) : 0;
	for (int i = 0; i < n; i++)
		if (add_side(f, path + i, 1))
			return -1;
	return 0;
}

static int take_arguments(struct diff_options *o, struct files *f, int argc, char **argv)
{
	bool alone = separator(argc, argv) == argc;

	for (;;) {
		int end = separator(argc, argv), n, code;
		char *at = end < argc ? argv[end] : NULL;

		if (at)
			argv[end] = NULL;
		code = opt_parse(&diff_usage, end, argv, o, &n);
		if (code || take_files(f, argv + 1, n, alone))
			return code ? code : -1;
		if (!at)
			return 0;
		if (!f->n) /* only options stood before it */
			alone = separator(argc - end, argv + end) == argc - end;
		argc -= end;
		argv += end; /* the -- stands for the command's name */
	}
}

/* Last, before a byte is read. 0, or -1 with the reason said. */
static int ready(struct diff_options *o, const char *const *path, uint32_t n,
		 struct redact **redact)
{
	size_t hosts = 0;

	while (o->hosts.path[hosts])
		hosts++;
	/* The parts of the command line know only their own. */
	if (opt_check_written(&diff_usage, "output", o->output.path, NULL, path, n) ||
	    opt_check_written(&diff_usage, "output", o->output.path, "host", o->hosts.path, hosts))
		return -1;
	if (o->redact && !(*redact = redact_new(0)))
		return complain("out of memory");
	guard_reader(o->memory, o->output.path);
	guard_alone(o->output.path);
	return output_open(&o->output);
}

static int compare_sides(struct diff_options *o, int argc, char **argv)
{
	struct files *f = calloc(1, sizeof(*f));
	int code = f ? take_arguments(o, f, argc, argv) : complain("out of memory");

	if (isnan(o->between))
		o->between = DIFF_BETWEEN;
	if (!code && f->sides < 2)
		code = complain("%u recording%s given: give two or more, first the one to compare "
				"with; culprit record makes them",
				f->n, plural(f->n));
	if (!code)
		f->hosts = o->hosts;
	if (code)
		code = code > 0 ? EXIT_OK : EXIT_ERROR;
	else
		code = ready(o, f->path, f->n, &f->redact) ? EXIT_ERROR
							   : output_close(&o->output, diff(o, f));
	if (f)
		redact_free(f->redact);
	free(f);
	return code;
}

static int compare_groups(struct diff_options *o, int argc, char **argv)
{
	struct diff_groups g = {0};
	int code = diff_groups_arguments(&g, argc, argv, o);

	if (!code && o->hosts.path[0])
		code = complain("--group takes the hosts' own recordings: leave --host out");
	if (code)
		code = code > 0 ? EXIT_OK : EXIT_ERROR;
	else
		code = ready(o, (const char *const *)g.path, g.n, &g.redact)
			       ? EXIT_ERROR
			       : output_close(&o->output, diff_groups(&g, o));
	redact_free(g.redact);
	free(g.path);
	return code;
}

int cmd_diff(int argc, char **argv)
{
	struct diff_options o = {.worse = NAN, .between = NAN};

	return diff_groups_asked(argc, argv) ? compare_groups(&o, argc, argv)
					     : compare_sides(&o, argc, argv);
}
