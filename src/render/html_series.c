/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values of a workload over all its windows: a table for each CPU. */
#include "render/html.h"

/* Uses picoseconds for operations of few ns. */
static void write_value(FILE *out, const struct series *s, const char *name, uint64_t value)
{
	fprintf(out, "<td data-of=\"%s\">", name);
	if (s->fine)
		html_ps(out, value);
	else
		html_ns(out, value);
	fputs("</td>", out);
}

static void write_row(FILE *out, const struct series *s, bool several)
{
	uint64_t longest = several ? s->longest_ns * (s->fine ? 1000 : 1) : 0;

	fputs("<tr><td class=\"name\">", out);
	html_name_n(out, s->name, sizeof(s->name));
	fputs("</td><td data-of=\"count\">", out);
	html_count(out, s->hist.count);
	fputs("</td>", out);
	write_value(out, s, "min", s->hist.min);
	write_value(out, s, "median", hist_percentile(&s->hist, 50));
	write_value(out, s, "p99", hist_percentile(&s->hist, 99));
	write_value(out, s, "p99.9", hist_percentile(&s->hist, 99.9));
	write_value(out, s, "max", longest > s->hist.max ? longest : s->hist.max);
	if (several) {
		fputs("<td data-of=\"longer\">", out);
		if (s->threshold_ns)
			html_count(out, s->longer);
		fputs("</td><td data-of=\"than\">", out);
		if (s->threshold_ns)
			html_ns(out, s->threshold_ns);
		fputs("</td>", out);
	}
	fputs("</tr>\n", out);
}

/* The ranges of CPUs that are alike. */
static void write_group(const struct html *h, const struct cpu_group *g)
{
	char cpus[REPORT_CPUS];
	FILE *out = h->out;

	fputs("<div class=\"table\"><table class=\"plain series\"><caption>", out);
	html_text(out, report_cpus(h->view, g, cpus));
	fprintf(out,
		", %u alike</caption>\n<thead><tr><th>of each</th><th>count</th><th>median, "
		"least</th><th>most</th><th>p99, most</th><th>max</th></tr></thead><tbody>\n",
		g->n);
	for (uint32_t i = 0; i < g->nseries; i++) {
		const struct group_series *s = &g->series[i];

		fputs("<tr><td class=\"name\">", out);
		html_name_n(out, s->one->name, sizeof(s->one->name));
		fputs("</td><td data-of=\"count\">", out);
		html_count(out, s->count);
		fputs("</td>", out);
		write_value(out, s->one, "median, least", s->median.least);
		write_value(out, s->one, "most", s->median.most);
		write_value(out, s->one, "p99, most", s->p99.most);
		write_value(out, s->one, "max", s->max.most);
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table></div>\n", out);
}

void html_series(const struct html *h)
{
	bool some = false;

	for (uint32_t i = 0; i < h->view->ncpus; i++) {
		const struct cpu *c = &h->view->cpu[i];
		bool several = series_thresholds(c->series, c->nseries) > 1;

		if (!series_first(c->series, c->nseries) || !group_detailed(h->view, i))
			continue;
		if (!some)
			fputs("<h2>What was measured</h2>\n", h->out);
		some = true;
		if (groups_shown(h->view) && h->view->groups.row[h->view->groups.of[i]].n > 1) {
			write_group(h, &h->view->groups.row[h->view->groups.of[i]]);
			continue;
		}
		fputs("<div class=\"table\"><table class=\"plain series\"><caption>", h->out);
		html_lane(h->out, h->view, i);
		fprintf(h->out,
			"</caption>\n<thead><tr><th>of "
			"each</th><th>count</th><th>min</th><th>median</th><th>p99</th><th>p99.9</"
			"th><th>max</th>%s</tr></thead><tbody>\n",
			several ? "<th>longer</th><th>than</th>" : "");
		for (uint32_t k = 0; k < c->nseries; k++)
			if (c->series[k].hist.count)
				write_row(h->out, &c->series[k], several);
		fputs("</tbody></table></div>\n", h->out);
	}
	if (some)
		html_series_histograms(h);
}
