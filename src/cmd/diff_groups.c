/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings are read one after the other, and only sums stay. */
#include "cmd/diff_groups.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/diff_kind.h"
#include "recording/read.h"
#include "render/fleet_diff.h"

/* The first recording that was added: all others must have been made alike. */
struct sort {
	const char *path; /* NULL: none yet */
	const char *kind;
	bool traced, watch;
};

struct reading {
	const struct diff_groups *g;
	struct fleet fleet;
	struct sort sort;
	struct part part;   /* from which threshold on hiccups count */
	uint64_t threshold; /* the largest of the recordings, ns */
	const char *of;     /* the recording that has it */
	bool differ;        /* not all have that one */
	bool *left_out;     /* a flag each: it cannot be read or compared, as was said */
	uint32_t nleft_out, nleft_out_first; /* number of all, and of the first group */
};

static const char *sort_name(const struct sort *s)
{
	return s->traced ? s->kind : "of run without a trace";
}

/* False, with the reason said: it cannot be compared with the first. */
static bool is_alike(struct reading *r, const char *path, const struct view *v)
{
	struct sort s = {path, diff_kind(v), v->run.traced, v->run.watch};

	if (v->run.windows && !s.watch) {
		complain("%s: made by a workload: compare what workloads measured by diff without "
			 "--group",
			 path);
		return false;
	}
	if (!r->sort.path)
		r->sort = s;
	if (s.traced == r->sort.traced && !strcmp(s.kind, r->sort.kind))
		return true;
	complain("%s: a recording %s, but %s is one %s: they do not lose the same time", path,
		 sort_name(&s), r->sort.path, sort_name(&r->sort));
	return false;
}

/* False, with the reason said: nobody can tell whether two such are of one host. */
static bool has_host(const struct recording *file, const char *path)
{
	if (!recording_private(file))
		return true;
	complain("%s: made with --private: it does not tell its host, and groups are compared host "
		 "by host; record without it, and give diff --redact",
		 path);
	return false;
}

/* False, with the reason said: what it lost is not known. */
static bool is_whole(const char *path, const struct view *v)
{
	if (!v->run.holes)
		return true;
	complain("%s: parts of it are missing: how much of their time its CPUs lost is not known",
		 path);
	return false;
}

static void see_threshold(struct reading *r, const char *path, const struct view *v)
{
	for (uint32_t i = 0; i < v->ncpus; i++) {
		uint64_t threshold = v->cpu[i].threshold_ns;

		r->differ |= r->of && threshold != r->threshold;
		if (!r->of || threshold > r->threshold) {
			r->threshold = threshold;
			r->of = path;
		}
	}
}

/* 0 or -ENOMEM; one that cannot be read or compared is said, and counted. */
static int add_file(struct reading *r, uint32_t i)
{
	const char *path = r->g->path[i];
	struct view v = {0};
	struct recording *file = recording_open(path, &r->part, &v);
	int err = !file ? -EIO : has_host(file, path) ? 0 : -EINVAL;

	if (!err) {
		recording_finish(file);
		output_explain(&v);
		err = is_whole(path, &v) && is_alike(r, path, &v) ? fleet_add(&r->fleet, &v)
								  : -EINVAL;
		if (!err)
			see_threshold(r, path, &v);
	}
	if (err == -ENOMEM)
		complain("out of memory");
	if (err && err != -ENOMEM) {
		r->left_out[i] = true;
		r->nleft_out++;
		r->nleft_out_first += i < r->g->first;
	}
	view_free(&v);
	recording_close(file);
	return err == -ENOMEM ? err : 0;
}

/* All of them; part: as before. */
static int read_all(struct reading *r)
{
	int err = fleet_init(&r->fleet);

	r->fleet.cells = true;
	if (err)
		complain("out of memory");
	for (uint32_t i = 0; i < r->g->n && !err; i++)
		if (!r->left_out[i])
			err = add_file(r, i);
	return err;
}

static int judge(const struct fleet_diff *d, double worse)
{
	double share = d->total.share[1] / d->total.share[0];
	char a[32];

	if (isnan(worse) || !fleet_worse_by(d, worse))
		return EXIT_OK;
	if (isinf(share))
		say("group B lost time, and group A none: worse than --fail-if-worse %g", worse);
	else
		say("group B lost %s %% more time than group A, on the mean host: more than "
		    "--fail-if-worse %g",
		    format_percent(100 * (share - 1), a, sizeof(a)), worse);
	return EXIT_CROSSED;
}

static int compare(const struct reading *r, struct diff_options *o)
{
	uint32_t first = r->g->first - r->nleft_out_first;
	struct render_options options;
	struct fleet_diff d;
	int code = EXIT_ERROR, err;

	if (!first || first == r->fleet.recordings)
		return complain("a group has no recording that can be compared"), EXIT_ERROR;
	err = fleet_diff_make(&d, &r->fleet, first);
	if (err == -EINVAL) {
		complain("some hosts are in both groups, but fewer than %d: take them out of one "
			 "group, or give both groups the same hosts",
			 FLEET_LEAST_HOSTS);
	} else if (err) {
		complain("out of memory");
	} else {
		d.threads = r->sort.watch;
		output_ready(&o->output, &options);
		if (!output_done(&o->output, render_fleet_diff(&d, r->nleft_out, o->output.format,
							       &options, o->output.file)))
			code = judge(&d, o->worse);
	}
	fleet_diff_free(&d);
	return r->nleft_out ? EXIT_ERROR : code;
}

int diff_groups(const struct diff_groups *g, struct diff_options *o)
{
	struct reading r = {.g = g, .part.redact = g->redact};
	int code = EXIT_ERROR, err;

	r.left_out = calloc(g->n, sizeof(*r.left_out));
	if (!r.left_out)
		return complain("out of memory"), EXIT_ERROR;
	err = read_all(&r);
	if (!err && r.differ) {
		char a[32], text[1024];

		say("hiccups of %s and longer are compared: %s has no shorter ones",
		    format_ns(r.threshold, a, sizeof(a)),
		    escape_text(r.of, SIZE_MAX, text, sizeof(text)));
		fleet_free(&r.fleet);
		r.part.threshold_ns = r.threshold;
		err = read_all(&r);
	}
	if (!err)
		code = compare(&r, o);
	fleet_free(&r.fleet);
	free(r.left_out);
	return code;
}

/* ---- the command line ---- */

#define GROUP "--group"

/* Index of the first from that place on; argc: none. */
static int next_group(int at, int argc, char **argv)
{
	while (at < argc && strcmp(argv[at], GROUP) != 0)
		at++;
	return at;
}

bool diff_groups_asked(int argc, char **argv)
{
	return next_group(1, argc, argv) < argc;
}

int diff_groups_arguments(struct diff_groups *g, int argc, char **argv, struct diff_options *o)
{
	int groups = -1;

	g->path = calloc((size_t)argc, sizeof(*g->path));
	if (!g->path)
		return complain("out of memory");
	for (int at = 0, end; at < argc; at = end) {
		int n, code;

		end = next_group(at + 1, argc, argv);
		code = opt_parse(&diff_usage, end - at, argv + at, o, &n);
		if (code)
			return code;
		if (++groups > 2)
			return complain("more than two times --group: diff compares two groups");
		if (groups && !n)
			return complain("--group without a recording: culprit diff --group "
					"before/*.rec --group after/*.rec");
		if (!groups && n)
			return complain("a recording before the first --group: give each group its "
					"recordings behind --group");
		memcpy(g->path + g->n, argv + at + 1, (size_t)n * sizeof(*g->path));
		g->n += (uint32_t)n;
		if (groups == 1)
			g->first = g->n;
	}
	if (!isnan(o->between))
		return complain(
			"--between does not go with --group, where hosts tell how much they "
			"differ: leave it out");
	return groups == 2 ? 0 : complain("one --group: give a second one to compare with it");
}
