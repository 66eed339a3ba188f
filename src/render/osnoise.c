/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output of the kernel's osnoise and rtla, for people:
 *
 *   osnoise.txt  4,000 lines · 3,973 gaps · 1 period
 *
 *   cpu 1  periods 2 · runtime 2.00 s · noise 77.2 ms · available 96.14 % · …
 *     hw 6 · nmi 0 · irq 546 · softirq 0 · thread 112
 *          time  count      max      p99  kind     who
 */
#include "render/osnoise.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/flow.h"
#include "base/table.h"
#include "base/units.h"
#include "render/styles.h"

#define ROWS_MAX  16
#define CPUS_SHOW 64
#define TOP       5
#define ESCAPED   (4 * SOURCE_NAME + 8)

#define BOLD "1"
#define DIM  "2"

struct page {
	FILE *out;
	const struct osnoise_reader *r;
	bool colour;
	unsigned width;
};

uint32_t *osnoise_cpu_order(const struct osnoise_reader *r)
{
	uint32_t *order = calloc(r->ncpus + 1, sizeof(*order)), n = 0;

	for (unsigned cpu = 0; order && cpu < CPUS_MAX; cpu++)
		if (r->slot[cpu])
			order[n++] = r->slot[cpu] - 1;
	return order;
}

static void add_count(struct flow *f, uint64_t n, const char *one, const char *many)
{
	char a[32];

	if (n)
		flow_add(f, "%s %s", format_count(n, a, sizeof(a)), n == 1 ? one : many);
}

static void write_head(const struct page *p, const char *input)
{
	const struct osnoise_reader *r = p->r;
	char name[88], a[32];
	struct flow f;

	flow_start(&f, p->out, p->width, escape_text(input, SIZE_MAX, name, sizeof(name)), " · ",
		   "  ");
	f.some = true;
	add_count(&f, r->lines, "line", "lines");
	add_count(&f, r->events[OSNOISE_NOISE], "noise", "noises");
	add_count(&f, r->events[OSNOISE_SAMPLE], "gap", "gaps");
	add_count(&f, r->events[OSNOISE_PERIOD], "period", "periods");
	add_count(&f, r->events[OSNOISE_TIMERLAT], "timerlat line", "timerlat lines");
	if (r->min_start_ns != UINT64_MAX)
		flow_add(&f, "%s from first to last",
			 format_ns(r->max_end_ns - r->min_start_ns, a, sizeof(a)));
	if (r->rtla_duration_ns)
		flow_add(&f, "rtla ran %s", format_ns(r->rtla_duration_ns, a, sizeof(a)));
	if (r->stopped)
		flow_add(&f, "stopped by its threshold");
	flow_end(&f);
}

static void write_period(const struct page *p, const struct osnoise_period *s, const char *from)
{
	char a[32];
	struct flow f;

	if (!s->count)
		return;
	flow_start(&f, p->out, p->width, "  ", " · ", "    ");
	flow_add(&f, "%s %s", format_count(s->count, a, sizeof(a)),
		 s->count == 1 ? "period" : "periods");
	f.some = true;
	if (s->runtime_ns != UINT64_MAX) {
		flow_add(&f, "run time %s", format_ns(s->runtime_ns, a, sizeof(a)));
		if (s->noise_ns <= s->runtime_ns && s->runtime_ns)
			flow_add(&f, "%s %% available",
				 render_available(s->noise_ns, s->runtime_ns, a));
	}
	flow_add(&f, "noise %s", format_ns(s->noise_ns, a, sizeof(a)));
	flow_add(&f, "worst period %s", format_ns(s->max_noise_ns, a, sizeof(a)));
	flow_add(&f, "worst gap %s", format_ns(s->max_single_ns, a, sizeof(a)));
	flow_add(&f, "hw %s", format_count(s->hw, a, sizeof(a)));
	flow_add(&f, "nmi %s", format_count(s->nmi, a, sizeof(a)));
	if (!s->irqs_off) {
		flow_add(&f, "irq %s", format_count(s->irq, a, sizeof(a)));
		flow_add(&f, "softirq %s", format_count(s->softirq, a, sizeof(a)));
		flow_add(&f, "thread %s", format_count(s->thread, a, sizeof(a)));
	}
	flow_add(&f, "%s", from);
	flow_end(&f);
}

static void write_samples(const struct page *p, const struct osnoise_cpu *c)
{
	char a[32], b[32];
	struct flow f;

	if (!c->samples.count)
		return;
	flow_start(&f, p->out, p->width, "  ", " · ", "    ");
	flow_add(&f, "%s %s", format_count(c->samples.count, a, sizeof(a)),
		 c->samples.count == 1 ? "gap" : "gaps");
	flow_add(&f, "total %s", format_ns(c->samples.sum, a, sizeof(a)));
	flow_add(&f, "worst %s", format_ns(c->samples.max, a, sizeof(a)));
	flow_add(&f, "p99 %s", format_ns(hist_percentile(&c->samples, 99), a, sizeof(a)));
	flow_add(&f, "median %s", format_ns(hist_percentile(&c->samples, 50), a, sizeof(a)));
	flow_add(&f, "%s in %s without any interference",
		 format_ns(c->samples_alone_ns, a, sizeof(a)),
		 format_count(c->samples_alone, b, sizeof(b)));
	if (c->samples_complete)
		flow_add(&f, "of %s with all their noises here these explain %s",
			 format_count(c->samples_complete, a, sizeof(a)),
			 format_ns(c->samples_explained_ns, b, sizeof(b)));
	if (c->samples_complete)
		flow_add(&f, "and leave %s", format_ns(c->samples_rest_ns, a, sizeof(a)));
	flow_end(&f);
}

static void who(enum source_kind kind, uint32_t id, const char *bytes, char *buf, size_t len)
{
	char name[ESCAPED], number[32];

	escape_text(bytes, SOURCE_NAME, name, sizeof(name));
	snprintf(buf, len, "%s%s", name, kind_id(kind, id, !name[0], number, sizeof(number)));
}

static void source_row(struct table *t, const struct source *s)
{
	char a[32], name[ESCAPED + 32];

	table_cell(t, NULL, format_ns(s->net.sum, a, sizeof(a)));
	table_cell(t, NULL, format_count(s->net.count, a, sizeof(a)));
	table_cell(t, NULL, format_ns(s->net.max, a, sizeof(a)));
	table_cell(t, NULL, format_ns(hist_percentile(&s->net, 99), a, sizeof(a)));
	table_cell(t, DIM, source_kind_name(s->kind));
	who(s->kind, s->id, s->name, name, sizeof(name));
	table_cell(t, s->kind == SOURCE_OUTSIDE ? NULL : BOLD, name);
	table_end_row(t);
}

static struct table *new_table(const struct page *p, const char *const *headings, int n)
{
	struct table *t = table_new(p->width, 2);

	for (int i = 0; t && i < n; i++)
		table_column(t, headings[i], i < n - 2 ? ALIGN_RIGHT : ALIGN_LEFT, i == n - 1);
	return t;
}

static void write_sources(const struct page *p, const struct osnoise_cpu *c)
{
	static const char *const headings[] = {"time", "count", "max", "p99", "kind", "who"};
	uint32_t *order = calloc(c->sources.count + 1, sizeof(*order)), n, shown;
	struct table *t = new_table(p, headings, 6);

	n = order ? sources_rank(&c->sources, order) : 0;
	shown = n > ROWS_MAX ? ROWS_MAX : n;
	if (t && n) {
		for (uint32_t i = 0; i < shown; i++)
			source_row(t, c->sources.row[order[i]]);
		table_print(t, p->out, p->colour);
		if (n > shown)
			fprintf(p->out, "  %u more sources (all in -f json)\n", n - shown);
	}
	table_free(t);
	free(order);
}

static void write_latency(const struct page *p, const char *what, uint64_t count, uint64_t min,
			  uint64_t avg, uint64_t max)
{
	char a[32], b[32], c[32], d[32];

	fprintf(p->out, "  timerlat %-6s  %s times · min %s · avg %s · max %s\n", what,
		format_count(count, a, sizeof(a)), format_ns(min, b, sizeof(b)),
		format_ns(avg, c, sizeof(c)), format_ns(max, d, sizeof(d)));
}

static void write_timerlat(const struct page *p, const struct osnoise_cpu *c)
{
	for (int i = 0; i < TIMERLAT_CONTEXTS; i++) {
		const struct hist *h = &c->latency[i];
		const struct osnoise_latency *l = &c->rtla[i];

		if (h->count)
			write_latency(p, timerlat_context_name(i), h->count, h->min,
				      h->sum / h->count, h->max);
		if (l->known)
			write_latency(p, timerlat_context_name(i), l->count, l->min_ns, l->avg_ns,
				      l->max_ns);
	}
}

static void write_all_cpus(const struct page *p)
{
	const char *title = "\nall CPUs\n";

	for (int i = 0; i < TIMERLAT_CONTEXTS; i++) {
		const struct osnoise_latency *l = &p->r->all[i];

		if (!l->known || p->r->ncpus == 1)
			continue;
		fputs(title, p->out);
		title = "";
		write_latency(p, timerlat_context_name(i), l->count, l->min_ns, l->avg_ns,
			      l->max_ns);
	}
}

static void write_cpu(const struct page *p, const struct osnoise_cpu *c)
{
	fprintf(p->out, "\n%scpu %u%s\n", p->colour ? "\033[1m" : "", c->cpu,
		p->colour ? "\033[0m" : "");
	write_period(p, &c->traced, "from the trace");
	write_period(p, &c->top, "from rtla");
	write_samples(p, c);
	write_timerlat(p, c);
	write_sources(p, c);
}

/* p99 of all values, also of those that rtla only counted as beyond its last bucket. A bucket is
 * known by its lowest value; no value in it reaches the next one's. rtla rounds the largest down.
 */
static void add_p99(struct flow *f, const struct osnoise_reader *r, const struct osnoise_column *c)
{
	double percent =
		c->h.count ? 99.0 * ((double)c->h.count + (double)c->over) / (double)c->h.count
			   : 200;
	uint64_t end, past_max;
	char a[32];

	if (percent > 100) {
		if (c->h.count || c->over)
			flow_add(f, "p99 beyond the last bucket");
		return;
	}
	if (!r->bucket_ns ||
	    __builtin_add_overflow(hist_percentile(&c->h, percent), r->bucket_ns, &end))
		end = UINT64_MAX;
	if (c->summary.known && !__builtin_add_overflow(c->summary.max_ns, r->unit_ns, &past_max) &&
	    past_max < end)
		end = past_max;
	if (end == UINT64_MAX)
		flow_add(f, "p99 in the first bucket");
	else
		flow_add(f, "p99 below %s", format_ns(end, a, sizeof(a)));
}

static const char *column_title(const struct osnoise_column *c)
{
	return !strcmp(c->what, "CPU")   ? "gaps"
	       : !strcmp(c->what, "IRQ") ? "timerlat irq"
	       : !strcmp(c->what, "Thr") ? "timerlat thread"
					 : "timerlat user";
}

static void write_column(const struct page *p, const struct osnoise_column *c)
{
	char a[32], start[64];
	struct flow f;

	snprintf(start, sizeof(start), "  cpu %d %s  ", c->cpu, column_title(c));
	flow_start(&f, p->out, p->width, start, " · ", "    ");
	flow_add(&f, "%s%s times", c->over_known ? "" : "at least ",
		 format_count(osnoise_column_count(c), a, sizeof(a)));
	if (c->summary.known) {
		flow_add(&f, "min %s", format_ns(c->summary.min_ns, a, sizeof(a)));
		flow_add(&f, "avg %s", format_ns(c->summary.avg_ns, a, sizeof(a)));
		flow_add(&f, "max %s", format_ns(c->summary.max_ns, a, sizeof(a)));
	}
	if (c->over_known) {
		add_p99(&f, p->r, c);
		flow_add(&f, "%s beyond the last bucket", format_count(c->over, a, sizeof(a)));
	} else {
		flow_add(&f, "how many beyond the last bucket is not known");
	}
	flow_end(&f);
}

static void write_columns(const struct page *p)
{
	if (p->r->ncolumns)
		fputs("\nhistograms\n", p->out);
	for (uint32_t i = 0; i < p->r->ncolumns && i < TIMERLAT_CONTEXTS * CPUS_SHOW; i++)
		write_column(p, &p->r->column[i]);
	if (p->r->ncolumns > TIMERLAT_CONTEXTS * CPUS_SHOW || p->r->columns_beyond)
		fputs("  more columns are not shown\n", p->out);
}

static void write_longest(const struct page *p, const char *title, const struct osnoise_event *list,
			  uint32_t n)
{
	static const char *const headings[] = {"start", "cpu", "time", "kind", "who"};
	struct table *t = new_table(p, headings, 5);
	char a[32], name[ESCAPED + 32];

	for (uint32_t i = 0; t && i < n && i < TOP; i++) {
		const struct osnoise_event *e = &list[i];

		table_cellf(t, NULL, "%.6f s", (double)e->start_ns / 1e9);
		table_cellf(t, NULL, "%u", e->cpu);
		table_cell(t, NULL, format_ns(e->duration_ns, a, sizeof(a)));
		if (e->type == OSNOISE_SAMPLE) {
			table_cell(t, DIM, e->interference ? "gap" : "outside");
			if (e->interference)
				table_cellf(t, NULL, "with %s interference%s",
					    format_count(e->interference, a, sizeof(a)),
					    plural(e->interference));
			else
				table_cell(t, NULL, e->name);
		} else {
			table_cell(t, DIM, source_kind_name(e->kind));
			who(e->kind, e->id, e->name, name, sizeof(name));
			table_cell(t, BOLD, name);
		}
		table_end_row(t);
	}
	if (t && n) {
		fprintf(p->out, "\n%s\n", title);
		table_print(t, p->out, p->colour);
	}
	table_free(t);
}

static void write_analysis(const struct page *p, const struct osnoise_analysis *a)
{
	char text[80], time[32];
	struct flow f;

	fprintf(p->out, "\nrtla's analysis of the stop on cpu %u\n", a->cpu);
	for (uint32_t i = 0; i < a->nparts; i++) {
		const struct osnoise_part *s = &a->part[i];

		escape_text(s->who[0] ? s->who : s->label, SIZE_MAX, text, sizeof(text));
		fprintf(p->out, "  %8s  %s%s\n",
			s->ns == UINT64_MAX ? "" : format_ns(s->ns, time, sizeof(time)),
			s->who[0] ? "  " : "", text);
	}
	if (!a->nframes)
		return;
	flow_start(&f, p->out, p->width, "  stack: ", " < ", "    ");
	for (uint32_t i = 0; i < a->nframes; i++)
		flow_add(&f, "%s", escape_text(a->frame[i], SIZE_MAX, text, sizeof(text)));
	flow_end(&f);
}

int render_osnoise_text(const struct osnoise_reader *r, const char *input,
			const struct render_options *options, FILE *out)
{
	struct page p = {out, r, options->colour, options->width ? options->width : 100};
	uint32_t *order = osnoise_cpu_order(r);

	write_head(&p, input);
	for (uint32_t i = 0; order && i < r->ncpus && i < CPUS_SHOW; i++)
		write_cpu(&p, r->cpu[order[i]]);
	free(order);
	if (r->ncpus > CPUS_SHOW)
		fprintf(out, "\n%u more CPUs (all in -f json)\n", r->ncpus - CPUS_SHOW);
	write_all_cpus(&p);
	write_columns(&p);
	write_longest(&p, "longest gaps", r->gaps, r->ngaps);
	write_longest(&p, "longest noises", r->longest, r->nlongest);
	for (uint32_t i = 0; i < r->nanalyses; i++)
		write_analysis(&p, r->analysis[i]);
	fputc('\n', out);
	render_osnoise_notes(r, p.width, out);
	return ferror(out) ? -1 : 0;
}
