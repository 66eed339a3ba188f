/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPUs that are alike, of the JSON report: what they have in common. */
#include <string.h>

#include "base/json.h"
#include "base/units.h"
#include "model/groups.h"
#include "render/render.h"

/* A CPU, or a watched thread by its number. */
static void write_lane(struct json *j, const char *key, const struct view *v, uint32_t lane)
{
	if (!view_threads(v))
		json_u64(j, key, v->cpu[lane].number);
	else if (key)
		json_u64(j, !strcmp(key, "cpu") ? "pid" : "max_pid", v->cpu[lane].tid);
	else
		json_u64(j, NULL, v->cpu[lane].tid);
}

static void write_spread(struct json *j, const char *key, const struct view *v,
			 const struct spread *s, double scale)
{
	json_object_flat(j, key);
	json_u64(j, "least", s->least * scale + 0.5);
	json_u64(j, "median", s->median * scale + 0.5);
	json_u64(j, "most", s->most * scale + 0.5);
	write_lane(j, "cpu", v, s->lane);
	json_end(j);
}

static void write_source(struct json *j, const struct view *v, const struct group_source *s)
{
	json_object(j, NULL);
	render_who(j, &s->who);
	json_string(j, "cause", s->who.cause);
	json_string(j, "advice", s->who.advice);
	json_u64(j, "cpus", s->cpus);
	json_u64(j, "count", s->count);
	json_u64(j, "total_ns", s->total_ns);
	write_spread(j, "each_ns", v, &s->ns, 1);
	json_u64(j, "max_ns", s->max_ns);
	write_lane(j, "max_cpu", v, s->max_lane);
	json_end(j);
}

static void write_time(struct json *j, const struct cpu_group *g)
{
	json_object(j, "time");
	json_u64(j, "attributed_ns", g->attributed_ns);
	json_u64(j, "edge_ns", g->edge_ns);
	json_u64(j, "not_recorded_ns", g->lost_ns);
	json_u64(j, "outside_ns", g->outside_ns);
	if (g->host_ns)
		json_u64(j, "host_ns", g->host_ns);
	json_end(j);
}

static void write_series(struct json *j, const struct view *v, const struct cpu_group *g)
{
	json_array(j, "series");
	for (uint32_t i = 0; i < g->nseries; i++) {
		const struct group_series *s = &g->series[i];
		double scale = s->one->fine ? 1e-3 : 1;

		json_object(j, NULL);
		json_string(j, "name", s->one->name);
		json_u64(j, "count", s->count);
		if (s->one->threshold_ns)
			json_u64(j, "longer", s->longer);
		write_spread(j, "p50_ns", v, &s->median, scale);
		if (s->one->fine)
			write_spread(j, "p50_ps", v, &s->median, 1);
		write_spread(j, "p99_ns", v, &s->p99, scale);
		write_spread(j, "max_ns", v, &s->max, scale);
		json_end(j);
	}
	json_end(j);
}

static void write_group(struct json *j, const struct view *v, uint32_t k)
{
	const struct cpu_group *g = &v->groups.row[k];
	const char *verdict = group_verdict(v, k);

	json_object(j, NULL);
	json_array_flat(j, view_threads(v) ? "pids" : "cpus");
	for (uint32_t i = 0; i < g->n; i++)
		write_lane(j, NULL, v, g->lane[i]);
	json_end(j);
	if (view_threads(v))
		json_string(j, "comm", g->name);
	json_string(j, "verdict", verdict[0] ? verdict : NULL);
	if (view_threads(v))
		write_spread(j, "lost_ns", v, &g->lost_each_ns, 1);
	else if (g->lost.least < 0)
		json_null(j, "lost_ns_per_s");
	else
		write_spread(j, "lost_ns_per_s", v, &g->lost, NSEC_PER_SEC);
	write_spread(j, "hiccups", v, &g->hiccups, 1);
	write_spread(j, "worst_ns", v, &g->longest_ns, 1);
	write_spread(j, "p99_ns", v, &g->p99_ns, 1);
	write_spread(j, "p50_ns", v, &g->median_ns, 1);
	write_time(j, g);
	json_array(j, "sources");
	for (uint32_t i = 0; i < g->nsources; i++)
		if (shown_is(&v->shown, &g->source[i].who))
			write_source(j, v, &g->source[i]);
	json_end(j);
	if (g->nseries)
		write_series(j, v, g);
	json_end(j);
}

void render_json_groups(struct json *j, const struct view *v)
{
	if (!groups_shown(v) || v->run.sums) /* single hiccups are not known */
		return;
	json_array(j, "groups");
	for (uint32_t k = 0; k < v->groups.n; k++)
		write_group(j, v, k);
	json_end(j);
}
