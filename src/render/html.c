/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report to look at: one file that needs no network, no script and no other file. Each view is
 * a <section>; several have an index before them. Pictures are inline SVG without text, stretched
 * to the available width; their labels are HTML beside them, so that they stay readable on any
 * screen and on paper. Titles shown on hovering repeat what the tables say.
 *
 *   web-07
 *   linux 6.12.1 · Intel Xeon Gold 6338 · 60.0 s from 2026-01-02 03:04:05 UTC
 *   [CPU 3  0.0061 % lost, 412 hiccups, worst 38.2 µs]  ...
 *   When time was lost      stacked by kind, a lane for each CPU
 *   How long hiccups were   histograms on log axes
 *   Who took the time       a table for each CPU, with bars, who asked and what to do
 *   Worst hiccups           nested strips
 *   How it was measured     counters, losses, closure, what was not observed, environment
 */
#include "base/units.h"
#include "render/html.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/hosts.h"
#include "render/render.h"

#define VERDICTS_SHOWN 4

/* ---- a view ---- */

/* Writes the sentences that a reader should not miss: those of all CPUs, or of the first of
 * many. */
static void write_verdicts(const struct html *h)
{
	uint32_t n = groups_shown(h->view) ? h->view->groups.n : 1;

	for (uint32_t k = 0, shown = 0; k < n && shown < VERDICTS_SHOWN; k++) {
		const char *verdict =
			groups_shown(h->view) ? group_head(h->view, k) : view_verdict(h->view);

		if (!verdict || !verdict[0])
			continue;
		shown++;
		fputs("<p class=\"verdict\">", h->out);
		html_verdict(h->out, verdict);
		fputs("</p>\n", h->out);
	}
}

static void write_meta(const struct html *h)
{
	const struct run *r = &h->view->run;
	char word[REPORT_MACHINE][REPORT_WORD];
	struct report_cautions cautions;
	uint32_t n = report_machine(h->view, word);
	FILE *out = h->out;

	fputs("<p class=\"meta\">", out);
	if (r->label[0]) {
		html_name_n(out, r->label, sizeof(r->label));
		fputs(" <b>·</b> ", out);
	}
	for (uint32_t i = 0; i < n; i++) {
		html_text(out, word[i]);
		fputs(" <b>·</b> ", out);
	}
	html_ns(out, r->duration_ns);
	if (strlen(r->started) > 19 && r->started[10] == 'T') {
		fputs(r->part ? " of a run from " : " from ", out);
		html_name_n(out, r->started, 10);
		fputc(' ', out);
		html_name_n(out, r->started + 11, 8);
		fputs(" UTC", out);
	}
	fputs("</p>\n", out);
	write_verdicts(h);
	n = report_cautions(h->view, &cautions);
	for (uint32_t i = 0; i < n; i++) {
		fprintf(out, "<p%s><b>%c%s:</b> ", cautions.fact[i].ours ? "" : " class=\"warn\"",
			toupper(cautions.fact[i].name[0]), cautions.fact[i].name + 1);
		if (cautions.fact[i].ours)
			fputs(cautions.fact[i].text, out);
		else
			html_name(out, cautions.fact[i].text);
		fputs(cautions.fact[i].ours ? ".</p>\n" : "</p>\n", out);
	}
	if (!r->traced)
		fputs("<p class=\"warn\"><b>Not traced</b> (--no-trace): hiccups are measured, "
		      "nothing is attributed.</p>\n",
		      out);
	if (view_names_hidden(h->view))
		fprintf(out, "<p class=\"warn\"><b>Functions have no names:</b> %s.</p>\n",
			view_names_hidden(h->view));
}

void html_shares(const struct html *h, const uint64_t by_kind[TIMELINE_KINDS], uint64_t whole)
{
	fputs("<div class=\"shares\">", h->out);
	for (unsigned i = 0; i < TIMELINE_KINDS; i++) {
		unsigned k = kind_legend[i];

		if (!by_kind[k])
			continue;
		fprintf(h->out, "<i class=\"k-%s\" style=\"flex-grow:%.4f\" title=\"",
			html_class(k), 100.0 * (double)by_kind[k] / (double)whole);
		html_kind(h, k);
		fputc(' ', h->out);
		html_share(h->out, by_kind[k], whole);
		fputs("\"></i>", h->out);
	}
	fputs("</div>", h->out);
}

static void write_shares(const struct html *h, const struct cpu *c)
{
	uint64_t by_kind[TIMELINE_KINDS] = {[TIMELINE_EDGE] = c->edge_ns};

	for (uint32_t i = 0; i < c->sources.count; i++)
		by_kind[c->sources.row[i]->kind] += c->sources.row[i]->net.sum;
	html_shares(h, by_kind, c->hiccups.sum);
}

static void number(FILE *out, const char *name, uint64_t ns)
{
	fprintf(out, "<div><dt>%s</dt><dd>", name);
	html_ns(out, ns);
	fputs("</dd></div>", out);
}

static void write_hiccups(const struct html *h, const struct cpu *c)
{
	double rate = report_rate(h->view, c - h->view->cpu);
	struct report_length length[REPORT_LENGTHS];
	uint32_t n = report_lengths(&c->hiccups, length);
	FILE *out = h->out;
	char a[32];

	fputs("<p class=\"big\">", out);
	html_lost(out, h->view, c - h->view->cpu);
	fputs(view_lost(h->view, c - h->view->cpu) < 0
		      ? " <small>lost</small></p>"
		      : " <small>of its time lost to hiccups</small></p>",
	      out);
	if (c->hiccups.count)
		write_shares(h, c);
	fputs("<dl><div><dt>hiccups</dt><dd>", out);
	html_count(out, c->hiccups.count);
	fputs("</dd></div>", out);
	if (c->hiccups.count > 1 && rate >= 0) {
		fputs("<div><dt>a second</dt><dd>", out);
		fputs(format_rate(rate, a, sizeof(a)), out);
		fputs("</dd></div>", out);
	}
	for (uint32_t i = 0; i < n; i++)
		number(out, length[i].name, length[i].ns);
	if (c->shorts.known) {
		fputs("<div><dt>in shorter gaps, besides</dt><dd>", out);
		html_share(out, c->shorts.total_ns, c->observed_ns);
		fputs("</dd></div>", out);
	}
	fputs("</dl>", out);
}

/* Tells, for a workload, how many of its windows were so long that they are explained. */
static void write_windows(const struct html *h, const struct cpu *c)
{
	FILE *out = h->out;

	fputs("<p class=\"big\">", out);
	html_count(out, c->hiccups.count);
	fputs(" <small>", out);
	html_name(out, h->view->run.sampler);
	fputs(" windows longer than ", out);
	if (series_thresholds(c->series, c->nseries) > 1)
		fputs("their threshold", out);
	else
		html_ns(out, c->threshold_ns);
	fputs("</small></p>", out);
	if (c->hiccups.count)
		write_shares(h, c);
}

void html_card(const struct html *h, uint32_t i)
{
	const struct cpu *c = &h->view->cpu[i];
	char said[OFFLINE_SAID];
	FILE *out = h->out;

	fputs("<li><h3>", out);
	html_lane(out, h->view, i);
	if (!h->view->run.watch)
		fprintf(out, " <small>%s%s</small>",
			cpus_has(&h->view->host.isolated, c->number) ? "isolated" : "not isolated",
			cpus_has(&h->view->host.nohz_full, c->number) ? ", nohz_full" : "");
	fputs("</h3>", out);
	if (html_windows(h->view))
		write_windows(h, c);
	else
		write_hiccups(h, c);
	if (c->verdict[0] && h->view->ncpus > 1) {
		fputs("<p class=\"say\">", out);
		html_verdict(out, c->verdict);
		fputs("</p>", out);
	}
	if (c->ended) {
		fputs("<p class=\"warn\">Ended early, after ", out);
		html_ns(out, cpu_window_ns(c));
		fputs(": ", out);
		html_name(out, c->ended);
		fputs("</p>", out);
	}
	if (c->offline.times)
		fprintf(out, "<p class=\"warn\">It %s.</p>", offline_say(&c->offline, said));
	fputs("</li>\n", out);
}

static int write_sources(const struct html *h)
{
	const struct view *v = h->view;
	int err = 0;

	for (uint32_t i = 0; !groups_shown(v) && i < v->ncpus && !err; i++)
		err = html_sources(h, i);
	for (uint32_t k = 0; groups_shown(v) && k < v->groups.n && k < GROUP_DETAILS && !err; k++)
		err = v->groups.row[k].n > 1 ? html_group_sources(h, &v->groups.row[k])
					     : html_sources(h, v->groups.row[k].first);
	return err;
}

static int write_view(const struct html *h, const char *label)
{
	const struct view *s = h->view;
	uint64_t hiccups = 0;
	int err = 0;

	fprintf(h->out, "<section class=\"view\" id=\"r%u\">\n<h1>", h->number);
	html_text(h->out, label[0] ? label : "culprit");
	fputs("</h1>\n", h->out);
	write_meta(h);
	fputs("<ul class=\"cards\">\n", h->out);
	for (uint32_t i = 0; i < s->ncpus; i++) {
		if (!groups_shown(s))
			html_card(h, i);
		hiccups += s->cpu[i].hiccups.count;
	}
	if (groups_shown(s))
		html_groups(h);
	fputs("</ul>\n", h->out);
	if (groups_shown(s))
		html_all_cpus(h);
	html_series(h);
	if (hiccups) {
		if (groups_shown(s))
			html_heat(h);
		html_timeline(h);
		html_histograms(h);
		fputs("<h2>Who took the time</h2>\n", h->out);
		err = write_sources(h);
		html_worst(h);
	}
	if (!err)
		err = html_audit(h);
	html_book(h);
	html_method(h);
	fputs("</section>\n", h->out);
	return err;
}

/* ---- the page ---- */

static const char terms[] = "<footer><h2>How to read this</h2><dl>\n"
			    "<div><dt>hiccup</dt><dd>A time that the CPU was away from the sampler "
			    "that spins on it, longer than the threshold. Every nanosecond of it "
			    "goes to exactly one source, to edge, or to outside.</dd></div>\n"
			    "<div><dt>edge</dt><dd>The kernel’s own way in and out around what it "
			    "ran, up to a bound that was calibrated before the run.</dd></div>\n"
			    "<div><dt>outside the kernel</dt><dd>Nothing that the kernel showed "
			    "explains it: firmware, hypervisor or hardware.</dd></div>\n"
			    "<div><dt>time, max</dt><dd>Net: what interrupted the source in turn "
			    "is not counted.</dd></div>\n"
			    "<div><dt>[K01]</dt><dd>An entry of the cause book: <code>culprit "
			    "explain K01</code>.</dd></div>\n"
			    "</dl><p>culprit " CULPRIT_VERSION "</p></footer>\n";

void html_begin(FILE *out, const char *title)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'; "
	      "img-src data:\"/>\n<link rel=\"icon\" href=\"data:,\"/>\n<title>",
	      out);
	html_text(out, title);
	fputs(" · culprit</title>\n<style>\n", out);
	fputs(html_css, out);
	fputs("</style>\n</head>\n<body>\n<main>\n", out);
}

int render_html(const struct view *const *views, uint32_t n, const struct render_options *options,
		FILE *out)
{
	char label[HOST_LABEL];
	uint32_t ncpus = 0;
	int err = 0;

	(void)options;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < views[i]->ncpus; k++)
			ncpus += group_detailed(views[i], k);
	if (n > 1)
		snprintf(label, sizeof(label), "%u reports", n);
	html_begin(out, n > 1 ? label : host_label(views, n, 0, label, sizeof(label)));
	if (n > 1)
		err = html_index(views, n, out);
	for (uint32_t i = 0; i < n && !err; i++) {
		const struct html h = {out, views[i], ncpus, i + 1};

		err = write_view(&h, host_label(views, n, i, label, sizeof(label)));
	}
	fputs("</main>\n", out);
	fputs(terms, out);
	fputs("</body>\n</html>\n", out);
	return err ? err : ferror(out) ? -EIO : 0;
}
