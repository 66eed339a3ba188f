/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The content of a report on CPUs that are alike. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/units.h"
#include "model/groups.h"
#include "model/report.h"

#define LIST_BYTES 56 /* room for a list of CPUs */

const char *report_lane(const struct view *v, uint32_t lane, char buf[REPORT_CPUS])
{
	char name[LANE_NAME];

	return escape_text(view_lane(v, lane, name), SIZE_MAX, buf, REPORT_CPUS);
}

/* Writes what threads' names have in common. */
static const char *common_name(const struct cpu_group *g, char *buf, size_t len)
{
	if (!g->name[0])
		snprintf(buf, len, "without a name");
	else
		escape_text(g->name, sizeof(g->name), buf, len);
	return buf;
}

const char *report_cpus(const struct view *v, const struct cpu_group *g, char buf[REPORT_CPUS])
{
	char list[LIST_BYTES], name[4 * GROUP_NAME + 8];

	if (view_threads(v) && g->n == 1)
		return report_lane(v, g->first, buf);
	if (view_threads(v)) {
		snprintf(buf, REPORT_CPUS, "threads %s (%u)", common_name(g, name, sizeof(name)),
			 g->n);
		return buf;
	}
	cpus_format(&g->cpus, list, sizeof(list));
	if (list[0] && list[strlen(list) - 1] == '.')
		snprintf(buf, REPORT_CPUS, "cpus %s (%u)", list, g->n);
	else
		snprintf(buf, REPORT_CPUS, "cpu%s %s", plural(g->n), list);
	return buf;
}

const char *report_cpus_cell(const struct view *v, const struct cpu_group *g, size_t width,
			     char buf[REPORT_CPUS])
{
	char list[4 * GROUP_NAME + 8];

	if (view_threads(v) && g->n == 1)
		return report_lane(v, g->first, buf);
	if (view_threads(v))
		common_name(g, list, sizeof(list));
	else
		cpus_format(&g->cpus, list, width < sizeof(list) ? width : sizeof(list));
	if (g->n > 1)
		snprintf(buf, REPORT_CPUS, "%s (%u)", list, g->n);
	else
		snprintf(buf, REPORT_CPUS, "%s", list);
	return buf;
}

const char *report_ranked(const struct view *v, char buf[REPORT_CPUS])
{
	snprintf(buf, REPORT_CPUS, "%u %s, by %s in turn", v->ncpus,
		 view_threads(v) ? "threads" : "CPUs",
		 view_threads(v)                  ? "time lost and longest gap"
		 : v->run.windows && !v->run.sums ? "time in slow windows and longest window"
						  : "share lost and longest gap");
	return buf;
}

/* ---- the columns of the table of all ---- */

static void lost_cell(const struct cpu_group *g, char buf[32])
{
	report_lost_share(g->lost.most, buf, 32);
}

static void lost_time_cell(const struct cpu_group *g, char buf[32])
{
	format_ns(g->lost_each_ns.most, buf, 32);
}

static void slow_cell(const struct cpu_group *g, char buf[32])
{
	format_count(g->hiccups.most, buf, 32);
}

static void worst_cell(const struct cpu_group *g, char buf[32])
{
	format_ns(g->longest_ns.most, buf, 32);
}

static void p99_cell(const struct cpu_group *g, char buf[32])
{
	format_ns(g->p99_ns.most, buf, 32);
}

/* Writes a figure of the only series. */
static void series_cell(const struct cpu_group *g, const struct spread *s, char buf[32])
{
	if (g->series[0].one->fine)
		format_ps(s->most, buf, 32);
	else
		format_ns(s->most, buf, 32);
}

static void series_median_cell(const struct cpu_group *g, char buf[32])
{
	if (g->nseries == 1)
		series_cell(g, &g->series[0].median, buf);
}

static void series_p99_cell(const struct cpu_group *g, char buf[32])
{
	if (g->nseries == 1)
		series_cell(g, &g->series[0].p99, buf);
}

static void series_max_cell(const struct cpu_group *g, char buf[32])
{
	if (g->nseries == 1)
		series_cell(g, &g->series[0].max, buf);
}

/* A workload with several series has too many medians for a table of CPUs. */
static bool one_series(const struct view *v)
{
	for (uint32_t k = 0; k < v->groups.n; k++)
		if (v->groups.row[k].nseries == 1)
			return true;
	return false;
}

uint32_t report_columns(const struct view *v, struct report_column column[REPORT_COLUMNS])
{
	static const struct report_column of_cpus[] = {
		{"lost %", lost_cell}, {"worst", worst_cell}, {"p99", p99_cell}};
	static const struct report_column of_threads[] = {
		{"lost", lost_time_cell}, {"worst", worst_cell}, {"p99", p99_cell}};
	static const struct report_column of_one[] = {{"slow", slow_cell},
						      {"median", series_median_cell},
						      {"p99", series_p99_cell},
						      {"max", series_max_cell}};
	static const struct report_column of_several[] = {{"slow", slow_cell},
							  {"longest", worst_cell}};
	const struct report_column *from = of_cpus;
	uint32_t n = 3;

	if (view_threads(v)) {
		from = of_threads;
	} else if (v->run.windows && !v->run.sums) {
		n = one_series(v) ? 4 : 2;
		from = n == 4 ? of_one : of_several;
	}
	memcpy(column, from, n * sizeof(*column));
	return n;
}

const struct source *report_first_cause(const struct view *v, const struct cpu_group *g)
{
	const struct sources *t = &v->cpu[g->first].sources;
	const struct source *odd = g->n == 1 ? group_odd(t) : NULL;

	if (odd)
		return odd;
	return g->n == 1 ? group_most(t) : g->nsources ? &g->source[0].who : NULL;
}

static const char *lanes(const struct view *v)
{
	return view_threads(v) ? "threads" : "CPUs";
}

/* "on 41 of 59 CPUs; at most 3.10 ms, on cpu 12", what of it is worth saying. */
static void note_spread(const struct view *v, const struct cpu_group *g,
			const struct group_source *s, FILE *out)
{
	bool some = s->cpus<g->n, uneven = s->ns.most> 2 * s->ns.median;
	char time[32], lane[REPORT_CPUS];

	if (some)
		fprintf(out, "on %u of %u %s", s->cpus, g->n, lanes(v));
	if (uneven)
		fprintf(out, "%sat most %s in all, on %s", some ? "; " : "",
			format_ns(s->ns.most, time, sizeof(time)),
			report_lane(v, s->ns.lane, lane));
	if (some || uneven)
		fputc('\n', out);
}

char *report_group_notes(const struct view *v, const struct cpu_group *g,
			 const struct group_source *s)
{
	char asker[REPORT_OWNED], *notes = NULL;
	size_t len;
	FILE *out = open_memstream(&notes, &len);

	if (!out)
		return NULL;
	note_spread(v, g, s, out);
	if (s->asker && 2 * s->askers > s->cpus)
		fprintf(out, "most often %s (so on %u of %u %s)\n",
			report_owned_asker(s->asker, asker), s->askers, s->cpus, lanes(v));
	if (!fclose(out))
		return notes;
	free(notes);
	return NULL;
}
