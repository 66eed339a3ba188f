/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The comparison as JSON. Ratios are to the first side; null stands for no ratio, or an infinite
 * one. The bins of all sides have the same edges. */
#include <errno.h>

#include "base/json.h"
#include "render/diff.h"

static void write_file(struct json *j, const struct diff *d, uint32_t side, const struct view *v,
		       const char *name)
{
	uint64_t hiccups_lost = view_hiccups_lost(v), lost = 0, attributed = 0, edge = 0,
		 outside = 0, shorts = 0, not_recorded = 0, host = 0;

	json_object(j, NULL);
	json_string(j, "file", name);
	json_string(j, "label", v->run.label[0] ? v->run.label : NULL);
	json_u64(j, "side", side);
	json_string(j, "hostname", v->host.hostname);
	json_string(j, "kernel", v->host.kernel);
	json_string(j, "started", v->run.started);
	json_u64(j, "duration_ns", v->run.duration_ns);
	render_cpus(j, "cpus", &v->run.cpus);
	for (uint32_t i = 0; i < v->ncpus; i++) {
		lost += v->cpu[i].counts.lost;
		if (!diff_counts(v, i))
			continue;
		attributed += v->cpu[i].attributed_ns;
		edge += v->cpu[i].edge_ns;
		not_recorded += v->cpu[i].lost_ns;
		outside += v->cpu[i].outside_ns;
		host += v->cpu[i].host_ns;
		shorts += v->cpu[i].shorts.total_ns;
	}
	json_u64(j, "observed_ns", diff_observed_ns(v));
	if (d->thresholds_differ)
		json_null(j, "threshold_ns");
	else
		json_u64(j, "threshold_ns", d->threshold_ns);
	if (d->shorts_known)
		json_u64(j, "short_gaps_ns", shorts);
	else
		json_null(j, "short_gaps_ns");
	json_u64(j, "attributed_ns", attributed);
	json_u64(j, "edge_ns", edge);
	json_u64(j, "not_recorded_ns", not_recorded);
	json_u64(j, "outside_ns", outside);
	if (host)
		json_u64(j, "host_ns", host);
	json_u64(j, "records_lost", lost);
	json_u64(j, "hiccups_lost", hiccups_lost);
	json_u64(j, "left_out", diff_left_out(v));
	json_string(j, "incomplete", v->run.incomplete[0] ? v->run.incomplete : NULL);
	json_end(j);
}

void render_diff_json_ratio(struct json *j, const char *key, const struct ratio *r)
{
	json_object_flat(j, key);
	json_double(j, "value", r->value, 6);
	json_double(j, "low", r->low, 6);
	json_double(j, "high", r->high, 6);
	json_end(j);
}

static void write_cells(struct json *j, const struct diff *d, const struct diff_cell *cell)
{
	json_array(j, "files");
	for (uint32_t k = 0; k < d->n; k++) {
		const struct diff_cell *c = &cell[k];

		json_object(j, NULL);
		json_u64(j, "count", c->count);
		json_u64(j, "runs", c->runs);
		json_u64(j, "total_ns", c->total_ns);
		json_double(j, "count_per_s", c->per_s, 6);
		json_double(j, "ns_per_s", c->ns_per_s, 3);
		json_u64(j, "p50_ns", c->p50_ns);
		json_u64(j, "p99_ns", c->p99_ns);
		json_u64(j, "p999_ns", c->p999_ns);
		json_u64(j, "max_ns", c->max_ns);
		if (k) {
			render_diff_json_ratio(j, "count_ratio", &c->count_ratio);
			render_diff_json_ratio(j, "time_ratio", &c->time_ratio);
			json_string(j, "verdict", diff_verdict_name(c->verdict));
		}
		json_array_flat(j, "bins");
		for (unsigned i = 0; i < DIFF_BINS; i++)
			json_u64(j, NULL, c->bin[i]);
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

static void write_environment(struct json *j, const struct diff *d)
{
	json_array(j, "environment");
	for (uint32_t i = 0; i < d->facts; i++) {
		json_object_flat(j, NULL);
		json_string(j, "what", d->fact[i].what);
		json_array_flat(j, "values");
		for (uint32_t k = 0; k < d->n; k++)
			json_string(j, NULL, d->fact[i].value[k]);
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

/* Writes how each side knows what differs with nothing changed. */
static void write_sides(struct json *j, const struct diff *d)
{
	json_array(j, "sides");
	for (uint32_t k = 0; k < d->n; k++) {
		json_object_flat(j, NULL);
		json_u64(j, "files", d->side[k].n);
		json_string(j, "not_alike", d->unlike[k]);
		if (k) {
			json_bool(j, "in_turn", d->in_turn[k]);
			json_double(j, "between", d->in_turn[k] ? 1 : d->between, 4);
		}
		json_end(j);
	}
	json_end(j);
}

static void write_figures(struct json *j, const struct diff_series *s, uint32_t k)
{
	static const char *const keys[DIFF_FIGURES] = {"p50", "p90", "p99", "p999", "max"};

	for (int i = 0; i < DIFF_FIGURES; i++) {
		const struct diff_value *v = &s->side[k][i];

		json_object_flat(j, keys[i]);
		if (s->count[k])
			json_double(j, "ns", v->value / (s->fine ? 1000.0 : 1), s->fine ? 3 : 0);
		else
			json_null(j, "ns");
		if (k) {
			render_diff_json_ratio(j, "ratio", &v->ratio);
			json_string(j, "verdict",
				    v->verdict < 0 ? NULL : diff_verdict_name(v->verdict));
		}
		json_end(j);
	}
}

/* Writes what workloads measured. */
static void write_series(struct json *j, const struct diff *d)
{
	json_array(j, "series");
	for (uint32_t i = 0; i < d->nseries; i++) {
		json_object(j, NULL);
		json_string(j, "name", d->series[i].name);
		json_array(j, "files");
		for (uint32_t k = 0; k < d->n; k++) {
			json_object(j, NULL);
			json_u64(j, "count", d->series[i].count[k]);
			write_figures(j, &d->series[i], k);
			json_end(j);
		}
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

int render_diff_json(const struct diff *d, const char *const *names, FILE *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_string(&j, "schema", DIFF_SCHEMA);
	json_string(&j, "version", CULPRIT_VERSION);
	json_array(&j, "files");
	for (uint32_t k = 0, name = 0; k < d->n; k++)
		for (uint32_t i = 0; i < d->side[k].n; i++)
			write_file(&j, d, k, d->side[k].view[i], names[name++]);
	json_end(&j);
	write_sides(&j, d);
	write_environment(&j, d);
	write_series(&j, d);
	json_array_flat(&j, "bin_edges_ns");
	for (unsigned i = 0; i <= DIFF_BINS; i++)
		json_double(&j, NULL, diff_bin_ns(d, i), 1);
	json_end(&j);
	json_object(&j, "total");
	write_cells(&j, d, d->total);
	json_end(&j);
	json_bool(&j, "traced", d->traced);
	json_array(&j, "sources");
	for (uint32_t i = 0; i < d->rows; i++) {
		const struct diff_row *r = &d->row[i];

		json_object(&j, NULL);
		json_string(&j, "kind", source_kind_name(r->kind));
		json_string(&j, "name", r->name);
		if (r->kind == SOURCE_THREAD && !r->rest)
			json_bool(&j, "kernel_thread", r->kernel_thread);
		else
			json_null(&j, "kernel_thread");
		json_string(&j, "function", r->function);
		write_cells(&j, d, r->cell);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	return ferror(out) ? -EIO : 0;
}
