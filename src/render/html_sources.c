/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of those who took a CPU's time: a row for each source with a bar, who asked for it, and
 * what to do about it. On a narrow page a row is a block. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/report.h"
#include "render/html.h"
#include "render/render.h"

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
static void write_cause(FILE *out, const struct report_row *r)
{
	fputs("<span class=\"cause\">", out);
	html_name(out, r->source->cause);
	fputs("</span>", out);
	if (r->as_above || (r->common && r->common->differs)) {
		fprintf(out, " <small>%s</small>", report_advice(r));
	} else if (r->source->advice) {
		fputs(" <code>", out);
		html_name(out, r->source->advice);
		fputs("</code>", out);
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

static void write_row(FILE *out, const struct report_row *r, char *notes)
{
	char who[REPORT_WHO + 2];

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
		write_cause(out, r);
	fputs("</td></tr>\n", out);
}

int html_sources(const struct html *h, uint32_t index)
{
	const struct sources *t = &h->view->cpu[index].sources;
	struct report_rows rows;
	char merged[REPORT_TEXT];

	if (report_rows(h->view, index, 0, &rows))
		return -ENOMEM;
	if (rows.n) {
		fputs("<div class=\"table\"><table class=\"sources\"><caption>", h->out);
		html_lane(h->out, h->view, index);
		fputs("</caption>\n<thead><tr><th>share of lost "
		      "time</th><th>time</th><th>count</th><th>max</th><th>who</th>"
		      "<th>what to do</th></tr></thead>\n<tbody>\n",
		      h->out);
		for (uint32_t i = 0; i < rows.n; i++) {
			const struct report_row *r = &rows.row[i];

			write_numbers(h->out, &rows, r);
			write_row(h->out, r, r->source ? report_notes(t, r->source, false) : NULL);
		}
		fputs("</tbody></table></div>\n", h->out);
		if (report_merged(t, merged, sizeof(merged)))
			fprintf(h->out, "<p class=\"say\">%s</p>\n", merged);
	}
	free(rows.row);
	return 0;
}

int html_group_sources(const struct html *h, const struct cpu_group *g)
{
	struct report_rows rows;
	char cpus[REPORT_CPUS];

	if (report_group_rows(h->view, g, 0, &rows))
		return -ENOMEM;
	if (rows.n) {
		fputs("<div class=\"table\"><table class=\"sources\"><caption>", h->out);
		html_text(h->out, report_cpus(h->view, g, cpus));
		fprintf(h->out,
			", all %u together</caption>\n<thead><tr><th>share of lost "
			"time</th><th>time</th><th>of each</th><th>max</th><th>who</th><th>what "
			"to do</th></tr></thead>\n<tbody>\n",
			g->n);
		for (uint32_t i = 0; i < rows.n; i++) {
			const struct report_row *r = &rows.row[i];

			write_common(h->out, &rows, r);
			write_row(h->out, r,
				  r->common ? report_group_notes(h->view, g, r->common) : NULL);
		}
		fputs("</tbody></table></div>\n", h->out);
	}
	free(rows.row);
	return 0;
}
