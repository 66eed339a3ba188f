/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "base/json.h"
#include "render/diff.h"
#include "render/tried.h"

/* The two sides of a source, of several, or of all hiccups. */
static void write_cells(struct json *j, const struct diff_cell *c)
{
	for (int k = 0; k < 2; k++) {
		json_object_flat(j, k ? "with" : "without");
		json_u64(j, "count", c[k].count);
		json_u64(j, "total_ns", c[k].total_ns);
		json_double(j, "count_per_s", c[k].per_s, 6);
		json_double(j, "ns_per_s", c[k].ns_per_s, 3);
		json_u64(j, "max_ns", c[k].max_ns);
		json_end(j);
	}
	render_diff_json_ratio(j, "count_ratio", &c[1].count_ratio);
	render_diff_json_ratio(j, "time_ratio", &c[1].time_ratio);
	json_string(j, "verdict", diff_verdict_name(c[1].verdict));
}

void render_tried_cells(struct json *j, const char *key, const struct diff_cell *c)
{
	json_object(j, key);
	write_cells(j, c);
	json_end(j);
}

static void write_measured(struct json *j, const struct tried *t)
{
	const struct diff *d = t->diff;

	render_tried_cells(j, "sources_of_causes", t->asked);
	render_tried_cells(j, "total", d->total);
	json_array(j, "sources");
	for (uint32_t i = 0; i < d->rows; i++) {
		const struct diff_row *r = &d->row[i];

		json_object(j, NULL);
		json_string(j, "kind", source_kind_name(r->kind));
		json_string_n(j, "name", r->name, sizeof(r->name));
		json_bool(j, "kernel_thread", r->kernel_thread);
		json_string(j, "function", r->function);
		write_cells(j, r->cell);
		json_end(j);
	}
	json_end(j);
}

void render_tried_knobs(struct json *j, const struct knobs *knobs, bool all)
{
	json_array(j, "knobs");
	for (uint32_t i = 0; i < knobs->count; i++) {
		const struct knob *k = &knobs->row[i];

		if (k->kept && !all)
			continue; /* an earlier try's */
		json_object_flat(j, NULL);
		json_string(j, "kind", knob_kind_name(k->kind));
		if (k->kind == KNOB_THREAD) {
			json_u64(j, "tid", k->tid);
			json_string(j, "comm", k->comm);
		} else {
			json_string(j, "path", k->path);
		}
		json_string(j, "before", k->old);
		json_string(j, "fix", k->new);
		json_end(j);
	}
	json_end(j);
}

void render_tried_fixes(struct json *j, const struct tried_fix *fix, uint32_t n)
{
	json_array(j, "fixes");
	for (uint32_t i = 0; i < n; i++) {
		json_object_flat(j, NULL);
		json_string(j, "cause", fix[i].id);
		json_string(j, "title", fix[i].title);
		if (fix[i].number)
			json_u64(j, "number", fix[i].number);
		else
			json_null(j, "number");
		json_u64(j, "lag_s", fix[i].lag_s);
		json_end(j);
	}
	json_end(j);
}

int render_tried_json(const struct tried *t, FILE *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_string(&j, "schema", TRIED_SCHEMA);
	json_string(&j, "version", CULPRIT_VERSION);
	json_string(&j, "kernel", t->host->kernel);
	json_array_flat(&j, "cpus");
	for (int c = cpus_next(t->cpus, 0); c >= 0; c = cpus_next(t->cpus, c + 1))
		json_u64(&j, NULL, c);
	json_end(&j);
	json_bool(&j, "dry_run", t->dry);
	render_tried_fixes(&j, t->fix, t->nfixes);
	render_tried_knobs(&j, &t->knobs, false);
	json_u64(&j, "windows", t->windows);
	json_u64(&j, "window_ns", t->window_ns);
	json_bool(&j, "in_turn", t->in_turn);
	json_bool(&j, "whole", t->whole);
	json_string(&j, "cut_short", t->cut[0] ? t->cut : NULL);
	if (t->diff)
		write_measured(&j, t);
	json_string(&j, "verdict", tried_verdict_name(t->verdict));
	json_bool(&j, "in_force", t->kept);
	json_u64(&j, "left_to_others", t->others);
	json_u64(&j, "gone", t->gone);
	json_u64(&j, "without_offline_cpus", t->offline);
	json_end(&j);
	return ferror(out) ? -EIO : 0;
}
