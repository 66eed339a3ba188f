/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Many CPUs in Markdown: all of them in one table, and those that are alike once. */
#include <errno.h>
#include <stdlib.h>

#include "base/units.h"
#include "model/groups.h"
#include "render/markdown_parts.h"

#define TABLE_ROWS 40

int markdown_table(const struct view *v, bool all, FILE *out)
{
	static const char *const headings[] = {"cpus", "lost %", "worst", "p99", "first cause"};
	struct table *t = markdown_begin(headings, "lrrre");
	uint32_t n = !all && v->groups.n > TABLE_ROWS ? TABLE_ROWS : v->groups.n;
	char a[32], list[REPORT_CPUS], who[REPORT_WHO + 2];

	for (uint32_t k = 0; t && k < n; k++) {
		const struct cpu_group *g = &v->groups.row[k];
		const struct source *first = report_first_cause(v, g);

		table_cellf(t, NULL, g->n > 1 ? "%s (%u alike)" : "%s", report_cpus(g, list), g->n);
		table_cell(t, NULL, format_percent(100 * g->lost.most, a, sizeof(a)));
		table_cell(t, NULL, format_ns(g->longest_ns.most, a, sizeof(a)));
		table_cell(t, NULL, format_ns(g->p99_ns.most, a, sizeof(a)));
		if (first)
			markdown_marked(t, (char *)report_mark(first, who));
		table_end_row(t);
	}
	fprintf(out, "\n## %u CPUs, by share lost and longest gap in turn\n\n", v->ncpus);
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
	char a[32], who[REPORT_WHO + 2], advice[CODE_MAX], *notes;
	const struct spread *of = s ? &s->ns : NULL;

	report_row_who(r, who);
	table_cell(t, NULL, report_share(r->ns, rows->whole_ns, a, sizeof(a)));
	table_cell(t, NULL, s ? format_ns(of->least, a, sizeof(a)) : "");
	table_cell(t, NULL, s ? format_ns(of->median, a, sizeof(a)) : "");
	table_cell(t, NULL, s ? format_ns(of->most, a, sizeof(a)) : "");
	table_cell(t, NULL, s ? format_ns(s->max_ns, a, sizeof(a)) : "");
	table_cell(t, NULL, report_row_kind(r));
	markdown_marked(t, who);
	if (s) {
		if (s->differs || r->as_above || !s->who.advice)
			table_cellf(t, NULL, "%s%s%s", s->who.cause ? s->who.cause : "",
				    report_advice(r)[0] ? ": " : "", report_advice(r));
		else
			table_cellf(t, NULL, "%s: %s", s->who.cause ? s->who.cause : "",
				    markdown_name(s->who.advice, advice));
		notes = report_group_notes(v, g, s);
		markdown_marked(t, notes);
		free(notes);
	}
	table_end_row(t);
}

static int write_group(const struct view *v, uint32_t k, FILE *out)
{
	static const char *const headings[] = {"share %", "least", "median",     "most", "longest",
					       "kind",    "who",   "what to do", "notes"};
	const struct cpu_group *g = &v->groups.row[k];
	struct table *t = markdown_begin(headings, "rrrrrleee");
	char a[32], b[32], c[32], list[REPORT_CPUS];
	struct report_rows rows;

	if (!t || report_group_rows(v, g, 0, &rows)) {
		table_free(t);
		return -ENOMEM;
	}
	fprintf(out, "\n## %s, %u alike\n\n", report_cpus(g, list), g->n);
	fprintf(out, "Each lost %s to %s %% of its time, the median %s %%; ",
		format_percent(100 * g->lost.least, a, sizeof(a)),
		format_percent(100 * g->lost.most, b, sizeof(b)),
		format_percent(100 * g->lost.median, c, sizeof(c)));
	fprintf(out, "the worst %s on cpu %u, ", format_ns(g->longest_ns.most, a, sizeof(a)),
		v->cpu[g->longest_ns.lane].number);
	fprintf(out, "p99 up to %s. What each lost to it, and the longest run:\n\n",
		format_ns(g->p99_ns.most, a, sizeof(a)));
	for (uint32_t i = 0; i < rows.n; i++)
		common_row(t, v, g, &rows, &rows.row[i]);
	free(rows.row);
	return markdown_finish(t, out);
}

int markdown_groups(const struct view *v, FILE *out)
{
	int err = 0;

	for (uint32_t k = 0; k < v->groups.n && k < GROUP_DETAILS && !err; k++)
		err = v->groups.row[k].n > 1 ? write_group(v, k, out)
					     : markdown_cpu(v, v->groups.row[k].first, out);
	return err;
}
