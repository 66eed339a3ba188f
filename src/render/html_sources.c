/* Who took the time of a CPU: a row for each source with a bar, who asked for it, and what to do
 * about it. On a narrow page a row is a block. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/report.h"
#include "render/html.h"
#include "render/render.h"

/* share, time, count, max */
static void write_numbers(FILE *out, const struct report_rows *rows, const struct report_row *r)
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
	if (r->as_above) {
		fputs(" <small>as above</small>", out);
	} else if (r->source->advice) {
		fputs(" <code>", out);
		html_name(out, r->source->advice);
		fputs("</code>", out);
	}
}

static void write_row(FILE *out, const struct sources *t, const struct report_rows *rows,
		      const struct report_row *r)
{
	char who[REPORT_WHO + 2];

	report_row_who(r, who);
	write_numbers(out, rows, r);
	fputs("<td class=\"who\">", out);
	if (!r->more)
		html_swatch(out, r->kind);
	html_text(out, report_unmark(who));
	if (!r->more)
		fprintf(out, " <em>%s</em>", report_row_kind(r));
	if (r->source)
		write_notes(out, report_notes(t, r->source, false));
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
		for (uint32_t i = 0; i < rows.n; i++)
			write_row(h->out, t, &rows, &rows.row[i]);
		fputs("</tbody></table></div>\n", h->out);
		if (report_merged(t, merged, sizeof(merged)))
			fprintf(h->out, "<p class=\"say\">%s</p>\n", merged);
	}
	free(rows.row);
	return 0;
}
