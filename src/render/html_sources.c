/* Who took the time of a CPU: a row a source with a bar, who asked for it, and what to do about it.
 * On a narrow page a row is a block. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "render/html.h"
#include "render/render.h"

#define ROWS_MAX 40  /* of a CPU */
#define ROWS_ALL 320 /* of all CPUs of a file together... */
#define ROWS_MIN 12  /* ...but so many of each */

struct rows {
	const struct html *h;
	const struct sources *sources;
	const uint32_t *order;
	uint64_t whole;   /* ns that the shares are of */
	uint64_t longest; /* bar */
};

/* share, time, count, max: count and max of a source */
static void write_numbers(const struct rows *r, unsigned kind, uint64_t ns, const struct source *s)
{
	FILE *out = r->h->out;

	fprintf(out,
		"<tr><td class=\"share\"><div class=\"bar\"><i class=\"k-%s\" "
		"style=\"width:%.2f%%\"></i></div>",
		html_class(kind), r->longest ? 100.0 * (double)ns / (double)r->longest : 0);
	fprintf(out, "<span>%.2f %%</span></td><td data-of=\"time\">",
		r->whole ? 100.0 * (double)ns / (double)r->whole : 0);
	html_ns(out, ns);
	if (!s) {
		fputs("</td><td></td><td></td>", out);
		return;
	}
	fputs("</td><td data-of=\"count\">", out);
	html_count(out, s->count);
	fputs("</td><td data-of=\"max\">", out);
	html_ns(out, s->net.max);
	fputs("</td>", out);
}

static void write_asker(FILE *out, const struct origins *o)
{
	const struct origin *r;
	char text[REQUESTS_MAX];
	uint32_t top;

	if (!o || !origins_top(o, &top, 1))
		return;
	r = &o->row[top];
	fputs("<small>by ", out);
	html_asker(out, &r->who);
	if (r->who.function) {
		fputs(": ", out);
		html_name(out, r->who.function);
	}
	html_text(out, render_requests(o, r, text, sizeof(text)));
	fputs("</small>", out);
}

/* An id of the cause book and what to do; what a row above says already is not said again. */
static void write_cause(const struct rows *r, uint32_t k)
{
	const struct source *s = r->sources->row[r->order[k]];
	FILE *out = r->h->out;

	if (!s->cause)
		return;
	fputs("<span class=\"cause\">", out);
	html_name(out, s->cause);
	fputs("</span>", out);
	for (uint32_t i = 0; i < k; i++) {
		const struct source *above = r->sources->row[r->order[i]];

		if (above->cause && !strcmp(above->cause, s->cause) &&
		    !strcmp(above->advice ? above->advice : "", s->advice ? s->advice : "")) {
			fputs(" <small>as above</small>", out);
			return;
		}
	}
	if (s->advice) {
		fputs(" <code>", out);
		html_name(out, s->advice);
		fputs("</code>", out);
	}
}

static void write_source(const struct rows *r, uint32_t k)
{
	const struct source *s = r->sources->row[r->order[k]];
	FILE *out = r->h->out;
	char runs[RUNS_MAX], stops[STOPS_MAX];

	write_numbers(r, s->kind, s->net.sum, s);
	fputs("<td class=\"who\">", out);
	html_swatch(out, s->kind);
	html_who(out, s);
	fprintf(out, " <em>%s</em>", source_kind_name(s->kind));
	if (render_runs(s, runs, sizeof(runs)))
		fprintf(out, "<small>%s</small>", runs);
	if (render_stops(s, stops, sizeof(stops)))
		fprintf(out, "<small>%s</small>", stops);
	write_asker(out, s->origins);
	if (s->kind == SOURCE_LOST) {
		char text[WHO_MAX + 80];

		fprintf(out, "<small>%s record%s missing",
			format_count(s->missing, text, sizeof(text)), s->missing == 1 ? "" : "s");
		if (sources_near_lost(r->sources)) {
			fputs("; most seen: ", out);
			html_who(out, sources_near_lost(r->sources));
		}
		fputs("</small>", out);
	}
	if (s->affinity) {
		fputs("<small>may go to CPU ", out);
		html_name(out, s->affinity);
		fputs("</small>", out);
	}
	if (s->memory_of[0]) {
		fputs("<small>memory of ", out);
		html_name(out, s->memory_of);
		fputs("</small>", out);
	}
	fputs("</td><td class=\"do\">", out);
	write_cause(r, k);
	fputs("</td></tr>\n", out);
}

/* Rows beside the sources that have a place, for what is left. */
static void write_rest(const struct rows *r, uint32_t shown, uint32_t n, uint64_t edge_ns)
{
	FILE *out = r->h->out;
	uint64_t more = 0;

	for (uint32_t i = shown; i < n; i++)
		more += r->sources->row[r->order[i]]->net.sum;
	if (edge_ns) {
		write_numbers(r, TIMELINE_EDGE, edge_ns, NULL);
		fputs("<td class=\"who\">", out);
		html_swatch(out, TIMELINE_EDGE);
		fputs("kernel entry and exit around these <em>edge</em></td><td></td></tr>\n", out);
	}
	if (more) {
		write_numbers(r, TIMELINE_KINDS, more, NULL);
		fprintf(out,
			"<td class=\"who\">%u more sources <small>all of them: -f "
			"json</small></td><td></td></tr>\n",
			n - shown);
	}
}

int html_sources(const struct html *h, uint32_t index)
{
	const struct cpu *c = &h->view->cpu[index];
	uint32_t *order = calloc(c->sources.count + 1, sizeof(*order)), n, shown;
	struct rows r = {.h = h, .sources = &c->sources, .order = order, .whole = c->hiccups.sum};
	char merged[RUNS_MAX];

	if (!order)
		return -ENOMEM;
	n = shown_rank(&h->view->shown, &c->sources, order);
	if (n) {
		shown = ROWS_ALL / h->ncpus < ROWS_MIN ? ROWS_MIN : ROWS_ALL / h->ncpus;
		shown = shown < ROWS_MAX ? shown : ROWS_MAX;
		shown = shown_rows(&h->view->shown, n, n > shown + 1 ? shown : n);
		r.longest = c->sources.row[order[0]]->net.sum;
		fputs("<div class=\"table\"><table class=\"sources\"><caption>", h->out);
		html_lane(h->out, h->view, index);
		fputs("</caption>\n<thead><tr><th>share of lost "
		      "time</th><th>time</th><th>count</th><th>max</th><th>who</th>"
		      "<th>what to do</th></tr></thead>\n<tbody>\n",
		      h->out);
		for (uint32_t i = 0; i < shown; i++)
			write_source(&r, i);
		write_rest(&r, shown, n, c->edge_ns);
		fputs("</tbody></table></div>\n", h->out);
		if (render_merged(&c->sources, merged, sizeof(merged)))
			fprintf(h->out, "<p class=\"say\">%s</p>\n", merged);
	}
	free(order);
	return 0;
}
