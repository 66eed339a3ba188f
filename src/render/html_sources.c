/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of those who took a CPU's time: a row for each source with a bar, who asked for it, and
 * what to do about it. On a narrow page a row is a block. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "model/report.h"
#include "render/html.h"
#include "render/render.h"

#define LEAST_SHOWN 5e-5 /* rows of a smaller share of the lost time are folded, */
#define FOLD_LEAST  2    /* if there are so many */

/* share, time */
static void write_share(FILE *out, const struct report_rows *rows, const struct report_row *r)
{
	char share[32];

	fprintf(out,
		"<tr><td class=\"share\"><div class=\"bar\"><i class=\"k-%s\" "
		"style=\"width:%.2f%%\"></i></div><span>",
		html_class(r->kind),
		rows->longest_ns ? 100.0 * (double)r->ns / (double)rows->longest_ns : 0);
	html_text(out, report_share(r->ns, rows->whole_ns, share, sizeof(share)));
	fputs(" %</span></td><td data-of=\"time\">", out);
	html_ns(out, r->ns);
}

/* the same, count, max */
static void write_numbers(FILE *out, const struct report_rows *rows, const struct report_row *r)
{
	write_share(out, rows, r);
	if (!r->source) {
		fputs("</td><td></td><td></td>", out);
		return;
	}
	fputs("</td><td data-of=\"count\">", out);
	html_count(out, r->source->count);
	fputs("</td><td data-of=\"max\">", out);
	html_ns(out, r->source->net.max);
	fputs("</td>", out);
}

static void write_notes(FILE *out, char *notes)
{
	char *save = NULL;

	for (char *line = notes ? strtok_r(report_unmark(notes), "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		fputs("<small>", out);
		html_text(out, line);
		fputs("</small>", out);
	}
	free(notes);
}

/* Writes the id in the cause book and what to do. */
static void write_cause(const struct html *h, const struct report_row *r)
{
	html_cause(h, r->source->cause);
	if (r->as_above || (r->common && r->common->differs)) {
		fprintf(h->out, " <small>%s</small>", report_advice(r));
	} else if (r->source->advice) {
		fputc(' ', h->out);
		html_advice(h->out, r->source->advice);
	}
}

/* the same, of each, max */
static void write_common(FILE *out, const struct report_rows *rows, const struct report_row *r)
{
	write_share(out, rows, r);
	if (!r->common) {
		fputs("</td><td></td><td></td>", out);
		return;
	}
	fputs("</td><td data-of=\"each\">", out);
	html_ns(out, r->common->ns.median);
	fputs("</td><td data-of=\"max\">", out);
	html_ns(out, r->common->max_ns);
	fputs("</td>", out);
}

static void write_row(const struct html *h, const struct report_row *r, char *notes)
{
	char who[REPORT_WHO + 2];
	FILE *out = h->out;

	report_row_who(r, who);
	fputs("<td class=\"who\">", out);
	if (!r->more)
		html_swatch(out, r->kind);
	html_text(out, report_unmark(who));
	if (!r->more)
		fprintf(out, " <em>%s</em>", report_row_kind(r));
	write_notes(out, notes);
	fputs(r->source ? "</td><td class=\"do\">" : "</td><td>", out);
	if (r->source && r->source->cause)
		write_cause(h, r);
	fputs("</td></tr>\n", out);
}

/* The sources of a CPU, or of CPUs that are alike. */
struct sources_of {
	const struct html *h;
	const struct sources *sources; /* NULL: of a group */
	const struct cpu_group *group;
	struct report_rows rows;
};

static void write_table(const struct sources_of *o, uint32_t from, uint32_t to, const char *caption)
{
	FILE *out = o->h->out;

	fputs("<div class=\"table\"><table class=\"sources\">", out);
	if (caption) {
		fputs("<caption>", out);
		html_text(out, caption);
		fputs("</caption>\n", out);
	}
	fprintf(out,
		"<thead><tr><th>share of lost time</th><th>time</th><th>%s</th><th>max</th><th>who"
		"</th><th>what to do</th></tr></thead>\n<tbody>\n",
		o->group ? "of each" : "count");
	for (const struct report_row *r = o->rows.row + from; r < o->rows.row + to; r++) {
		char *notes = NULL;

		if (o->group && r->common)
			notes = report_group_notes(o->h->view, o->group, r->common);
		else if (o->sources && r->source)
			notes = report_notes(o->sources, r->source, false);
		if (o->group)
			write_common(out, &o->rows, r);
		else
			write_numbers(out, &o->rows, r);
		write_row(o->h, r, notes);
	}
	fputs("</tbody></table></div>\n", out);
}

/* The rows are sorted but for the last, of all that have none. */
static uint32_t count_large(const struct report_rows *rows)
{
	uint32_t n = rows->n;

	while (n && (double)rows->row[n - 1].ns < LEAST_SHOWN * (double)rows->whole_ns)
		n--;
	return rows->n - n < FOLD_LEAST ? rows->n : n;
}

static void write_tables(struct sources_of *o, const char *caption)
{
	uint32_t large = count_large(&o->rows), small = o->rows.n - large;

	if (large)
		write_table(o, 0, large, caption);
	if (small) {
		fprintf(o->h->out,
			"<details class=\"small\"><summary>%u rows of less than 0.005 %%%s", small,
			large ? "" : " of ");
		html_text(o->h->out, large ? "" : caption);
		fputs("</summary>\n", o->h->out);
		write_table(o, large, o->rows.n, NULL);
		fputs("</details>\n", o->h->out);
	}
	free(o->rows.row);
}

int html_sources(const struct html *h, uint32_t index)
{
	struct sources_of o = {.h = h, .sources = &h->view->cpu[index].sources};
	char merged[REPORT_TEXT], lane[LANE_NAME], caption[4 * LANE_NAME];

	if (report_rows(h->view, index, 0, &o.rows))
		return -ENOMEM;
	escape_text(view_lane(h->view, index, lane), SIZE_MAX, caption, sizeof(caption));
	write_tables(&o, caption);
	if (report_merged(o.sources, merged, sizeof(merged)))
		fprintf(h->out, "<p class=\"say\">%s</p>\n", merged);
	return 0;
}

int html_group_sources(const struct html *h, const struct cpu_group *g)
{
	char cpus[REPORT_CPUS], caption[REPORT_CPUS + 40];
	struct sources_of o = {.h = h, .group = g};

	if (report_group_rows(h->view, g, 0, &o.rows))
		return -ENOMEM;
	snprintf(caption, sizeof(caption), "%s, all %u together", report_cpus(h->view, g, cpus),
		 g->n);
	write_tables(&o, caption);
	return 0;
}
