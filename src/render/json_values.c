/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values in the JSON report: the figures of a histogram, and all that a workload measured; the
 * stacks of an asker. */
#include "base/json.h"
#include "model/calls.h"
#include "render/render.h"

void render_numbers(struct json *j, const struct hist *h, unsigned per_ns)
{
	static const struct {
		const char *key;
		double p;
	} percentiles[] = {{"p20_ns", 20},      {"p50_ns", 50},       {"p80_ns", 80},
			   {"p90_ns", 90},      {"p99_ns", 99},       {"p999_ns", 99.9},
			   {"p9999_ns", 99.99}, {"p99999_ns", 99.999}};
	unsigned half = per_ns / 2;

	json_u64(j, "count", h->count);
	json_u64(j, "total_ns", (h->sum + half) / per_ns);
	json_u64(j, "min_ns", h->count ? (h->min + half) / per_ns : 0);
	json_u64(j, "max_ns", (h->max + half) / per_ns);
	json_u64(j, "mean_ns", (uint64_t)(hist_mean(h) / per_ns + 0.5));
	json_u64(j, "mad_ns", (hist_mad(h) + half) / per_ns);
	for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++)
		if (percentiles[i].p > 99.9 && !hist_reaches(h, percentiles[i].p))
			json_null(j, percentiles[i].key);
		else
			json_u64(j, percentiles[i].key,
				 (hist_percentile(h, percentiles[i].p) + half) / per_ns);
}

/* Writes times too short for whole nanoseconds. */
static void write_fine(struct json *j, const struct hist *h)
{
	json_u64(j, "min_ps", h->count ? h->min : 0);
	json_u64(j, "mean_ps", (uint64_t)(hist_mean(h) + 0.5));
	json_u64(j, "mad_ps", hist_mad(h));
	json_u64(j, "p20_ps", hist_percentile(h, 20));
	json_u64(j, "p50_ps", hist_percentile(h, 50));
	json_u64(j, "p80_ps", hist_percentile(h, 80));
}

/* Writes the whole histogram: buckets that are not empty, side by side as columns. */
static void write_bins(struct json *j, const struct series *s)
{
	static const char *const columns[] = {"from", "to", "count"};
	const struct hist *h = &s->hist;

	json_object(j, "bins");
	json_string(j, "unit", s->fine ? "ps" : "ns");
	for (int k = 0; k < 3; k++) {
		json_array_flat(j, columns[k]);
		for (uint32_t i = hist_next(h, 0); i < h->nbuckets; i = hist_next(h, i + 1))
			json_u64(j, NULL,
				 k == 0   ? hist_lowest(h, i)
				 : k == 1 ? hist_highest(h, i)
					  : hist_at(h, i));
		json_end(j);
	}
	json_end(j);
}

/* Writes how the values went over time, as columns: a slice without values has the mean null. */
static void write_course(struct json *j, const struct view *v, const struct series *s)
{
	static const char *const columns[] = {"count", "mean", "max"};
	const struct course *c = &s->course;

	if (!c->n)
		return;
	json_object(j, "over_time");
	json_string(j, "unit", s->fine ? "ps" : "ns");
	json_u64(j, "at_ns", c->start > v->run.started_ns ? c->start - v->run.started_ns : 0);
	json_u64(j, "each_ns", c->width);
	for (int k = 0; k < 3; k++) {
		json_array_flat(j, columns[k]);
		for (uint32_t i = 0; i < c->n; i++) {
			const struct course_bin *b = &c->bin[i];

			if (k == 1 && !b->count)
				json_null(j, NULL);
			else
				json_u64(j, NULL,
					 k == 0   ? b->count
					 : k == 1 ? b->sum / b->count
						  : b->max);
		}
		json_end(j);
	}
	json_end(j);
}

void render_series(struct json *j, const struct view *v, const struct cpu *c)
{
	if (!c->nseries)
		return;
	json_array(j, "series");
	for (uint32_t i = 0; i < c->nseries; i++) {
		const struct series *s = &c->series[i];

		if (s->open)
			continue;
		json_object(j, NULL);
		json_string(j, "name", s->name);
		render_numbers(j, &s->hist, s->fine ? 1000 : 1);
		if (s->fine)
			write_fine(j, &s->hist);
		if (s->threshold_ns) {
			json_u64(j, "threshold_ns", s->threshold_ns);
			json_u64(j, "longer", s->longer);
			json_u64(j, "longest_ns", s->longest_ns);
		}
		write_bins(j, s);
		write_course(j, v, s);
		json_end(j);
	}
	json_end(j);
	json_u64(j, "series_unread", c->unread);
}

void render_frequency(struct json *j, const struct view *v, const struct cpu *c)
{
	if (!c->khz_changes) {
		json_null(j, "frequency");
		return;
	}
	json_object(j, "frequency");
	json_u64(j, "changes", c->khz_changes);
	json_u64(j, "min_khz", c->khz_min);
	json_u64(j, "max_khz", c->khz_max);
	json_array_flat(j, "at_ns");
	for (uint32_t i = 0; i < c->khz.n; i++)
		json_i64(j, NULL, (int64_t)(c->khz.row[i].at_ns - v->run.started_ns));
	json_end(j);
	json_array_flat(j, "khz");
	for (uint32_t i = 0; i < c->khz.n; i++)
		json_u64(j, NULL, c->khz.row[i].khz);
	json_end(j);
	json_end(j);
}

#define WAYS_SHOWN 8

static void write_stack(struct json *j, const struct asker_row *r)
{
	json_array_flat(j, "stack");
	for (int k = 0; k < r->nframes; k++)
		json_string(j, NULL, r->frame[k]);
	json_end(j);
}

static void write_calls(struct json *j, const char *calls)
{
	struct call c;

	json_array_flat(j, "user_stack");
	for (int n = 0; n < CALLS_MOST && calls_next(&calls, &c); n++) {
		json_object_flat(j, NULL);
		json_string(j, "function", c.name[0] ? c.name : NULL);
		if (c.file[0])
			json_string(j, "file", c.file);
		if (!c.gap)
			json_u64(j, "offset", c.file[0] ? c.offset : 0);
		if (c.build[0])
			json_string(j, "build_id", c.build);
		if (c.line[0])
			json_string(j, "line", c.line);
		json_end(j);
	}
	json_end(j);
}

void render_stacks(struct json *j, const struct asker_row *r)
{
	uint32_t order[WAYS_SHOWN], n = r->ways ? askers_top(r->ways, order, WAYS_SHOWN) : 0;

	write_stack(j, r);
	if (!n)
		return;
	json_array_flat(j, "ways");
	for (uint32_t i = 0; i < n; i++) {
		const struct asker_row *way = &r->ways->row[order[i]];

		json_object_flat(j, NULL);
		json_u64(j, "count", way->count);
		json_u64(j, "count_max", way->count + way->missed);
		write_stack(j, way);
		write_calls(j, way->who.calls);
		json_end(j);
	}
	json_end(j);
}
