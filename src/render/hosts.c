/* Several hosts in one report, text or Markdown, before each one's own:
 *
 *   culprit 0.1 · 2 reports
 *
 *     host    cpu  lost %  hiccups    worst  first source
 *     web-07  3      0.41    1,204  38.2 us  local_timer > tick_nohz_handler
 *
 *     lost %     time  count      max  host    cpu  kind    who
 *     0.4015  2.41 ms    902  9.80 us  web-07  3    vector  local_timer > tick_nohz_handler
 */
#include <errno.h>
#include <stdlib.h>

#include "base/markdown.h"
#include "base/table.h"
#include "base/units.h"
#include "model/hosts.h"
#include "model/report.h"
#include "render/render.h"

#define RANK_ROWS 16

/* For a column: aligns the decimal points. */
static const char *share(uint64_t part, uint64_t whole, char *buf, size_t len)
{
	double percent = whole ? 100.0 * part / whole : 0;

	snprintf(buf, len, percent > 0 && percent < 0.00005 ? "<0.0001" : "%.4f", percent);
	return buf;
}

/* A name from the machine: escaped in text, a code span in Markdown. */
static void name_cell(struct table *t, const char *name, bool markdown)
{
	char text[HOST_LABEL + 16];

	table_cell(t, NULL, markdown ? markdown_code(name, text, sizeof(text)) : name);
}

static void print(struct table *t, bool markdown, FILE *out)
{
	if (markdown)
		table_print_markdown(t, out);
	else
		table_print(t, out, false);
	table_free(t);
}

static int first_source(const struct sources *t, char *buf, size_t len)
{
	uint32_t *order = calloc(t->count + 1, sizeof(*order));

	buf[0] = '\0';
	if (!order)
		return -ENOMEM;
	if (sources_rank(t, order))
		report_who(t->row[order[0]], buf, len);
	free(order);
	return 0;
}

static int cpu_row(struct table *t, const struct view *v, uint32_t i, const char *host,
		   bool markdown)
{
	const struct cpu *c = &v->cpu[i];
	char a[32], first[REPORT_WHO], lane[LANE_NAME];
	int err = first_source(&c->sources, first, sizeof(first));

	name_cell(t, host, markdown);
	if (v->run.watch)
		name_cell(t, view_lane(v, i, lane), markdown);
	else
		table_cellf(t, NULL, "%u", c->number);
	if (view_lost(v, i) < 0)
		table_cell(t, NULL, "?");
	else
		table_cell(t, NULL, share(c->hiccups.sum, v->cpu[i].observed_ns, a, sizeof(a)));
	table_cell(t, NULL, format_count(c->hiccups.count, a, sizeof(a)));
	table_cell(t, NULL, format_ns(c->hiccups.max, a, sizeof(a)));
	name_cell(t, first, markdown);
	table_end_row(t);
	return err;
}

static int write_cpus(const struct view *const *views, uint32_t n, unsigned width, bool markdown,
		      FILE *out)
{
	struct table *t = table_new(width, 2);
	char label[HOST_LABEL];
	int err = 0;

	if (!t)
		return -ENOMEM;
	table_column(t, "host", ALIGN_LEFT, true);
	table_column(t, "cpu", ALIGN_LEFT, false);
	table_column(t, "lost %", ALIGN_RIGHT, false);
	table_column(t, "hiccups", ALIGN_RIGHT, false);
	table_column(t, "worst", ALIGN_RIGHT, false);
	table_column(t, "first source", ALIGN_LEFT, true);
	for (uint32_t i = 0; i < n && !err; i++) {
		host_label(views, n, i, label, sizeof(label));
		for (uint32_t k = 0; k < views[i]->ncpus && !err; k++)
			err = cpu_row(t, views[i], k, label, markdown);
	}
	print(t, markdown, out);
	return err;
}

static void source_row(struct table *t, const struct host_source *s, const char *host,
		       bool markdown)
{
	char a[32], cpus[64], who[REPORT_WHO];

	table_cell(t, NULL, share(s->total_ns, s->observed_ns, a, sizeof(a)));
	table_cell(t, NULL, format_ns(s->total_ns, a, sizeof(a)));
	table_cell(t, NULL, format_count(s->count, a, sizeof(a)));
	table_cell(t, NULL, format_ns(s->max_ns, a, sizeof(a)));
	name_cell(t, host, markdown);
	table_cell(t, NULL, cpus_format(&s->cpus, cpus, sizeof(cpus)));
	table_cell(t, NULL, source_kind_name(s->who->kind));
	name_cell(t, report_who(s->who, who, sizeof(who)), markdown);
	table_end_row(t);
}

static int write_sources(const struct view *const *views, uint32_t n, unsigned width, bool markdown,
			 FILE *out)
{
	struct host_source *row = calloc(RANK_ROWS, sizeof(*row));
	int count = row ? hosts_rank(views, n, row, RANK_ROWS) : -ENOMEM;
	struct table *t = count > 0 ? table_new(width, 2) : NULL;
	char label[HOST_LABEL];

	if (count <= 0) {
		free(row);
		return count;
	}
	if (!t) {
		free(row);
		return -ENOMEM;
	}
	table_column(t, "lost %", ALIGN_RIGHT, false);
	table_column(t, "time", ALIGN_RIGHT, false);
	table_column(t, "count", ALIGN_RIGHT, false);
	table_column(t, "max", ALIGN_RIGHT, false);
	table_column(t, "host", ALIGN_LEFT, true);
	table_column(t, "cpu", ALIGN_LEFT, false);
	table_column(t, "kind", ALIGN_LEFT, false);
	table_column(t, "who", ALIGN_LEFT, true);
	for (int i = 0; i < count && i < RANK_ROWS; i++)
		source_row(t, &row[i], host_label(views, n, row[i].view, label, sizeof(label)),
			   markdown);
	putc('\n', out);
	print(t, markdown, out);
	if (count > RANK_ROWS)
		fprintf(out, "%sand %d more: see each report\n", markdown ? "\n" : "  ",
			count - RANK_ROWS);
	free(row);
	return 0;
}

int render_hosts(const struct view *const *views, uint32_t n, const struct render_options *options,
		 bool markdown, FILE *out)
{
	unsigned width = options->width ? options->width : 100;
	int err;

	fprintf(out,
		markdown ? "# culprit: %u reports\n\n"
			 : "culprit " CULPRIT_VERSION " · %u reports\n\n",
		n);
	err = write_cpus(views, n, width, markdown, out);
	return err ? err : write_sources(views, n, width, markdown, out);
}
