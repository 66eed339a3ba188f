/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/style.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/newfile.h"

#define OSLAT_BUCKETS 32 /* as many as oslat has without -b */

#define STEPS        10000 /* as many as hiccups takes */
#define STEPS_FACTOR 8

#define FIELD(name) offsetof(struct styled, name)

static const struct measure_range buckets_range = {4, 1024};

static int set_prefix(const char *text, void *field, const struct opt *row, char *why,
		      size_t whylen)
{
	const char *name = strrchr(text, '/') ? strrchr(text, '/') + 1 : text;

	if (*name)
		return opt_set_string(text, field, row, why, whylen);
	snprintf(why, whylen, "'%.40s': the files need a name, as in %.40sgaps for %.40sgaps.1",
		 text, text, text);
	return -EINVAL;
}

const struct opt style_opts[] = {
	{0, "style", "TOOL", "use the columns, units and default threshold of another tool",
	 FIELD(style), opt_set_choice, .choices = OPT_CHOICES(style_names), .preset = "culprit",
	 .excludes = "format,stacks,chart,all", .why = "prints in a form of its own"},
	{0, "raw", "PREFIX",
	 "write each hiccup of a CPU in a line of the file PREFIX.CPU, as sysjitter does",
	 FIELD(raw), set_prefix, .writes = true, .prefix = true},
	{0, "sort", NULL, "with --raw: by length, all at the end", FIELD(sort), .needs = "raw",
	 .why = "sorts the lines of raw files"},
	/* oslat's -b, -B, -z and -q: culprit help workloads */
	{0, "oslat-buckets", "N", NULL, FIELD(oslat.buckets), measure_set_count, &buckets_range,
	 .needs = "style=oslat", .why = "belongs to oslat's"},
	{0, "oslat-bias", NULL, NULL, FIELD(oslat.bias), .needs = "style=oslat",
	 .why = "belongs to oslat's"},
	{0, "oslat-omit-zero", NULL, NULL, FIELD(oslat.omit_zero), .needs = "style=oslat",
	 .why = "belongs to oslat's"},
	{0, "oslat-brief", NULL, NULL, FIELD(oslat.brief), .needs = "style=oslat",
	 .why = "belongs to oslat's"},
	{0, "style-json", "FILE", NULL, FIELD(json.path), opt_set_string, .needs = "style=oslat",
	 .excludes = "max-hiccup,max-lost", .why = STYLE_JSON_WHY, .writes = true},
	{0},
};

/* hiccups takes eight times the smallest step of the clock in ten thousand readings. */
static uint64_t smallest_step(void)
{
	uint64_t least = UINT64_MAX, last = 0;

	for (int i = 0; i < STEPS; i++) {
		uint64_t now = now_ns();

		if (last && now - last < least && now > last)
			least = now - last;
		last = now;
	}
	return STEPS_FACTOR * least;
}

/* The CPUs that the tool measures where none are given. While culprit traces, one has to be left
 * to it, so its own choice stands then. */
static void choose_cpus(int style, struct cpus *cpus)
{
	if (style == STYLE_HICCUPS)
		cpus_allowed(cpus);
	else if (style != STYLE_NONE && style != STYLE_OSNOISE)
		measure_all_cpus(cpus);
}

void style_prepare(struct styled *s, struct measure *m)
{
	if (!m->threshold_ns)
		m->threshold_ns =
			s->style == STYLE_HICCUPS ? smallest_step() : style_threshold(s->style);
	if (m->no_trace && cpus_empty(&m->cpus))
		choose_cpus(s->style, &m->cpus);
	if (!s->oslat.buckets)
		s->oslat.buckets = OSLAT_BUCKETS;
}

bool style_wants_hiccups(const struct styled *s)
{
	return s->raw || s->style == STYLE_OSNOISE;
}

/* ---- sysjitter's raw files ---- */

struct raw_file {
	FILE *file;
	uint64_t last_ns;
	struct raw_gap *gap; /* with --sort: all of them */
	size_t n;
};

static int open_raw(struct styled *s, const struct view *v)
{
	char path[4096];

	s->raws = calloc(v->ncpus, sizeof(*s->raws));
	if (!s->raws)
		return complain("out of memory");
	for (uint32_t i = 0; i < v->ncpus; i++) {
		FILE *f;

		snprintf(path, sizeof(path), "%s.%u", s->raw, v->cpu[i].number);
		f = s->raws[i].file = newfile_grow(path);
		if (!f)
			return complain("cannot write to %s: %s; choose another prefix with --raw",
					path, newfile_error(errno));
		if (fseek(f, 0, SEEK_SET))
			return complain("%s is no regular file: its head is written last; choose "
					"another prefix with --raw",
					path);
		render_raw_head(v, i, s->sort, f);
	}
	return 0;
}

/* True when it is noted. */
static bool keep_gap(struct raw_file *r, uint64_t at_ns, uint64_t ns)
{
	if (!(r->n & (r->n - 1))) { /* powers of two */
		void *more = reallocarray(r->gap, r->n ? 2 * r->n : 1, sizeof(*r->gap));

		if (!more)
			return false;
		r->gap = more;
	}
	r->gap[r->n++] = (struct raw_gap){at_ns, ns};
	return true;
}

/* A hiccup that could not be kept is missing at the end, and main says that memory was out. */
static void write_raw(struct styled *s, const struct view *v, struct raw_file *r,
		      const struct account *a)
{
	if (s->sort)
		keep_gap(r, a->start_ns - v->run.started_ns, a->duration_ns);
	else
		render_raw(v, a, r->last_ns, s->tsc_khz, r->file);
	r->last_ns = a->start_ns;
}

static int close_raw(struct styled *s, const struct view *v, uint32_t i)
{
	struct raw_file *r = &s->raws[i];
	int err = 0;

	if (!r->file)
		return 0;
	if (s->sort)
		render_raw_sorted(r->gap, r->n, s->tsc_khz, r->file);
	if (fseek(r->file, 0, SEEK_SET))
		err = errno;
	else
		render_raw_head(v, i, s->sort, r->file);
	if (fflush(r->file) || ferror(r->file))
		err = errno ? errno : EIO;
	fclose(r->file);
	free(r->gap);
	return err ? complain("writing %s.%u: %s", s->raw, v->cpu[i].number, strerror(err)) : 0;
}

/* ---- the run ---- */

int style_begin(struct styled *s, const struct view *v, FILE *out)
{
	s->tsc_khz = v->host.tsc_khz;
	s->period = calloc(v->ncpus, sizeof(*s->period));
	if (!s->period)
		return complain("out of memory");
	for (uint32_t i = 0; i < v->ncpus; i++)
		own_period_begin(&s->period[i], v->run.started_ns);
	if (s->style == STYLE_OSNOISE)
		render_period_head(out);
	return s->raw ? open_raw(s, v) : 0;
}

/* Writes the periods that were over at this time. */
static void end_periods(struct styled *s, const struct view *v, uint32_t index, uint64_t now_ns,
			FILE *out)
{
	struct osnoise_period done;

	while (own_period_over(&s->period[index], now_ns, &done))
		render_period(v, index, &done, out);
}

static void last_period(struct styled *s, const struct view *v, uint32_t index, FILE *out)
{
	uint64_t end_ns = v->run.started_ns + cpu_end_ns(&v->cpu[index]);
	struct osnoise_period done;

	end_periods(s, v, index, end_ns, out);
	if (own_period_rest(&s->period[index], end_ns, &done))
		render_period(v, index, &done, out);
}

void style_hiccup(struct styled *s, const struct view *v, uint32_t index, const struct account *a,
		  FILE *out)
{
	if (s->style == STYLE_OSNOISE) {
		end_periods(s, v, index, a->start_ns, out);
		own_period_add(&s->period[index], &v->cpu[index].sources, a);
	}
	if (s->raws && s->raws[index].file)
		write_raw(s, v, &s->raws[index], a);
}

/* Tells of hiccups that no style has a place for. */
static void say_lost(const struct view *v)
{
	uint64_t n = view_hiccups_lost(v);
	char text[32];

	if (n)
		say("%s hiccup%s came faster than could be read: in no percentile, bucket or list, "
		    "and the longest may be among them",
		    format_count(n, text, sizeof(text)), plural(n));
}

int style_end(struct styled *s, const struct view *v, FILE *out)
{
	int err = 0;

	if (s->style != STYLE_NONE)
		say_lost(v);

	if (s->style == STYLE_OSNOISE)
		for (uint32_t i = 0; i < v->ncpus; i++)
			last_period(s, v, i, out);
	else if (s->style != STYLE_NONE && render_style(s->style, v, &s->oslat, out) == -ENOMEM)
		err = complain("out of memory");
	for (uint32_t i = 0; s->raws && i < v->ncpus; i++)
		if (close_raw(s, v, i))
			err = -1;
	if (s->style != STYLE_NONE && (fflush(out) || ferror(out)))
		err = complain("writing the report: %s", strerror(errno));
	free(s->raws);
	free(s->period);
	return err;
}

int style_json(struct styled *s, const struct view *v, const struct limits *limits)
{
	FILE *json = rt_file_begin(&s->json, v, limits);

	return json ? rt_file_end(&s->json, render_oslat_json(v, &s->oslat, &s->json.test, json))
		    : 0;
}
