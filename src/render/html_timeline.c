/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When time was lost: a lane for each CPU with the lost share of each slot, stacked by kind, over
 * one axis of time. The scale is logarithmic, so that base load and spikes both show. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "render/html_timeline.h"

#define COLUMNS_ALL   8192 /* columns of all lanes of a file together */
#define DECADES_MOST  1e5  /* extent of the scale, at most */
#define COLUMNS_LEAST 64   /* columns of each lane, at least */
#define HOVER_CPUS    8    /* files of more CPUs have no hover texts, which are most of the bytes */

static unsigned x_of(const struct timeline_lane *l, uint64_t ns)
{
	return WIDTH * ((double)(ns - l->begin_ns) / (double)(l->end_ns - l->begin_ns)) + 0.5;
}

bool column_at(const struct timeline_lane *l, uint64_t slot, struct column *c)
{
	unsigned log2 = l->timeline.slots.log2;

	memset(c, 0, sizeof(*c));
	c->from_ns = slot << log2 > l->begin_ns ? slot << log2 : l->begin_ns;
	c->to_ns = (slot + 1) << log2 < l->end_ns ? (slot + 1) << log2 : l->end_ns;
	c->lost_ns = timeline_slot(&l->timeline, slot);
	for (unsigned k = 0; c->lost_ns && k < TIMELINE_KINDS; k++)
		c->sum_ns += c->lost_ns[k];
	if (!c->sum_ns || c->from_ns >= c->to_ns)
		return false;
	c->x = x_of(l, c->from_ns);
	c->width = x_of(l, c->to_ns) - c->x;
	c->width = c->width ? c->width : 1; /* cut by an end of the axis */
	return true;
}

double column_share(const struct column *c)
{
	double share = (double)c->sum_ns / (double)(c->to_ns - c->from_ns);

	return share < 1 ? share : 1; /* a hiccup may stick out of the window */
}

uint64_t first_slot(const struct timeline_lane *l)
{
	return l->begin_ns >> l->timeline.slots.log2;
}

uint64_t last_slot(const struct timeline_lane *l)
{
	return (l->end_ns - 1) >> l->timeline.slots.log2;
}

/* Largest number of columns of a lane. */
static uint32_t columns_of(const struct html *h)
{
	uint32_t n = COLUMNS_ALL / (h->ncpus ? h->ncpus : 1);

	return n > TIMELINE_SLOTS ? TIMELINE_SLOTS : n > COLUMNS_LEAST ? n : COLUMNS_LEAST;
}

/* Takes the timeline of a CPU, as coarse as there is room for. */
static void take_cpu(struct timeline_lane *l, uint32_t index)
{
	uint32_t wanted = columns_of(l->h);

	l->timeline = l->h->view->cpu[index].timeline;
	while (last_slot(l) - first_slot(l) >= wanted)
		timeline_coarsen(&l->timeline);
}

/* One logarithmic scale for all lanes, whole decades from the least share to the largest. */
static void find_scale(struct timeline_lane *l)
{
	double least = 1, most = 0;
	struct column c;

	for (uint32_t i = 0; i < l->h->view->ncpus; i++) {
		if (!group_detailed(l->h->view, i))
			continue;
		take_cpu(l, i);
		for (uint64_t slot = first_slot(l); slot <= last_slot(l); slot++)
			if (column_at(l, slot, &c)) {
				least = fmin(least, column_share(&c));
				most = fmax(most, column_share(&c));
			}
	}
	l->top = fmin(pow(10, ceil(log10(fmax(most, 1e-8)) - 1e-9)), 1);
	l->low = fmin(pow(10, floor(log10(fmax(least, 1e-9)) + 1e-9)), l->top / 10);
	l->low = fmax(l->low, l->top / DECADES_MOST);
}

/* Place of a share on the scale, 0 to 1. */
static double y_of(const struct timeline_lane *l, double share)
{
	double y = log(share / l->low) / log(l->top / l->low);

	return y > 0 ? y : 0;
}

/* The heights of a column's kinds, in their order in kind_legend, add up to its own. */
static void heights(const struct timeline_lane *l, struct column *c,
		    unsigned height[TIMELINE_KINDS])
{
	uint64_t below = 0;
	unsigned at = 0;

	c->height = HEIGHT * y_of(l, column_share(c)) + 0.5;
	c->height = c->height > LEAST ? c->height : LEAST;
	for (unsigned i = 0; i < TIMELINE_KINDS; i++) {
		unsigned top;

		below += c->lost_ns[kind_legend[i]];
		top = c->height * ((double)below / (double)c->sum_ns) + 0.5;
		height[i] = top - at;
		at = top;
	}
}

static void write_kind(const struct timeline_lane *l, unsigned i)
{
	unsigned height[TIMELINE_KINDS];
	bool some = false;
	struct column c;

	for (uint64_t slot = first_slot(l); slot <= last_slot(l); slot++) {
		unsigned y = HEIGHT;

		if (!column_at(l, slot, &c))
			continue;
		heights(l, &c, height);
		if (!height[i])
			continue;
		for (unsigned k = 0; k <= i; k++)
			y -= height[k];
		fprintf(l->h->out, "%sM%u %uh%uv%uh-%uz", some ? "" : "<path d=\"", c.x, y, c.width,
			height[i], c.width);
		some = true;
	}
	if (some)
		fprintf(l->h->out, "\" class=\"k-%s\"/>\n", html_class(kind_legend[i]));
}

static void write_hover(const struct timeline_lane *l)
{
	FILE *out = l->h->out;
	struct column c;

	for (uint64_t slot = first_slot(l); slot <= last_slot(l); slot++) {
		if (!column_at(l, slot, &c))
			continue;
		fprintf(out, "<rect x=\"%u\" width=\"%u\" height=\"%u\"><title>+%.3f s: ", c.x,
			c.width, HEIGHT, (double)(c.from_ns - l->h->view->run.started_ns) / 1e9);
		html_share(out, c.sum_ns, c.to_ns - c.from_ns);
		for (unsigned i = 0; i < TIMELINE_KINDS; i++) {
			if (!c.lost_ns[kind_legend[i]])
				continue;
			fputs(", ", out);
			html_kind(l->h, kind_legend[i]);
			fputc(' ', out);
			html_ns(out, c.lost_ns[kind_legend[i]]);
		}
		fputs("</title></rect>", out);
	}
}

/* A line for each decade; many narrow lanes have labels only at the ends. */
static void write_decades(const struct timeline_lane *l)
{
	FILE *out = l->h->out;

	fputs("<div class=\"decades\">", out);
	for (double share = l->top; share > l->low * 0.5; share /= 10) {
		bool inner = share < l->top * 0.5 && share > l->low * 5;

		fprintf(out, "<span style=\"bottom:%.1f%%\"%s>", 100 * y_of(l, share),
			inner ? " class=\"inner\"" : "");
		html_share(out, nearest_whole(share * 1e9), NSEC_PER_SEC);
		fputs("</span>", out);
	}
	fputs("</div>", out);
}

static void write_lane(struct timeline_lane *l, uint32_t index)
{
	FILE *out = l->h->out;

	fputs("<div class=\"lane\"><h3>", out);
	html_one_of(out, l->h->view, index);
	fputs("</h3><div class=\"plot\">", out);
	if (l->h->view->cpu[index].hiccups.count) {
		take_cpu(l, index);
		write_decades(l);
		fprintf(out,
			"\n<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
			"role=\"img\" aria-label=\"time lost over the run, by kind, of ",
			WIDTH, HEIGHT);
		html_lane(out, l->h->view, index);
		fputs("\">\n", out);
		for (unsigned i = 0; i < TIMELINE_KINDS; i++)
			write_kind(l, i);
		if (l->h->ncpus <= HOVER_CPUS)
			write_hover(l);
		fputs("</svg>", out);
	} else {
		fputs("<p class=\"none\">no hiccups</p>", out);
	}
	fputs("</div></div>\n", out);
}

void timeline_axis(const struct timeline_lane *l)
{
	uint64_t started = l->h->view->run.started_ns, range = l->end_ns - l->begin_ns,
		 step = html_step(range, 6);

	fputs("<div class=\"axis\">", l->h->out);
	for (uint64_t at = (l->begin_ns - started + step - 1) / step * step;
	     at <= l->end_ns - started; at += step)
		html_tick(l->h->out, 100.0 * (double)(started + at - l->begin_ns) / (double)range,
			  at, step);
	fputs("</div>\n", l->h->out);
}

void html_legend(const struct html *h)
{
	const struct view *s = h->view;
	bool some[TIMELINE_KINDS] = {false};

	for (uint32_t i = 0; i < s->ncpus; i++)
		for (unsigned n = 0; n < TIMELINE_SLOTS; n++)
			for (unsigned k = 0; k < TIMELINE_KINDS; k++)
				some[k] |= s->cpu[i].timeline.lost_ns[n][k] != 0;
	fputs("<ul class=\"legend\">", h->out);
	for (unsigned i = 0; i < TIMELINE_KINDS; i++) {
		if (!some[kind_legend[i]])
			continue;
		fputs("<li>", h->out);
		html_swatch(h->out, kind_legend[i]);
		html_kind(h, kind_legend[i]);
		fputs("</li>", h->out);
	}
	fputs("</ul>\n", h->out);
}

/* Begin of the axis. For a part of a recording, whose begin the view does not know, the first slot
 * that holds something, or a little before. */
static uint64_t begin_of(const struct view *v)
{
	uint64_t begin = UINT64_MAX;

	if (!v->run.part)
		return v->run.started_ns;
	for (uint32_t i = 0; i < v->ncpus; i++) {
		const struct slots *s = &v->cpu[i].timeline.slots;

		if (s->log2 && s->first << s->log2 < begin)
			begin = s->first << s->log2;
	}
	return begin > v->run.started_ns && begin < UINT64_MAX ? begin : v->run.started_ns;
}

void timeline_range(struct timeline_lane *l, const struct html *h)
{
	l->h = h;
	l->begin_ns = begin_of(h->view);
	l->end_ns = l->begin_ns + h->view->run.duration_ns;
}

void html_timeline(const struct html *h)
{
	struct timeline_lane *l = calloc(1, sizeof(*l));

	if (!l || !h->view->run.duration_ns) {
		free(l);
		return;
	}
	timeline_range(l, h);
	find_scale(l);
	fprintf(h->out,
		"<h2>%s</h2>\n<p class=\"say\">Share of each %s’s time, on one logarithmic scale "
		"for all.%s</p>\n",
		html_windows(h->view) ? "When windows were long" : "When time was lost",
		h->view->run.watch ? "thread" : "CPU",
		h->view->run.traced
			? " The colours share a column’s height as the kinds share its time."
			: "");
	html_legend(h);
	fprintf(h->out, "<div class=\"lanes%s%s\">\n", h->ncpus > 8 ? " many" : "",
		h->view->run.watch ? " threads" : "");
	for (uint32_t i = 0; i < h->view->ncpus; i++)
		if (group_detailed(h->view, i))
			write_lane(l, i);
	timeline_axis(l);
	fputs("</div>\n", h->out);
	free(l);
}
