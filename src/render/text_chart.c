/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In the text report, what was measured as a picture: of a workload its series, else the hiccups of
 * each CPU, or of one of those that are alike. */
#include <stdlib.h>

#include "render/plot.h"
#include "render/text.h"

#define CHARTED_MOST 16 /* distributions; the first ones */

struct charted {
	struct plot plot;
	struct plot_file file[CHARTED_MOST];
	char name[CHARTED_MOST][LANE_NAME + SERIES_NAME + 8];
};

static struct plot_file *add(struct charted *c)
{
	uint32_t n = c->plot.nfiles;

	if (n == CHARTED_MOST)
		return NULL;
	c->file[n].name = c->name[n];
	return &c->file[c->plot.nfiles++];
}

static void add_series(struct charted *c, const struct view *v, uint32_t index)
{
	const struct cpu *cpu = &v->cpu[index];
	char lane[LANE_NAME];

	for (uint32_t k = 0; k < cpu->nseries; k++) {
		const struct series *s = &cpu->series[k];
		struct plot_file *f = s->hist.count ? add(c) : NULL;

		if (!f)
			continue;
		f->hist = s->hist;
		f->fine = s->fine;
		snprintf(c->name[f - c->file], sizeof(c->name[0]), "%.*s%s%s", SERIES_NAME, s->name,
			 v->ncpus > 1 ? ", " : "", v->ncpus > 1 ? view_lane(v, index, lane) : "");
	}
}

static void add_hiccups(struct charted *c, const struct view *v, uint32_t index)
{
	struct plot_file *f = v->cpu[index].hiccups.count ? add(c) : NULL;
	char lane[LANE_NAME];

	if (!f)
		return;
	f->hist = v->cpu[index].hiccups;
	snprintf(c->name[f - c->file], sizeof(c->name[0]), "%s", view_lane(v, index, lane));
}

void text_chart(const struct page *p)
{
	struct charted *c = p->chart ? calloc(1, sizeof(*c)) : NULL;
	const struct view *v = p->view;
	bool series = v->ncpus && v->cpu[0].nseries;

	if (!c)
		return;
	c->plot.file = c->file;
	for (uint32_t i = 0; i < v->ncpus; i++)
		if (p->fold ? group_detailed(v, i) : true) {
			if (series)
				add_series(c, v, i);
			else
				add_hiccups(c, v, i);
		}
	if (c->plot.nfiles) {
		fprintf(p->out, "\n%s%s by percentile, and how many were how long%s\n",
			text_style(p, BOLD),
			series        ? "values"
			: v->run.sums ? "runs"
				      : "hiccups",
			text_plain(p));
		plot_braille(&c->plot, p->width, p->out);
		plot_bars(&c->plot, p->width, p->out);
	}
	free(c);
}
