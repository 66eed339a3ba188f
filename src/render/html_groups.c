/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of many CPUs: a card for each group, and all CPUs in one table. */
#include <stdlib.h>

#include "base/units.h"
#include "render/html.h"

#define CPUS_SHOWN 4096 /* bytes of a list of CPUs */

static void write_cpus(const struct html *h, const struct cpu_group *g)
{
	char name[REPORT_CPUS], *list;

	if (h->view->run.watch) {
		html_text(h->out, report_cpus(h->view, g, name));
		return;
	}
	list = malloc(CPUS_SHOWN);
	fprintf(h->out, "cpus %s", list ? cpus_format(&g->cpus, list, CPUS_SHOWN) : "");
	free(list);
}

static void number(FILE *out, const char *name, double ns)
{
	fprintf(out, "<div><dt>%s</dt><dd>", name);
	html_ns(out, ns);
	fputs("</dd></div>", out);
}

static void write_shares(const struct html *h, const struct cpu_group *g)
{
	uint64_t by_kind[TIMELINE_KINDS] = {[TIMELINE_EDGE] = g->edge_ns};

	for (uint32_t i = 0; i < g->nsources; i++)
		by_kind[g->source[i].who.kind] += g->source[i].total_ns;
	html_shares(h, by_kind, g->total_ns);
}

static void write_range(FILE *out, const struct spread *s)
{
	char a[32], b[32];

	report_lost_share(s->least, a, sizeof(a));
	report_lost_share(s->most, b, sizeof(b));
	fprintf(out, "%s to %s %%", a, b);
}

/* Writes what each of them lost. */
static void write_lost(const struct html *h, const struct cpu_group *g)
{
	FILE *out = h->out;
	char a[32];

	if (html_windows(h->view))
		return;
	fputs("<p class=\"big\">", out);
	if (h->view->run.watch) {
		html_ns(out, g->lost_each_ns.median);
		fputs(" <small>lost by each (the median; ", out);
		html_ns(out, g->lost_each_ns.least);
		fputs(" to ", out);
		html_ns(out, g->lost_each_ns.most);
	} else {
		fprintf(out, "%s %%", report_lost_share(g->lost.median, a, sizeof(a)));
		fputs(" <small>of the time of each (the median; ", out);
		write_range(out, &g->lost);
	}
	fputs(")</small></p>", out);
}

static void write_card(const struct html *h, const struct cpu_group *g, const char *verdict)
{
	unsigned cpu = h->view->cpu[g->first].number;
	FILE *out = h->out;

	fputs("<li><h3>", out);
	write_cpus(h, g);
	fprintf(out, " <small>%u alike", g->n);
	if (!h->view->run.watch)
		fprintf(out, ": %s%s",
			cpus_has(&h->view->host.isolated, cpu) ? "isolated" : "not isolated",
			cpus_has(&h->view->host.nohz_full, cpu) ? ", nohz_full" : "");
	fputs("</small></h3>", out);
	write_lost(h, g);
	if (g->total_ns)
		write_shares(h, g);
	fprintf(out, "<dl><div><dt>%s</dt><dd>", html_windows(h->view) ? "slow" : "hiccups");
	html_count(out, g->hiccups.median);
	fputs("</dd></div>", out);
	if (g->hiccups.most > 0) {
		number(out, "worst", g->longest_ns.most);
		number(out, "p99 up to", g->p99_ns.most);
		number(out, "median", g->median_ns.median);
	}
	fputs("</dl>", out);
	if (verdict[0]) {
		fputs("<p class=\"say\">", out);
		html_verdict(out, verdict);
		fputs("</p>", out);
	}
	fputs("</li>\n", out);
}

void html_groups(const struct html *h)
{
	const struct cpu_groups *all = &h->view->groups;

	for (uint32_t k = 0; k < all->n && k < GROUP_DETAILS; k++) {
		if (all->row[k].n > 1)
			write_card(h, &all->row[k], group_verdict(h->view, k));
		else
			html_card(h, all->row[k].first);
	}
}

/* ---- the table ---- */

static void write_row(const struct html *h, uint32_t k, uint32_t i)
{
	const struct cpu_group *g = &h->view->groups.row[k];
	const struct sources *t = &h->view->cpu[i].sources;
	const struct source *first = g->n == 1 && group_odd(t) ? group_odd(t) : group_most(t);
	const struct hist *hiccups = &h->view->cpu[i].hiccups;
	FILE *out = h->out;

	fputs("<tr><td>", out);
	if (h->view->run.watch)
		html_lane(out, h->view, i);
	else
		fprintf(out, "%u", h->view->cpu[i].number);
	fprintf(out, "</td><td data-of=\"%s\">", html_windows(h->view) ? "slow" : "lost");
	if (html_windows(h->view))
		html_count(out, hiccups->count);
	else
		html_lost(out, h->view, i);
	fputs("</td><td data-of=\"worst\">", out);
	html_ns(out, hiccups->max);
	fputs("</td><td data-of=\"p99\">", out);
	html_ns(out, hist_percentile(hiccups, 99));
	fputs("</td><td class=\"who\">", out);
	if (first)
		html_who(out, first);
	fputs("</td></tr>\n", out);
}

/* The groups in their order, of each its CPUs in theirs. */
void html_all_cpus(const struct html *h)
{
	const struct cpu_groups *all = &h->view->groups;
	char ranked[REPORT_CPUS];

	fprintf(h->out,
		"<details><summary>All %s; those that are alike stand together</summary>\n<div "
		"class=\"table\"><table class=\"plain cpus\"><thead><tr><th>%s</th><th>%s</th>"
		"<th>worst</th><th>p99</th><th>first cause</th></tr></thead>\n",
		report_ranked(h->view, ranked), h->view->run.watch ? "thread" : "cpu",
		html_windows(h->view) ? "slow" : "lost");
	for (uint32_t k = 0; k < all->n; k++) {
		fputs("<tbody>", h->out);
		for (uint32_t i = 0; i < all->row[k].n; i++)
			write_row(h, k, all->row[k].lane[i]);
		fputs("</tbody>\n", h->out);
	}
	fputs("</table></div></details>\n", h->out);
}
