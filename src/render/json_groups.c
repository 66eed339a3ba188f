/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPUs that are alike, of the JSON report: what they have in common. */
#include "base/json.h"
#include "base/units.h"
#include "model/groups.h"
#include "render/render.h"

static void write_spread(struct json *j, const char *key, const struct view *v,
			 const struct spread *s, double scale)
{
	json_object_flat(j, key);
	json_u64(j, "least", s->least * scale + 0.5);
	json_u64(j, "median", s->median * scale + 0.5);
	json_u64(j, "most", s->most * scale + 0.5);
	json_u64(j, "cpu", v->cpu[s->lane].number);
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
	json_u64(j, "max_cpu", v->cpu[s->max_lane].number);
	json_end(j);
}

static void write_time(struct json *j, const struct cpu_group *g)
{
	json_object(j, "time");
	json_u64(j, "attributed_ns", g->attributed_ns);
	json_u64(j, "edge_ns", g->edge_ns);
	json_u64(j, "not_recorded_ns", g->lost_ns);
	json_u64(j, "outside_ns", g->outside_ns);
	json_end(j);
}

static void write_group(struct json *j, const struct view *v, uint32_t k)
{
	const struct cpu_group *g = &v->groups.row[k];
	const char *verdict = group_verdict(v, k);

	json_object(j, NULL);
	json_array_flat(j, "cpus");
	for (uint32_t i = 0; i < g->n; i++)
		json_u64(j, NULL, v->cpu[g->lane[i]].number);
	json_end(j);
	json_string(j, "verdict", verdict[0] ? verdict : NULL);
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
	json_end(j);
}

void render_json_groups(struct json *j, const struct view *v)
{
	if (!groups_shown(v))
		return;
	json_array(j, "groups");
	for (uint32_t k = 0; k < v->groups.n; k++)
		write_group(j, v, k);
	json_end(j);
}
