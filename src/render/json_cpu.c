/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A CPU, or a watched thread, of the JSON report: its counters and its sources. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/json.h"
#include "model/owner.h"
#include "model/report.h"
#include "render/line.h"
#include "render/render.h"

/* null where the number is not known */
static void write_known(struct json *j, const char *key, int64_t value)
{
	if (value == LINE_UNKNOWN)
		json_null(j, key);
	else
		json_i64(j, key, value);
}

void render_who(struct json *j, const struct source *s)
{
	struct line_who who = line_who(s);

	json_string(j, "kind", who.kind);
	write_known(j, "id", who.id);
	json_string(j, "name", s->name);
	json_string(j, "function", s->function);
	if (who.kernel_thread == LINE_UNKNOWN)
		json_null(j, "kernel_thread");
	else
		json_bool(j, "kernel_thread", who.kernel_thread);
	if (s->by)
		json_string(j, "together", owner_by_name(s->by));
	if (!who.host_kind)
		return;
	json_string(j, "host_kind", who.host_kind);
	write_known(j, "host_cpu", who.host_cpu);
	if (s->host_name)
		json_string(j, "host_name", *s->host_name ? s->host_name : NULL);
}

/* Writes all that is known of the group; nothing for a group that is nobody's. */
static void write_owner(struct json *j, const char *text)
{
	struct owner o;
	char buf[OWNER_TEXT];

	owner_read(&o, text);
	if (!owner_kind_name(owner_kind(&o)))
		return;
	const struct {
		const char *key, *value;
	} known[] = {{"unit", o.unit},
		     {"runtime", o.runtime},
		     {"container", o.container},
		     {"container_name", o.container_name},
		     {"pod", o.pod},
		     {"pod_uid", o.pod_uid},
		     {"machine", o.machine},
		     {"session", o.session}};

	json_object_flat(j, "owner");
	json_string(j, "kind", owner_kind_name(owner_kind(&o)));
	json_string(j, "name", owner_key(&o));
	json_string(j, "text", owner_text(&o, buf));
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i].value && *known[i].value)
			json_string(j, known[i].key, known[i].value);
	if (o.user_known)
		json_u64(j, "user", o.user);
	json_string_n(j, "cgroup", text, strcspn(text, "\n"));
	json_end(j);
}

#define ASKERS_SHOWN 3

static void write_askers(struct json *j, const struct askers *o)
{
	uint32_t order[ASKERS_SHOWN], n = o ? askers_top(o, order, ASKERS_SHOWN) : 0;

	json_u64(j, "requests", o ? o->known : 0);
	json_u64(j, "requests_unnamed", o ? o->unnamed : 0);
	json_array(j, "origins");
	for (uint32_t i = 0; i < n; i++) {
		const struct asker_row *r = &o->row[order[i]];

		json_object_flat(j, NULL);
		json_u64(j, "cpu", r->who.cpu);
		json_u64(j, "pid", r->who.tid);
		json_string(j, "comm", r->who.comm);
		json_string(j, "function", r->who.function);
		json_u64(j, "count", r->count);
		json_u64(j, "count_max", r->count + r->missed);
		if (r->who.owner)
			write_owner(j, r->who.owner);
		if (r->who.command)
			json_string(j, "command_line", r->who.command);
		render_stacks(j, r);
		json_end(j);
	}
	json_end(j);
}

static void write_closure(struct json *j, const struct cpu *c)
{
	json_array(j, "closure");
	for (uint32_t i = 0; i < c->nclosure; i++) {
		json_object_flat(j, NULL);
		json_string(j, "counter", c->closure[i].counter);
		json_u64(j, "kernel", c->closure[i].kernel);
		json_u64(j, "traced", c->closure[i].traced);
		if (c->closure[i].why)
			json_string(j, "why", c->closure[i].why);
		json_end(j);
	}
	json_end(j);
	json_bool(j, "closure_checked", c->closure_known);
}

static void write_ticks(struct json *j, const struct nohz_ticks *t)
{
	json_array(j, "tick");
	for (uint32_t i = 0; i < t->count; i++) {
		json_object_flat(j, NULL);
		json_string(j, "dependency", nohz_dependency_name(t->row[i].dependency));
		json_u64(j, "count", t->row[i].count);
		json_string(j, "comm", t->row[i].comm);
		json_u64(j, "pid", t->row[i].tid);
		json_end(j);
	}
	json_end(j);
}

static void write_bystanders(struct json *j, const struct bystanders *t)
{
	uint32_t order[BYSTANDERS_ROWS];

	bystanders_rank(t, order);
	json_array(j, "beside");
	for (uint32_t i = 0; i < t->count; i++) {
		const struct bystander *o = &t->row[order[i]];

		json_object_flat(j, NULL);
		json_string(j, "comm", o->comm);
		json_u64(j, "pid", o->tid);
		if (o->rest)
			json_null(j, "kernel_thread");
		else
			json_bool(j, "kernel_thread", o->kernel_thread);
		json_u64(j, "count", o->count);
		json_u64(j, "total_ns", o->total_ns);
		json_end(j);
	}
	json_end(j);
}

static int write_sources(struct json *j, const struct sources *t, const struct shown *shown)
{
	uint32_t *order = calloc(t->count ? t->count : 1, sizeof(*order));
	uint32_t n;

	if (!order)
		return -ENOMEM;
	n = shown_rows(shown, shown_rank(shown, t, order), UINT32_MAX);
	json_array(j, "sources");
	for (uint32_t i = 0; i < n; i++) {
		const struct source *s = t->row[order[i]];

		json_object(j, NULL);
		render_who(j, s);
		json_string(j, "cause", s->cause);
		json_string(j, "advice", s->advice);
		json_u64(j, "hiccups", s->hiccups);
		json_u64(j, "count", s->count);
		json_u64(j, "runs", s->net.count);
		if (s->merged)
			json_u64(j, "merged", s->merged);
		json_u64(j, "total_ns", s->net.sum);
		json_u64(j, "max_ns", s->net.max);
		if (s->unseen.ns) {
			json_object_flat(j, "left_unseen");
			json_u64(j, "count", s->unseen.count);
			json_u64(j, "total_ns", s->unseen.ns);
			json_end(j);
		}
		if (s->stopped.count) {
			json_object_flat(j, "stopped_inside");
			json_u64(j, "count", s->stopped.count);
			json_u64(j, "total_ns", s->stopped.ns);
			if (s->stopped.percent) {
				json_u64(j, "usual_ns", s->stopped.usual_ns);
				json_u64(j, "usual_percent", s->stopped.percent);
			} else {
				json_null(j, "usual_ns");
				json_null(j, "usual_percent");
			}
			json_end(j);
		}
		json_u64(j, "p99_ns", hist_percentile(&s->net, 99));
		if (s->device)
			json_string(j, "device", s->device);
		if (s->affinity)
			json_string(j, "affinity", s->affinity);
		if (s->memory_of[0])
			json_string(j, "memory_of", s->memory_of);
		if (s->memories)
			json_bool(j, "memories", true);
		if (s->owner)
			write_owner(j, s->owner);
		if (s->command)
			json_string(j, "command_line", s->command);
		write_askers(j, s->askers);
		json_end(j);
	}
	json_end(j);
	free(order);
	return 0;
}

static void write_hiccups(struct json *j, const struct view *v, uint32_t i)
{
	double rate = report_rate(v, i);

	json_object(j, "hiccups");
	render_numbers(j, &v->cpu[i].hiccups, 1);
	json_double(j, "per_second", rate < 0 ? NAN : rate, 6);
	json_end(j);
}

void render_shorts(struct json *j, const struct short_gaps *s)
{
	if (!s->known) {
		json_null(j, "short_gaps");
		return;
	}
	json_object_flat(j, "short_gaps");
	json_u64(j, "from_ns", s->from_ns);
	json_u64(j, "count", s->count);
	json_u64(j, "total_ns", s->total_ns);
	json_end(j);
}

/* Writes the samples around the interruptions that taught the bounds; old recordings lack them. */
static void write_edge_seen(struct json *j, const struct edge_seen *e)
{
	const struct {
		const char *key;
		uint64_t ns;
	} rows[] = {{"in_p50_ns", e->in_p50_ns},
		    {"in_p90_ns", e->in_p90_ns},
		    {"out_p50_ns", e->out_p50_ns},
		    {"out_p90_ns", e->out_p90_ns}};

	json_u64(j, "samples", e->samples);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (e->samples && e->out_p90_ns)
			json_u64(j, rows[i].key, rows[i].ns);
		else
			json_null(j, rows[i].key);
}

static void write_loop(struct json *j, const struct cpu *c)
{
	json_object(j, "loop");
	json_u64(j, "count", c->loop_count);
	json_u64(j, "min_ns", c->loop_min_ns + 0.5);
	json_u64(j, "mean_ns", c->loop_mean_ns + 0.5);
	json_u64(j, "mean_ps", c->loop_mean_ns * 1000 + 0.5);
	json_array_flat(j, "longer_than");
	for (int k = 0; k < LOOP_LENGTHS && c->loop_above_ns[k] < c->threshold_ns; k++) {
		json_object_flat(j, NULL);
		json_u64(j, "ns", c->loop_above_ns[k] + 0.5);
		json_u64(j, "count", c->loop_above[k]);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

/* Writes how the lost time divides, and how sure that is. */
static void write_time(struct json *j, const struct cpu *c)
{
	json_object(j, "time");
	json_u64(j, "attributed_ns", c->attributed_ns);
	json_u64(j, "edge_ns", c->edge_ns);
	json_u64(j, "not_recorded_ns", c->lost_ns);
	json_u64(j, "outside_ns", c->outside_ns);
	if (c->host_ns)
		json_u64(j, "host_ns", c->host_ns);
	json_end(j);
	json_object(j, "edges");
	json_u64(j, "bound_irq_ns", c->bounds.irq_ns);
	json_u64(j, "bound_thread_ns", c->bounds.thread_ns);
	write_edge_seen(j, &c->edge_seen);
	json_u64(j, "before_first_ns", c->pre_ns);
	json_u64(j, "after_last_ns", c->post_ns);
	json_end(j);
}

static void write_records(struct json *j, const struct cpu *c, uint64_t recursion_misses)
{
	json_object(j, "records");
	json_u64(j, "seen", c->counts.seen);
	json_u64(j, "lost", c->counts.lost);
	json_u64(j, "waits_lost", c->waits_lost);
	json_u64(j, "hiccups_lost", c->hiccups_lost);
	json_u64(j, "hiccups_lost_ns", c->hiccups_lost_ns);
	json_u64(j, "unpaired", c->unpaired);
	json_u64(j, "below_threshold", c->counts.below_threshold);
	json_u64(j, "recursion_misses", recursion_misses);
	json_u64(j, "join_mismatches", c->counts.mismatches);
	json_end(j);
}

static void write_evidence(struct json *j, const struct cpu *c)
{
	json_object(j, "evidence");
	if (c->steal_known)
		json_u64(j, "steal_ns", c->steal_ns);
	else
		json_null(j, "steal_ns");
	if (c->smi_known)
		json_u64(j, "smi_count", c->smi_count);
	else
		json_null(j, "smi_count");
	json_end(j);
}

static void write_merged(struct json *j, const struct sources *t)
{
	uint64_t ns, n = sources_merged(t, SOURCE_KINDS, &ns);

	json_object_flat(j, "merged");
	json_u64(j, "sources", n);
	json_u64(j, "total_ns", ns);
	json_end(j);
}

static void write_offline(struct json *j, const struct offline *o)
{
	if (!o->times) {
		json_null(j, "offline");
		return;
	}
	json_object_flat(j, "offline");
	json_u64(j, "total_ns", o->total_ns);
	json_bool(j, "at_most", o->at_most);
	json_end(j);
}

int render_json_cpu(struct json *j, const struct view *v, uint32_t i)
{
	const struct cpu *c = &v->cpu[i];
	int err;

	json_object(j, NULL);
	if (view_threads(v))
		render_json_thread(j, v, c);
	else
		json_u64(j, "cpu", c->number);
	json_bool(j, "isolated", !view_threads(v) && cpus_has(&v->host.isolated, c->number));
	json_bool(j, "nohz_full", !view_threads(v) && cpus_has(&v->host.nohz_full, c->number));
	json_u64(j, "observed_ns", c->observed_ns);
	json_string(j, "verdict", c->verdict[0] ? c->verdict : NULL);
	json_string(j, "ended_early", c->ended);
	write_offline(j, &c->offline);
	json_u64(j, "threshold_ns", c->threshold_ns);
	render_shorts(j, &c->shorts);
	write_loop(j, c);
	render_series(j, v, c);
	if (v->run.sums)
		json_null(j, "hiccups");
	else
		write_hiccups(j, v, i);
	write_time(j, c);
	write_records(j, c, i ? 0 : v->run.recursion_misses);
	json_u64(j, "bookkeeping_ns", c->bookkeeping_ns);
	write_evidence(j, c);
	write_closure(j, c);
	write_ticks(j, &c->ticks);
	if (v->run.windows && v->run.traced && !v->run.watch)
		write_bystanders(j, &c->bystanders);
	if (v->run.traced && !v->run.watch)
		render_frequency(j, v, c);
	write_merged(j, &c->sources);
	err = write_sources(j, &c->sources, &v->shown);
	json_end(j);
	return err;
}
