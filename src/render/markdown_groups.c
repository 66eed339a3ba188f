/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Many CPUs in Markdown: all of them in one table, and those that are alike once. */
#include <errno.h>
#include <stdlib.h>

#include "base/markdown.h"
#include "base/units.h"
#include "model/groups.h"
#include "render/markdown_parts.h"

#define TABLE_ROWS 40

/* A name from the machine stands as code. */
static void lanes_cell(struct table *t, const struct view *v, const struct cpu_group *g,
		       char list[REPORT_CPUS])
{
	char code[CODE_MAX];

	report_cpus(v, g, list);
	if (v->run.watch)
		table_cell(t, NULL, markdown_code(list, code, sizeof(code)));
	else
		table_cellf(t, NULL, g->n > 1 ? "%s (%u alike)" : "%s", list, g->n);
}

int markdown_table(const struct view *v, bool all, FILE *out)
{
	uint32_t n = !all && v->groups.n > TABLE_ROWS ? TABLE_ROWS : v->groups.n, columns;
	char cell[32], list[REPORT_CPUS], who[REPORT_WHO + 2], align[REPORT_COLUMNS + 3] = "l";
	const char *headings[REPORT_COLUMNS + 2] = {v->run.watch ? "threads" : "cpus"};
	struct report_column column[REPORT_COLUMNS];
	struct table *t;

	columns = report_columns(v, column);
	for (uint32_t i = 0; i < columns; i++) {
		headings[i + 1] = column[i].heading;
		align[i + 1] = 'r';
	}
	headings[columns + 1] = "first cause";
	align[columns + 1] = 'e';
	t = markdown_begin(headings, align);
	for (uint32_t k = 0; t && k < n; k++) {
		const struct cpu_group *g = &v->groups.row[k];
		const struct source *first = report_first_cause(v, g);

		lanes_cell(t, v, g, list);
		for (uint32_t i = 0; i < columns; i++) {
			cell[0] = '\0';
			column[i].cell(g, cell);
			table_cell(t, NULL, cell);
		}
		if (first)
			markdown_marked(t, (char *)report_mark(first, who));
		table_end_row(t);
	}
	fprintf(out, "\n## %s\n\n", report_ranked(v, list));
	if (markdown_finish(t, out))
		return -ENOMEM;
	if (v->groups.n > n)
		fputs("\nThe others come further down in both lists: `--all`.\n", out);
	return 0;
}

static void common_row(struct table *t, const struct view *v, const struct cpu_group *g,
		       const struct report_rows *rows, const struct report_row *r)
{
	const struct group_source *s = r->common;
	char a[32], who[REPORT_WHO + 2];
	const struct spread *of = s ? &s->ns : NULL;

	report_row_who(r, who);
	table_cell(t, NULL, report_share(r->ns, rows->whole_ns, a, sizeof(a)));
	table_cell(t, NULL, s ? format_ns(of->median, a, sizeof(a)) : "");
	table_cell(t, NULL, s ? format_ns(of->most, a, sizeof(a)) : "");
	table_cell(t, NULL, s ? format_ns(s->max_ns, a, sizeof(a)) : "");
	table_cell(t, NULL, report_row_kind(r));
	markdown_who(t, who, s ? report_group_notes(v, g, s) : NULL);
	if (s)
		markdown_do(t, r);
	table_end_row(t);
}

static void write_group_head(const struct view *v, const struct cpu_group *g, FILE *out)
{
	char a[32], b[32], c[32], list[REPORT_CPUS], code[CODE_MAX];

	report_cpus(v, g, list);
	fprintf(out, "\n## %s, %u alike\n\n",
		v->run.watch ? markdown_code(list, code, sizeof(code)) : list, g->n);
	if (v->run.watch)
		fprintf(out, "Each lost %s to %s, the median %s; ",
			format_ns(g->lost_each_ns.least, a, sizeof(a)),
			format_ns(g->lost_each_ns.most, b, sizeof(b)),
			format_ns(g->lost_each_ns.median, c, sizeof(c)));
	else if (v->run.windows)
		fprintf(out, "Slow were %s to %s of each, the median %s; ",
			format_count(g->hiccups.least, a, sizeof(a)),
			format_count(g->hiccups.most, b, sizeof(b)),
			format_count(g->hiccups.median, c, sizeof(c)));
	else
		fprintf(out, "Each lost %s to %s %% of its time, the median %s %%; ",
			report_lost_share(g->lost.least, a, sizeof(a)),
			report_lost_share(g->lost.most, b, sizeof(b)),
			report_lost_share(g->lost.median, c, sizeof(c)));
	report_lane(v, g->longest_ns.lane, list);
	fprintf(out, "the worst %s on %s, ", format_ns(g->longest_ns.most, a, sizeof(a)),
		v->run.watch ? markdown_code(list, code, sizeof(code)) : list);
	fprintf(out, "p99 up to %s.", format_ns(g->p99_ns.most, a, sizeof(a)));
}

static int write_sources(const struct view *v, const struct cpu_group *g, FILE *out)
{
	static const char *const headings[] = {"share %", "median", "most",      "longest",
					       "kind",    "who",    "what to do"};
	struct table *t = markdown_begin(headings, "rrrrlee");
	struct report_rows rows;

	if (!t || report_group_rows(v, g, 0, &rows)) {
		table_free(t);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < rows.n; i++)
		common_row(t, v, g, &rows, &rows.row[i]);
	free(rows.row);
	return markdown_finish(t, out);
}

static int write_group(const struct view *v, uint32_t k, FILE *out)
{
	const struct cpu_group *g = &v->groups.row[k];

	write_group_head(v, g, out);
	if (g->total_ns)
		fputs(" What the median of them lost to it, and the one that lost most; the "
		      "longest run:\n\n",
		      out);
	else
		fputc('\n', out);
	if (g->total_ns && write_sources(v, g, out))
		return -ENOMEM;
	return markdown_group_series(v, g, out);
}

int markdown_groups(const struct view *v, FILE *out)
{
	int err = 0;

	for (uint32_t k = 0; k < v->groups.n && k < GROUP_DETAILS && !err; k++)
		err = v->groups.row[k].n > 1 ? write_group(v, k, out)
					     : markdown_cpu(v, v->groups.row[k].first, out);
	return err;
}
