/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In the text report, what was measured as a picture: of a workload its series, else the hiccups of
 * each CPU, or of one of those that are alike. */
#include <stdlib.h>
#include <string.h>

#include "render/plot.h"
#include "render/text.h"

#define CHARTED_MOST 16 /* distributions; the first ones */

struct charted {
	struct plot plot;
	struct plot_file file[CHARTED_MOST];
	char name[CHARTED_MOST][LANE_NAME + SERIES_NAME + 40];
	uint32_t left_out; /* number of distributions that have no room */
};

static struct plot_file *add(struct charted *c)
{
	uint32_t n = c->plot.nfiles;

	if (n == CHARTED_MOST) {
		c->left_out++;
		return NULL;
	}
	c->file[n].name = c->name[n];
	return &c->file[c->plot.nfiles++];
}

/* A group of CPUs that are alike has one picture: that of a CPU. */
static void say_alike(char *name, size_t len, const struct page *p, uint32_t index)
{
	uint32_t n =
		p->fold && p->view->groups.n ? p->view->groups.row[p->view->groups.of[index]].n : 1;
	size_t have = strlen(name);

	if (n > 1)
		snprintf(name + have, len - have, ", one of %u alike", n);
}

static void add_series(struct charted *c, const struct page *p, uint32_t index)
{
	const struct view *v = p->view;
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
		say_alike(c->name[f - c->file], sizeof(c->name[0]), p, index);
	}
}

static void add_hiccups(struct charted *c, const struct page *p, uint32_t index)
{
	const struct view *v = p->view;
	struct plot_file *f = v->cpu[index].hiccups.count ? add(c) : NULL;
	char lane[LANE_NAME];

	if (!f)
		return;
	f->hist = v->cpu[index].hiccups;
	snprintf(c->name[f - c->file], sizeof(c->name[0]), "%s", view_lane(v, index, lane));
	say_alike(c->name[f - c->file], sizeof(c->name[0]), p, index);
}

/* Distributions of a group that has no room for its details, by those of its first CPU. */
static uint32_t undrawn(const struct page *p, uint32_t index, bool series)
{
	const struct view *v = p->view;
	const struct cpu *cpu = &v->cpu[index];
	uint32_t n = 0;

	if (!groups_shown(v) || v->groups.row[v->groups.of[index]].lane[0] != index ||
	    group_detailed(v, v->groups.row[v->groups.of[index]].first))
		return 0;
	for (uint32_t k = 0; series && k < cpu->nseries; k++)
		n += cpu->series[k].hist.count != 0;
	return series ? n : cpu->hiccups.count != 0;
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
				add_series(c, p, i);
			else
				add_hiccups(c, p, i);
		} else {
			c->left_out += undrawn(p, i, series);
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
		if (c->left_out)
			fprintf(p->out, "  (and %u more, not drawn here)\n", c->left_out);
	}
	free(c);
}
