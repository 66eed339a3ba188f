/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When each of many CPUs lost time: a map of CPU by time, one row a CPU in their order, darker
 * where more was lost. The longest hiccups of all are ringed, so that no colour hides them. */
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "render/html_timeline.h"

#define LEVELS_SHOWN  6     /* level 1 is the lightest */
#define CELLS         65536 /* cells of a map, about */
#define COLUMNS_LEAST 64    /* columns of a map, at least */
#define LABELS        16

/* Up to these shares of a slot. */
static const double level_share[LEVELS_SHOWN] = {1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1};
static const char *const level_text[LEVELS_SHOWN] = {"0.001 %", "0.01 %", "0.1 %",
						     "1 %",     "10 %",   "all"};

struct map {
	const struct html *h;
	struct timeline_lane *lane;
	uint64_t first, columns; /* slots of the map */
	unsigned log2;           /* length of a slot */
	FILE *out[LEVELS_SHOWN]; /* the cells of each level */
	char *text[LEVELS_SHOWN];
};

static unsigned level_of(const struct timeline_lane *l, uint64_t slot)
{
	struct column c;
	unsigned level = 0;

	if (!column_at(l, slot, &c))
		return 0;
	while (level < LEVELS_SHOWN - 1 && column_share(&c) > level_share[level])
		level++;
	return level + 1;
}

/* Writes the cells of a row, equal ones beside each other as one. */
static void write_row(struct map *m, uint32_t index)
{
	struct timeline_lane *l = m->lane;
	unsigned before = 0;
	uint64_t begin = m->first;

	if (!m->h->view->cpu[index].hiccups.count)
		return;
	l->timeline = m->h->view->cpu[index].timeline;
	while (l->timeline.slots.log2 < m->log2)
		timeline_coarsen(&l->timeline);
	for (uint64_t slot = m->first; slot <= m->first + m->columns; slot++) {
		unsigned level = slot < m->first + m->columns ? level_of(l, slot) : 0;

		if (level == before)
			continue;
		if (before)
			fprintf(m->out[before - 1], "M%u %uh%u", (unsigned)(begin - m->first),
				index, (unsigned)(slot - begin));
		before = level;
		begin = slot;
	}
}

/* A slot as long as the longest of any CPU, and longer until there are few enough. */
static void choose_slots(struct map *m)
{
	const struct view *v = m->h->view;
	uint64_t most = CELLS / v->ncpus;

	most = most > TIMELINE_SLOTS ? TIMELINE_SLOTS : most > COLUMNS_LEAST ? most : COLUMNS_LEAST;
	m->log2 = SLOTS_LOG2_LEAST;
	for (uint32_t i = 0; i < v->ncpus; i++)
		if (v->cpu[i].timeline.slots.log2 > m->log2)
			m->log2 = v->cpu[i].timeline.slots.log2;
	while ((m->lane->end_ns >> m->log2) - (m->lane->begin_ns >> m->log2) >= most)
		m->log2++;
	m->first = m->lane->begin_ns >> m->log2;
	m->columns = ((m->lane->end_ns - 1) >> m->log2) - m->first + 1;
}

static void write_labels(const struct html *h)
{
	uint32_t n = h->view->ncpus, step = 1;

	while (n / step > LABELS)
		step *= 2;
	fputs("<div class=\"rows\">", h->out);
	for (uint32_t i = 0; i < n; i += step)
		fprintf(h->out, "<span style=\"top:%.3f%%\">%u</span>", 100 * (i + 0.5) / n,
			h->view->run.watch ? h->view->cpu[i].tid : h->view->cpu[i].number);
	fputs("</div>", h->out);
}

static void write_rings(const struct map *m)
{
	const struct view *v = m->h->view;
	double range = m->lane->end_ns - m->lane->begin_ns;
	FILE *out = m->h->out;

	for (uint32_t i = 0; i < v->nworst; i++) {
		const struct worst *w = &v->worst[i];

		if (w->start_ns < m->lane->begin_ns || w->start_ns >= m->lane->end_ns)
			continue;
		fprintf(out, "<i style=\"left:%.2f%%;top:%.3f%%\" title=\"",
			100 * (w->start_ns - m->lane->begin_ns) / range,
			100 * (w->cpu + 0.5) / v->ncpus);
		html_lane(out, v, w->cpu);
		fputs(": ", out);
		html_ns(out, w->duration_ns);
		fprintf(out, " at +%.3f s\"></i>", (w->start_ns - v->run.started_ns) / 1e9);
	}
}

static void write_map(struct map *m)
{
	uint32_t n = m->h->view->ncpus;
	unsigned height = n <= 32 ? 14 : n <= 128 ? 6 : n <= 512 ? 2 : 1;
	FILE *out = m->h->out;
	/* A slot may begin before the window, and end behind it. */
	double slot = UINT64_C(1) << m->log2,
	       begin = (m->lane->begin_ns - (double)(m->first << m->log2)) / slot,
	       width = (m->lane->end_ns - m->lane->begin_ns) / slot;

	fprintf(out, "<div class=\"heat\" style=\"height:%upx\">", n * height);
	write_labels(m->h);
	fprintf(out,
		"<svg viewBox=\"%.3f -0.5 %.3f %u\" preserveAspectRatio=\"none\" role=\"img\" "
		"aria-label=\"share of time lost, by CPU and time\">\n",
		begin, width, n);
	for (unsigned k = 0; k < LEVELS_SHOWN; k++)
		if (m->text[k][0])
			fprintf(out, "<path class=\"h%u\" d=\"%s\"/>\n", k + 1, m->text[k]);
	fputs("</svg>", out);
	write_rings(m);
	fputs("</div>\n<div class=\"lanes\">", out);
	timeline_axis(m->lane);
	fputs("</div>\n", out);
}

static void write_legend(const struct html *h)
{
	fputs("<ul class=\"legend heat-legend\">", h->out);
	for (unsigned k = 0; k < LEVELS_SHOWN; k++)
		fprintf(h->out, "<li><i class=\"swatch h%u\"></i>%s%s</li>", k + 1,
			k < LEVELS_SHOWN - 1 ? "up to " : "", level_text[k]);
	fputs("<li><i class=\"ring\"></i>one of the longest hiccups</li></ul>\n", h->out);
}

void html_heat(const struct html *h)
{
	struct map m = {.h = h, .lane = calloc(1, sizeof(*m.lane))};
	size_t len[LEVELS_SHOWN];
	bool ok = m.lane && h->view->run.duration_ns;

	for (unsigned k = 0; k < LEVELS_SHOWN; k++) {
		m.out[k] = open_memstream(&m.text[k], &len[k]);
		ok = ok && m.out[k];
	}
	if (ok) {
		timeline_range(m.lane, h);
		choose_slots(&m);
	}
	for (uint32_t i = 0; ok && i < h->view->ncpus; i++)
		write_row(&m, i);
	for (unsigned k = 0; k < LEVELS_SHOWN; k++)
		ok = m.out[k] && !fclose(m.out[k]) && ok;
	if (ok) {
		fprintf(h->out,
			"<h2>Which %s when</h2>\n<p class=\"say\">A row for each %s, with a "
			"stronger colour where more of a moment was %s.</p>\n",
			h->view->run.watch      ? "thread lost time"
			: html_windows(h->view) ? "CPU was slow"
						: "CPU lost time",
			h->view->run.watch ? "thread, by its number" : "CPU",
			html_windows(h->view) ? "in slow windows" : "lost");
		write_legend(h);
		write_map(&m);
	}
	for (unsigned k = 0; k < LEVELS_SHOWN; k++)
		free(m.text[k]);
	free(m.lane);
}
