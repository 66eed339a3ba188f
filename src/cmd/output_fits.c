/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options that a format takes or does not, and what metrics are labelled with. */
#include "cmd/output.h"

#include <string.h>

#include "base/say.h"

/* names: NULL-terminated. */
static bool is_one_of(const struct output *o, const char *const *names)
{
	while (*names && strcmp(formats[o->format].choice.name, *names))
		names++;
	return *names;
}

bool output_adds_up(const struct output *o)
{
	return is_one_of(o,
			 (const char *const[]){"text", "json", "openmetrics", "prometheus", NULL});
}

int output_check_shown(const struct output *o, const struct shown *shown)
{
	static const char *const tables[] = {"text", "json", "markdown", "html", NULL},
				 *const whole[] = {"folded",      "hgrm",           "hlog",
						   "openmetrics", "parquet-rollup", "prometheus",
						   NULL};

	if (shown->top && !is_one_of(o, tables))
		return complain("--top is for a table of sources: leave it out with -f %s",
				formats[o->format].choice.name);
	if (shown_some(shown) && is_one_of(o, whole))
		return complain("--kind and --source choose no part of what -f %s has: leave them "
				"out",
				formats[o->format].choice.name);
	return 0;
}

static const char *name_of(const struct view *v)
{
	return v->file ? v->file : "a recording";
}

int output_check_runs(const struct output *o, const struct view *const *views, uint32_t n)
{
	static const char *const metrics[] = {"openmetrics", "prometheus", NULL};

	for (uint32_t i = 1; i < n && is_one_of(o, metrics); i++)
		for (uint32_t k = 0; k < i; k++)
			if (!strcmp(views[i]->host.hostname, views[k]->host.hostname) &&
			    !strcmp(views[i]->run.started, views[k]->run.started))
				return complain("%s and %s are of one host and begin: metrics tell "
						"runs apart by these alone, leave out one of them",
						name_of(views[k]), name_of(views[i]));
	return 0;
}

const struct opt_choice output_labels[] = {
	{"none", "none"},
	{"unit", "the systemd unit"},
	{"pod", "the Kubernetes pod"},
	{0},
};

int output_check_traced(const struct output *o, bool traced)
{
	return !traced && (o->stacks || o->label)
		       ? complain("--no-trace names nothing: leave out %s",
				  o->stacks ? "--stacks" : "--metrics-label")
		       : 0;
}

enum owner_by output_label(const struct output *o)
{
	static const enum owner_by by[] = {BY_THREAD, BY_UNIT, BY_POD};

	return by[o->label];
}
