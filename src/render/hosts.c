/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several hosts in one report, text or Markdown, before each one's own:
 *
 *   culprit 0.1 · 2 reports
 *
 *     host    cpu  lost %  hiccups    worst  first source
 *     web-07  3      0.41    1,204  38.2 us  local_timer > tick_nohz_handler
 *
 * CPUs that are alike have one row, with the most that one of them has; a host has up to HOST_ROWS.
 *
 *     lost %     time  count      max  host    cpu  kind    who
 *     0.4015  2.41 ms    902  9.80 us  web-07  3    vector  local_timer > tick_nohz_handler
 */
#include <errno.h>
#include <stdlib.h>

#include "base/markdown.h"
#include "base/table.h"
#include "base/units.h"
#include "model/groups.h"
#include "model/hosts.h"
#include "model/report.h"
#include "render/fleet.h"
#include "render/render.h"

#define RANK_ROWS  16
#define HOST_ROWS  8
#define LIST_WIDTH 24

static const char *percent_cell(double percent, char *buf, size_t len)
{
	snprintf(buf, len, percent > 0 && percent < 0.00005 ? "<0.0001" : "%.4f", percent);
	return buf;
}

const char *host_share(uint64_t part, uint64_t whole, char *buf, size_t len)
{
	return percent_cell(whole ? 100.0 * part / whole : 0, buf, len);
}

void host_name_cell(struct table *t, const char *name, bool markdown)
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
	char a[32], first[REPORT_WHO], lane[REPORT_CPUS];
	int err = first_source(&c->sources, first, sizeof(first));

	host_name_cell(t, host, markdown);
	if (v->run.watch)
		host_name_cell(t, report_lane(v, i, lane), markdown);
	else
		table_cellf(t, NULL, "%u", c->number);
	if (!view_lost_known(v, i))
		table_cell(t, NULL, "?");
	else
		table_cell(t, NULL,
			   host_share(c->hiccups.sum, v->cpu[i].observed_ns, a, sizeof(a)));
	table_cell(t, NULL, format_count(c->hiccups.count, a, sizeof(a)));
	table_cell(t, NULL, format_ns(c->hiccups.max, a, sizeof(a)));
	host_name_cell(t, first, markdown);
	table_end_row(t);
	return err;
}

/* CPUs that are alike, or one CPU. */
static int group_row(struct table *t, const struct view *v, const struct cpu_group *g,
		     const char *host, unsigned width, bool markdown)
{
	char a[32], list[REPORT_CPUS], first[REPORT_WHO] = "";
	const struct source *cause = report_first_cause(v, g);

	if (g->n == 1)
		return cpu_row(t, v, g->first, host, markdown);
	report_cpus_cell(v, g, width < 100 ? 2 * LIST_WIDTH / 3 : LIST_WIDTH, list);
	host_name_cell(t, host, markdown);
	if (v->run.watch)
		host_name_cell(t, list, markdown);
	else
		table_cell(t, NULL, list);
	if (g->lost.least < 0)
		table_cell(t, NULL, "?");
	else
		table_cell(t, NULL, percent_cell(100 * g->lost.most, a, sizeof(a)));
	table_cell(t, NULL, format_count(g->hiccups.most, a, sizeof(a)));
	table_cell(t, NULL, format_ns(g->longest_ns.most, a, sizeof(a)));
	if (cause)
		report_who(cause, first, sizeof(first));
	host_name_cell(t, first, markdown);
	table_end_row(t);
	return 0;
}

/* The CPUs of a host; *more: the number of those that found no room. */
static int host_rows(struct table *t, const struct view *v, const char *host,
		     const struct render_options *o, bool markdown, uint32_t *more)
{
	const struct cpu_groups *g = &v->groups;
	int err = 0;

	if (o->all || !groups_shown(v)) {
		for (uint32_t k = 0; k < v->ncpus && !err; k++)
			err = cpu_row(t, v, k, host, markdown);
		return err;
	}
	for (uint32_t k = 0; k < g->n && !err; k++)
		if (k < HOST_ROWS)
			err = group_row(t, v, &g->row[k], host, o->width ? o->width : 100,
					markdown);
		else
			*more += g->row[k].n;
	return err;
}

static int write_cpus(const struct view *const *views, uint32_t n, const struct render_options *o,
		      bool markdown, FILE *out)
{
	struct table *t = table_new(o->width ? o->width : 100, 2);
	char label[HOST_LABEL];
	uint32_t more = 0;
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
		err = host_rows(t, views[i], label, o, markdown, &more);
	}
	print(t, markdown, out);
	if (more)
		fprintf(out, "%sand %u CPUs more: see each report, or all with %s\n",
			markdown ? "\n" : "  ", more, markdown ? "`--all`" : "--all");
	return err;
}

static void source_row(struct table *t, const struct host_source *s, const char *host,
		       bool markdown)
{
	char a[32], cpus[64], who[REPORT_WHO];

	table_cell(t, NULL, host_share(s->total_ns, s->observed_ns, a, sizeof(a)));
	table_cell(t, NULL, format_ns(s->total_ns, a, sizeof(a)));
	table_cell(t, NULL, format_count(s->count, a, sizeof(a)));
	table_cell(t, NULL, format_ns(s->max_ns, a, sizeof(a)));
	host_name_cell(t, host, markdown);
	table_cell(t, NULL, cpus_format(&s->cpus, cpus, sizeof(cpus)));
	table_cell(t, NULL, source_kind_name(s->who->kind));
	host_name_cell(t, report_who(s->who, who, sizeof(who)), markdown);
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
	err = write_cpus(views, n, options, markdown, out);
	return err ? err : write_sources(views, n, width, markdown, out);
}
