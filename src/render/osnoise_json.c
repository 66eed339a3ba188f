/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output of osnoise and rtla as JSON, schema culprit.osnoise/1. All times are integer ns; values
 * that the input lacks are null. */
#include <stdlib.h>

#include "base/json.h"
#include "render/osnoise.h"

static void u64_or_null(struct json *j, const char *key, uint64_t value, bool known)
{
	if (known)
		json_u64(j, key, value);
	else
		json_null(j, key);
}

static void write_input(struct json *j, const struct osnoise_reader *r, const char *input)
{
	json_object(j, "input");
	json_string(j, "name", input);
	json_u64(j, "lines", r->lines);
	json_u64(j, "lines_cut", r->lines_cut);
	json_u64(j, "headings", r->headings);
	json_u64(j, "noises", r->events[OSNOISE_NOISE]);
	json_u64(j, "samples", r->events[OSNOISE_SAMPLE]);
	json_u64(j, "periods", r->events[OSNOISE_PERIOD]);
	json_u64(j, "timerlat", r->events[OSNOISE_TIMERLAT]);
	json_u64(j, "since_boot_left_out", r->left_out_first);
	json_u64(j, "workload_left_out", r->left_out_workload);
	json_u64(j, "records_lost", r->lost);
	json_u64(j, "cpus_beyond", r->cpus_beyond);
	json_u64(j, "columns_beyond", r->columns_beyond);
	json_bool(j, "histogram_without_index", r->no_index);
	json_u64(j, "analyses_beyond", r->analyses_beyond);
	u64_or_null(j, "first_start_ns", r->min_start_ns, r->min_start_ns != UINT64_MAX);
	u64_or_null(j, "last_end_ns", r->max_end_ns, r->min_start_ns != UINT64_MAX);
	u64_or_null(j, "rtla_duration_ns", r->rtla_duration_ns, r->rtla_duration_ns);
	json_bool(j, "stopped", r->stopped);
	json_string(j, "saved_to", r->saved_to[0] ? r->saved_to : NULL);
	json_bool(j, "tainted", r->tainted);
	json_bool(j, "out_of_memory", r->no_memory);
	json_end(j);
}

static void write_unread(struct json *j, const struct osnoise_reader *r)
{
	json_object(j, "unread");
	json_u64(j, "unknown_lines", r->unknown);
	json_array(j, "first");
	for (uint32_t i = 0; i < r->nunknowns; i++) {
		json_object_flat(j, NULL);
		json_u64(j, "line", r->unknowns[i].line);
		json_string_n(j, "text", r->unknowns[i].text, r->unknowns[i].len);
		json_end(j);
	}
	json_end(j);
	json_u64(j, "other_events", r->other_events);
	json_array(j, "other");
	for (uint32_t i = 0; i < r->nother; i++) {
		json_object_flat(j, NULL);
		json_string(j, "name", r->other[i].name);
		json_u64(j, "count", r->other[i].count);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void write_period(struct json *j, const char *from, const struct osnoise_period *p)
{
	bool runtime = p->runtime_ns != UINT64_MAX;

	if (!p->count)
		return;
	json_object_flat(j, NULL);
	json_string(j, "from", from);
	json_u64(j, "count", p->count);
	u64_or_null(j, "runtime_ns", p->runtime_ns, runtime);
	json_u64(j, "noise_ns", p->noise_ns);
	json_u64(j, "max_noise_ns", p->max_noise_ns);
	json_u64(j, "max_single_ns", p->max_single_ns);
	json_u64(j, "hw", p->hw);
	json_u64(j, "nmi", p->nmi);
	u64_or_null(j, "irq", p->irq, !p->irqs_off);
	u64_or_null(j, "softirq", p->softirq, !p->irqs_off);
	u64_or_null(j, "thread", p->thread, !p->irqs_off);
	json_end(j);
}

static void write_hist(struct json *j, const struct hist *h)
{
	json_u64(j, "count", h->count);
	json_u64(j, "total_ns", h->sum);
	json_u64(j, "min_ns", h->count ? h->min : 0);
	json_u64(j, "max_ns", h->max);
	json_u64(j, "p50_ns", hist_percentile(h, 50));
	json_u64(j, "p99_ns", hist_percentile(h, 99));
}

static void write_samples(struct json *j, const struct osnoise_cpu *c)
{
	json_object_flat(j, "samples");
	write_hist(j, &c->samples);
	json_u64(j, "without_interference", c->samples_alone);
	json_u64(j, "without_interference_ns", c->samples_alone_ns);
	json_u64(j, "complete", c->samples_complete);
	json_u64(j, "explained_ns", c->samples_explained_ns);
	json_u64(j, "rest_ns", c->samples_rest_ns);
	json_end(j);
}

static void write_latency(struct json *j, const char *from, int context,
			  const struct osnoise_latency *l)
{
	if (!l->known)
		return;
	json_object_flat(j, NULL);
	json_string(j, "from", from);
	json_string(j, "context", timerlat_context_name(context));
	json_u64(j, "count", l->count);
	json_u64(j, "min_ns", l->min_ns);
	json_u64(j, "avg_ns", l->avg_ns);
	json_u64(j, "max_ns", l->max_ns);
	json_end(j);
}

static void write_timerlat(struct json *j, const struct osnoise_cpu *c)
{
	json_array(j, "timerlat");
	for (int i = 0; i < TIMERLAT_CONTEXTS; i++) {
		if (c->latency[i].count) {
			json_object_flat(j, NULL);
			json_string(j, "from", "trace");
			json_string(j, "context", timerlat_context_name(i));
			write_hist(j, &c->latency[i]);
			json_end(j);
		}
		write_latency(j, "rtla", i, &c->rtla[i]);
	}
	json_end(j);
}

static void write_sources(struct json *j, const struct osnoise_cpu *c)
{
	uint32_t *order = calloc(c->sources.count + 1, sizeof(*order));
	uint32_t n = order ? sources_rank(&c->sources, order) : 0;

	json_array(j, "sources");
	for (uint32_t i = 0; i < n; i++) {
		const struct source *s = c->sources.row[order[i]];

		json_object_flat(j, NULL);
		json_string(j, "kind", source_kind_name(s->kind));
		json_u64(j, "id", s->id);
		json_string_n(j, "name", s->name, sizeof(s->name));
		write_hist(j, &s->net);
		json_end(j);
	}
	json_end(j);
	free(order);
}

static void write_cpus(struct json *j, const struct osnoise_reader *r)
{
	uint32_t *order = osnoise_cpu_order(r);

	json_array(j, "cpus");
	for (uint32_t i = 0; order && i < r->ncpus; i++) {
		const struct osnoise_cpu *c = r->cpu[order[i]];

		json_object(j, NULL);
		json_u64(j, "cpu", c->cpu);
		json_array(j, "periods");
		write_period(j, "trace", &c->traced);
		write_period(j, "rtla", &c->top);
		json_end(j);
		write_samples(j, c);
		write_timerlat(j, c);
		write_sources(j, c);
		json_end(j);
	}
	json_end(j);
	free(order);
}

static void write_events(struct json *j, const char *key, const struct osnoise_event *list,
			 uint32_t n)
{
	json_array(j, key);
	for (uint32_t i = 0; i < n; i++) {
		const struct osnoise_event *e = &list[i];

		json_object_flat(j, NULL);
		json_u64(j, "cpu", e->cpu);
		json_u64(j, "start_ns", e->start_ns);
		json_u64(j, "duration_ns", e->duration_ns);
		if (e->type == OSNOISE_SAMPLE) {
			json_u64(j, "interference", e->interference);
		} else {
			json_string(j, "kind", source_kind_name(e->kind));
			json_u64(j, "id", e->id);
			json_string_n(j, "name", e->name, sizeof(e->name));
		}
		json_end(j);
	}
	json_end(j);
}

static void write_column(struct json *j, const struct osnoise_column *c)
{
	json_object(j, NULL);
	json_string(j, "what", c->what);
	if (c->cpu < 0)
		json_null(j, "cpu");
	else
		json_u64(j, "cpu", c->cpu);
	u64_or_null(j, "count", osnoise_column_count(c), c->over_known);
	u64_or_null(j, "min_ns", c->summary.min_ns, c->summary.known);
	u64_or_null(j, "avg_ns", c->summary.avg_ns, c->summary.known);
	u64_or_null(j, "max_ns", c->summary.max_ns, c->summary.known);
	u64_or_null(j, "over", c->over, c->over_known);
	json_array_flat(j, "buckets");
	for (uint32_t i = hist_next(&c->h, 0); i < c->h.nbuckets; i = hist_next(&c->h, i + 1)) {
		json_object_flat(j, NULL);
		json_u64(j, "from_ns", hist_lowest(&c->h, i));
		json_u64(j, "count", hist_at(&c->h, i));
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void write_analysis(struct json *j, const struct osnoise_analysis *a)
{
	json_object(j, NULL);
	json_u64(j, "cpu", a->cpu);
	json_array(j, "parts");
	for (uint32_t i = 0; i < a->nparts; i++) {
		const struct osnoise_part *p = &a->part[i];

		json_object_flat(j, NULL);
		json_string(j, "label", p->label);
		json_string(j, "who", p->who[0] ? p->who : NULL);
		u64_or_null(j, "ns", p->ns, p->ns != UINT64_MAX);
		json_end(j);
	}
	json_end(j);
	json_array_flat(j, "stack");
	for (uint32_t i = 0; i < a->nframes; i++)
		json_string(j, NULL, a->frame[i]);
	json_end(j);
	json_end(j);
}

int render_osnoise_json(const struct osnoise_reader *r, const char *input, FILE *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_string(&j, "schema", OSNOISE_SCHEMA);
	json_string(&j, "version", CULPRIT_VERSION);
	write_input(&j, r, input);
	write_cpus(&j, r);
	json_array(&j, "timerlat_all");
	for (int i = 0; i < TIMERLAT_CONTEXTS; i++)
		write_latency(&j, "rtla", i, &r->all[i]);
	json_end(&j);
	json_array(&j, "histograms");
	for (uint32_t i = 0; i < r->ncolumns; i++)
		write_column(&j, &r->column[i]);
	json_end(&j);
	write_events(&j, "longest_noises", r->longest, r->nlongest);
	write_events(&j, "longest_samples", r->gaps, r->ngaps);
	json_array(&j, "analyses");
	for (uint32_t i = 0; i < r->nanalyses; i++)
		write_analysis(&j, r->analysis[i]);
	json_end(&j);
	write_unread(&j, r);
	json_end(&j);
	return ferror(out) ? -1 : 0;
}
