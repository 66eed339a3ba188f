/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The worst hiccups as nested strips: what ran at the bottom, what interrupted it on top of that,
 * and between them the kernel's entry and exit (edge) and unexplained time (outside). Below each
 * strip its pieces, with who asked for them. */
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "model/report.h"
#include "render/html.h"
#include "render/render.h"

#define SHOWN        10
#define DRAWN_MAX    300  /* spans of a strip, the longest */
#define GAP_LEAST    0.08 /* percent of the strip; shorter gaps are not drawn */
#define SEEN_LEAST   0.15 /* percent: least width of a drawn span */
#define LABEL_WIDE   3.5  /* percent: least width of a span with a label */
#define LABEL_NARROW 12.0 /* the same on a narrow page */
#define ROWS_MAX     6    /* classes d0 to d5 */

struct strip {
	const struct html *h;
	const struct worst *w;
	const struct cpu *cpu;
	uint32_t drawn;
};

static double percent_of(const struct strip *s, uint64_t ns)
{
	return 100.0 * (double)ns / (double)s->w->duration_ns;
}

/* Writes a part of the bottom row without a source. */
static void write_gap(const struct strip *s, unsigned kind, uint64_t from_ns, uint64_t to_ns)
{
	if (to_ns <= from_ns || percent_of(s, to_ns - from_ns) < GAP_LEAST)
		return;
	fprintf(s->h->out, "<i class=\"k-%s d0\" style=\"left:%.2f%%;width:%.2f%%\" title=\"",
		html_class(kind), percent_of(s, from_ns - s->w->start_ns),
		percent_of(s, to_ns - from_ns));
	html_kind(s->h, kind);
	fputc(' ', s->h->out);
	html_ns(s->h->out, to_ns - from_ns);
	fputs("\"></i>", s->h->out);
}

static uint64_t bound_of(const struct strip *s, const struct span *span)
{
	const struct edge_bounds *b = &s->h->view->cpu[s->w->cpu].bounds;

	if (!span)
		return 0;
	return s->cpu->sources.row[span->source]->kind == SOURCE_THREAD ? b->thread_ns : b->irq_ns;
}

/* Splits as the join does: beside an interval it is edge up to the bound, the rest is outside.
 * Which part comes first is not known. */
static void write_between(const struct strip *s, const struct span *before,
			  const struct span *after)
{
	uint64_t from = before ? before->end_ns : s->w->start_ns;
	uint64_t to = after ? after->start_ns : s->w->start_ns + s->w->duration_ns;
	uint64_t bound = bound_of(s, before) + bound_of(s, after), edge;

	if (s->w->spans_left || s->w->lost_ns || to <= from) /* something may have been there */
		return;
	edge = to - from < bound ? to - from : bound;
	if (before && after) {
		write_gap(s, TIMELINE_EDGE, from, from + edge / 2);
		write_gap(s, SOURCE_OUTSIDE, from + edge / 2, to - (edge - edge / 2));
		write_gap(s, TIMELINE_EDGE, to - (edge - edge / 2), to);
	} else if (before) {
		write_gap(s, TIMELINE_EDGE, from, from + edge);
		write_gap(s, SOURCE_OUTSIDE, from + edge, to);
	} else {
		write_gap(s, SOURCE_OUTSIDE, from, to - edge);
		write_gap(s, TIMELINE_EDGE, to - edge, to);
	}
}

static void write_span(struct strip *s, const struct span *span)
{
	const struct source *who = s->cpu->sources.row[span->source];
	double width = percent_of(s, span->end_ns - span->start_ns);
	unsigned depth = span->depth < ROWS_MAX ? span->depth : ROWS_MAX - 1;
	FILE *out = s->h->out;

	s->drawn++;
	fprintf(out, "<i class=\"k-%s d%u%s\" style=\"left:%.2f%%;width:%.2f%%\" title=\"",
		html_class(who->kind), depth,
		width >= LABEL_WIDE && width < LABEL_NARROW ? " wide" : "",
		percent_of(s, span->start_ns - s->w->start_ns),
		width < SEEN_LEAST ? SEEN_LEAST : width);
	html_who(out, who);
	fputs(span->unseen ? " or others: " : ": ", out);
	html_ns(out, span->end_ns - span->start_ns);
	fputs(" from +", out);
	html_ns(out, span->start_ns - s->w->start_ns);
	if (span->asker.kind) {
		fputs(", ", out);
		html_asker(out, &span->asker);
	}
	fputs("\">", out);
	if (width >= LABEL_WIDE)
		html_who(out, who);
	fputs("</i>", out);
}

static int by_length(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? 1 : *x > *y ? -1 : 0;
}

/* The shortest span drawn, so that there are at most DRAWN_MAX. */
static uint64_t shortest_drawn(const struct worst *w)
{
	uint64_t length[SPANS_MAX];

	if (w->nspans <= DRAWN_MAX || w->nspans > SPANS_MAX)
		return 0;
	for (uint32_t i = 0; i < w->nspans; i++)
		length[i] = w->spans[i].end_ns - w->spans[i].start_ns;
	qsort(length, w->nspans, sizeof(length[0]), by_length);
	return length[DRAWN_MAX - 1];
}

static void write_axis(const struct strip *s)
{
	uint64_t step = html_step(s->w->duration_ns, 5);

	fputs("<div class=\"axis\">", s->h->out);
	for (uint64_t at = 0; at <= s->w->duration_ns; at += step)
		html_tick(s->h->out, percent_of(s, at), at, step);
	fputs("</div>", s->h->out);
}

static bool is_host(const struct strip *s, const struct span *span)
{
	return s->cpu->sources.row[span->source]->kind == SOURCE_HOST;
}

/* Draws the guest's own spans, or what its host ran in its place meanwhile. */
static void write_strip(struct strip *s, bool host)
{
	const struct worst *w = s->w;
	uint64_t shortest = shortest_drawn(w);
	const struct span *last = NULL;
	unsigned rows = 1;

	for (uint32_t i = 0; i < w->nspans; i++)
		if (is_host(s, &w->spans[i]) == host &&
		    w->spans[i].end_ns - w->spans[i].start_ns >= shortest &&
		    w->spans[i].depth >= rows)
			rows = w->spans[i].depth + 1U;
	fprintf(s->h->out, "<div class=\"strip rows%u%s\">", rows < ROWS_MAX ? rows : ROWS_MAX,
		shortest || w->spans_left ? " more" : "");
	for (uint32_t i = 0; i < w->nspans; i++) {
		const struct span *span = &w->spans[i];

		if (is_host(s, span) != host)
			continue;
		if (!span->depth && !host) {
			write_between(s, last, span);
			last = span;
		}
		if (span->end_ns - span->start_ns >= shortest && s->drawn < DRAWN_MAX)
			write_span(s, span);
	}
	if (last)
		write_between(s, last, NULL);
	else if (!host && !w->lost_ns)
		write_gap(s, SOURCE_OUTSIDE, w->start_ns, w->start_ns + w->duration_ns);
	fputs("</div>", s->h->out);
}

/* The guest above, its host below it. */
static void write_strips(struct strip *s)
{
	bool host = false;

	write_strip(s, false);
	for (uint32_t i = 0; i < s->w->nspans; i++)
		host |= is_host(s, &s->w->spans[i]);
	if (host) {
		fputs("<p class=\"say\">its host meanwhile</p>", s->h->out);
		write_strip(s, true);
	}
	write_axis(s);
}

static void write_part(const struct strip *s, const struct report_part *p)
{
	char text[REPORT_PART], asker[REPORT_ASKER];
	FILE *out = s->h->out;

	fputs("<li>", out);
	if (!p->more)
		html_swatch(out, p->kind);
	report_part_name(s->h->view, p, text);
	html_text(out, report_unmark(text));
	fputs(" <b>", out);
	html_ns(out, p->ns);
	fputs("</b>", out);
	if (p->asker) {
		report_asker(p->asker, asker);
		fputs(" <small>", out);
		html_text(out, report_unmark(asker));
		fputs("</small>", out);
	}
	fputs("</li>", out);
}

static void write_parts(const struct strip *s)
{
	const struct worst *w = s->w;
	struct report_part part[REPORT_PARTS];
	uint32_t n = report_parts(s->h->view, w, part);

	fputs("<ul class=\"pieces\">", s->h->out);
	for (uint32_t i = 0; i < n; i++)
		write_part(s, &part[i]);
	if (s->drawn < w->nspans + w->spans_left) {
		fputs("<li><small>", s->h->out);
		html_count(s->h->out, w->nspans + w->spans_left - s->drawn);
		fputs(" shorter ones are not drawn: hatched</small></li>", s->h->out);
	}
	fputs("</ul>", s->h->out);
}

void html_worst(const struct html *h)
{
	const struct view *summary = h->view;

	fputs(html_windows(h->view) ? "<h2>Longest windows</h2>" : "<h2>Worst hiccups</h2>",
	      h->out);
	fputs("\n<p class=\"say\">Each from its begin to its end; what interrupted something "
	      "stands on top of it.</p>\n<ol class=\"worst\">\n",
	      h->out);
	for (uint32_t i = 0; i < summary->nworst && i < SHOWN; i++) {
		const struct worst *w = &summary->worst[i];
		struct strip s = {.h = h, .w = w, .cpu = &summary->cpu[w->cpu]};

		if (!w->duration_ns)
			continue;
		fputs("<li><h3>", h->out);
		html_ns(h->out, w->duration_ns);
		fputs(" <small>", h->out);
		html_lane(h->out, h->view, w->cpu);
		fprintf(h->out, ", at +%.6f s</small></h3>",
			(double)(w->start_ns - h->view->run.started_ns) / 1e9);
		if (w->nspans || !w->npieces)
			write_strips(&s);
		write_parts(&s);
		fputs("</li>\n", h->out);
	}
	fputs("</ol>\n", h->out);
}
