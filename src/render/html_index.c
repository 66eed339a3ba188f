/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several reports in one file: their CPUs side by side, each linked to its report, and the sources
 * that cost most. */
#include <errno.h>
#include <stdlib.h>

#include "base/units.h"
#include "model/groups.h"
#include "model/hosts.h"
#include "model/report.h"
#include "render/html.h"
#include "render/render.h"

#define RANK_ROWS 24
#define HOST_ROWS 8 /* rows of CPUs for a host; alike ones have one */

static void link_to(FILE *out, const struct view *const *views, uint32_t n, uint32_t i)
{
	char label[HOST_LABEL];

	fprintf(out, "<a href=\"#r%u\">", i + 1);
	host_label(views, n, i, label, sizeof(label));
	html_text(out, label[0] ? label : "no name");
	fputs("</a>", out);
}

static int first_source(FILE *out, const struct sources *t)
{
	uint32_t *order = calloc(t->count + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	if (sources_rank(t, order)) {
		html_swatch(out, t->row[order[0]]->kind);
		html_who(out, t->row[order[0]]);
	}
	free(order);
	return 0;
}

static int write_cpu(const struct view *const *views, uint32_t n, uint32_t i, uint32_t cpu,
		     FILE *out)
{
	const struct cpu *c = &views[i]->cpu[cpu];
	int err;

	fputs("<tr><td>", out);
	link_to(out, views, n, i);
	fputs("</td><td>", out);
	html_lane(out, views[i], cpu);
	fputs("</td><td data-of=\"lost\">", out);
	html_lost(out, views[i], cpu);
	fputs("</td><td data-of=\"hiccups\">", out);
	html_count(out, c->hiccups.count);
	fputs("</td><td data-of=\"worst\">", out);
	html_ns(out, c->hiccups.max);
	fputs("</td><td class=\"who\">", out);
	err = first_source(out, &c->sources);
	fputs("</td></tr>\n", out);
	return err;
}

/* CPUs that are alike: the most that one of them has. Or one CPU. */
static int write_group(const struct view *const *views, uint32_t n, uint32_t i,
		       const struct cpu_group *g, FILE *out)
{
	const struct source *cause = report_first_cause(views[i], g);
	char share[32], list[REPORT_CPUS];

	if (g->n == 1)
		return write_cpu(views, n, i, g->first, out);
	fputs("<tr><td>", out);
	link_to(out, views, n, i);
	fputs("</td><td>", out);
	html_text(out, report_cpus(views[i], g, list));
	fprintf(out, ", %u alike</td><td data-of=\"lost\">", g->n);
	if (views[i]->run.watch)
		html_ns(out, g->lost_each_ns.most);
	else
		fprintf(out, "%s %%", report_lost_share(g->lost.most, share, sizeof(share)));
	fputs("</td><td data-of=\"hiccups\">", out);
	html_count(out, g->hiccups.most);
	fputs("</td><td data-of=\"worst\">", out);
	html_ns(out, g->longest_ns.most);
	fputs("</td><td class=\"who\">", out);
	if (cause) {
		html_swatch(out, cause->kind);
		html_who(out, cause);
	}
	fputs("</td></tr>\n", out);
	return 0;
}

/* A host's CPUs; *more: the number of those that found no room. */
static int write_host(const struct view *const *views, uint32_t n, uint32_t i, uint32_t *more,
		      FILE *out)
{
	const struct cpu_groups *g = &views[i]->groups;
	int err = 0;

	if (!groups_shown(views[i])) {
		for (uint32_t k = 0; k < views[i]->ncpus && !err; k++)
			err = write_cpu(views, n, i, k, out);
		return err;
	}
	for (uint32_t k = 0; k < g->n && !err; k++)
		if (k < HOST_ROWS)
			err = write_group(views, n, i, &g->row[k], out);
		else
			*more += g->row[k].n;
	return err;
}

static void write_ranked(const struct view *const *views, uint32_t n, const struct host_source *s,
			 FILE *out)
{
	char cpus[128];

	fputs("<tr><td data-of=\"of all time\">", out);
	html_share(out, s->total_ns, s->observed_ns);
	fputs("</td><td data-of=\"time\">", out);
	html_ns(out, s->total_ns);
	fputs("</td><td data-of=\"count\">", out);
	html_count(out, s->count);
	fputs("</td><td data-of=\"max\">", out);
	html_ns(out, s->max_ns);
	fputs("</td><td>", out);
	link_to(out, views, n, s->view);
	fprintf(out, "</td><td>CPU %s</td><td class=\"who\">",
		cpus_format(&s->cpus, cpus, sizeof(cpus)));
	html_swatch(out, s->who->kind);
	html_who(out, s->who);
	fprintf(out, " <em>%s</em></td></tr>\n", source_kind_name(s->who->kind));
}

int html_index(const struct view *const *views, uint32_t n, FILE *out)
{
	struct host_source *row = calloc(RANK_ROWS, sizeof(*row));
	uint32_t more = 0;
	int count, err = 0;

	if (!row)
		return -ENOMEM;
	fprintf(out,
		"<section class=\"index\">\n<h1>%u reports</h1>\n<div class=\"table\"><table "
		"class=\"plain "
		"hosts\"><thead><tr><th>host</th><th></th><th>lost</th><th>hiccups</th><th>worst</"
		"th><th>first "
		"source</th></tr></thead><tbody>\n",
		n);
	for (uint32_t i = 0; i < n && !err; i++)
		err = write_host(views, n, i, &more, out);
	count = hosts_rank(views, n, row, RANK_ROWS);
	fputs("</tbody></table></div>\n", out);
	if (more)
		fprintf(out, "<p class=\"say\">and %u CPUs more: see each report</p>\n", more);
	fputs("<h2>What cost most</h2>\n<div class=\"table\"><table class=\"plain "
	      "rank\"><thead><tr><th>of all "
	      "time</th><th>time</th><th>count</th><th>max</th><th>host</th><th></th><th>who</th></"
	      "tr></thead><tbody>\n",
	      out);
	for (int i = 0; i < count && i < RANK_ROWS; i++)
		write_ranked(views, n, &row[i], out);
	fputs("</tbody></table></div>\n", out);
	if (count > RANK_ROWS)
		fprintf(out, "<p class=\"say\">and %d more: see each report</p>\n",
			count - RANK_ROWS);
	fputs("</section>\n", out);
	free(row);
	return err ? err : count < 0 ? count : 0;
}
