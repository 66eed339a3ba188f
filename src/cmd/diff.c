/* culprit diff: what changed between recordings, and whether it is more than chance. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "recording/read.h"
#include "render/diff.h"

struct options {
	struct output output; /* its format is one of ours */
	double worse;         /* percent; NAN: not given */
};

static const char *const diff_formats[] = {"text", "markdown", "json", NULL}; /* enum diff_format */

/* As many percent as one likes: twice the time is 100 % worse. */
static int set_worse(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	size_t digits = strspn(text, "0123456789."), first = strspn(text, "0123456789");

	(void)row;
	if (!first || digits > 15 || strcspn(text, ".") + 1 == digits ||
	    memchr(text + first + 1, '.', digits - first) || (text[digits] && strcmp(text + digits, "%"))) {
		snprintf(why, whylen, "'%.40s': not a percentage: write a plain number, like 5 or 2.5%%", text);
		return -1;
	}
	*(double *)field = strtod(text, NULL);
	return 0;
}

#define FIELD(name) offsetof(struct options, name)

static const struct opt diff_opts[] = {
	{'f', "format", "FORMAT", "text (default), markdown or json", FIELD(output.format), opt_set_choice,
	 diff_formats},
	{'o', "output", "FILE", "write to FILE instead of standard output", FIELD(output.path), opt_set_string, NULL},
	{0, "fail-if-worse", "PERCENT",
	 "exit with 2 when any other file loses more time a second than the first, by more than PERCENT of it, and the "
	 "95 % interval of the ratio lies above 1",
	 FIELD(worse), set_worse, NULL},
	{0},
};

const struct opt_command diff_usage = {
	.name = "diff",
	.operands = "FILE FILE...",
	.summary = "what changed between recordings, and whether it is more than chance",
	.about =
		"Compares each recording with the first: the same sources are paired, all is per second that a CPU was "
		"observed, and ratios have 95 % intervals that know of few events and of bursts. A source is gone, "
		"new, "
		"better or worse; it is same when its change could be chance, counting that many sources were looked "
		"at, or is under 1 % of the time lost and in no long interval. Hiccups count from the largest "
		"threshold "
		"of all files on. Then: what is not the same about "
		"machine, kernel and settings, and how the lengths are distributed.\n\n"
		"Exit status: 0 done, 1 error, 2 --fail-if-worse was met.",
	.opts = diff_opts,
};

static int judge(const struct options *o, const struct diff *d, char **path)
{
	int code = EXIT_OK;

	for (uint32_t k = 1; k < d->n && !isnan(o->worse); k++) {
		const struct ratio *r = &d->total[k].time_ratio;
		char a[32];

		if (!diff_worse_by(d, k, o->worse))
			continue;
		if (isinf(r->value))
			say("%s: time is lost, and in %s none was: worse than --fail-if-worse %g", path[k], path[0],
			    o->worse);
		else
			say("%s: %s %% more time lost than in %s (ratio %.3g to %.3g) is more than --fail-if-worse %g",
			    path[k], format_percent(100 * (r->value - 1), a, sizeof(a)), path[0], r->low, r->high,
			    o->worse);
		code = EXIT_CROSSED;
	}
	return code;
}

static int compare(struct options *o, const struct view *const *views, char **path, uint32_t n)
{
	struct render_options r;
	struct diff d;
	int code = EXIT_ERROR;

	if (diff_make(&d, views, n)) {
		complain("out of memory");
	} else {
		output_ready(&o->output, &r);
		if (!output_done(&o->output,
				 render_diff(&d, (const char *const *)path, o->output.format, &r, o->output.file)))
			code = judge(o, &d, path);
	}
	diff_free(&d);
	return code;
}

static struct recording *read_file(const char *path, const struct part *part, struct view *v)
{
	struct recording *r = recording_open(path, part, v);
	uint64_t observed_ns = 0;

	if (!r)
		return NULL;
	recording_finish(r);
	for (uint32_t i = 0; i < v->summary.ncpus; i++)
		observed_ns += v->cpu[i].observed_ns;
	if (observed_ns)
		return r;
	complain("%s: holds no time that was observed%s%s: there is nothing to compare", path,
		 v->run.incomplete[0] ? ": " : "", v->run.incomplete);
	view_free(v);
	recording_close(r);
	return NULL;
}

/* Files are compared from the largest of their thresholds on: those with a lower one are read once more. A workload's windows have thresholds of
 * their own. */
static int level(struct recording **r, struct view *view, char **path, uint32_t n)
{
	struct part part = {0};

	for (uint32_t i = 0; i < n; i++) {
		if (view[i].run.windows)
			return 0;
		for (uint32_t k = 0; k < view[i].summary.ncpus; k++)
			if (view[i].cpu[k].threshold_ns > part.threshold_ns)
				part.threshold_ns = view[i].cpu[k].threshold_ns;
	}
	for (uint32_t i = 0; i < n; i++) {
		bool lower = false;

		for (uint32_t k = 0; k < view[i].summary.ncpus; k++)
			lower |= view[i].cpu[k].threshold_ns < part.threshold_ns;
		if (!lower)
			continue;
		view_free(&view[i]);
		recording_close(r[i]);
		r[i] = NULL;
		memset(&view[i], 0, sizeof(view[i]));
		r[i] = read_file(path[i], &part, &view[i]);
		if (!r[i])
			return -1;
	}
	return 0;
}

static int diff(struct options *o, char **path, uint32_t n)
{
	struct recording *recording[DIFF_FILES];
	struct view *view = calloc(n, sizeof(*view));
	const struct view *views[DIFF_FILES];
	int code = EXIT_ERROR;
	uint32_t i;

	if (!view)
		return complain("out of memory"), EXIT_ERROR;
	for (i = 0; i < n; i++) {
		views[i] = &view[i];
		recording[i] = read_file(path[i], NULL, &view[i]);
		if (!recording[i])
			break;
	}
	if (i == n && !level(recording, view, path, n))
		code = compare(o, views, path, n);
	while (i-- > 0) {
		view_free(&view[i]);
		recording_close(recording[i]);
	}
	free(view);
	return code;
}

int cmd_diff(int argc, char **argv)
{
	struct options o = {.worse = NAN};
	int operands, code;

	code = opt_parse(&diff_usage, argc, argv, &o, &operands);
	if (code)
		return code > 0 ? EXIT_OK : EXIT_ERROR;
	if (operands < 2 || operands > DIFF_FILES) {
		complain("%d recordings given: diff takes 2 to %d, the one to compare with first; culprit record makes "
			 "them",
			 operands, DIFF_FILES);
		return EXIT_ERROR;
	}
	if (output_open(&o.output))
		return EXIT_ERROR;
	return output_close(&o.output, diff(&o, argv + 1, operands));
}
