/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A series over time: for each slice the largest value and the mean, as steps. A slice
 * without values is a hole. */
#include <math.h>

#include "base/units.h"
#include "render/html.h"

#define WIDTH  1200
#define HEIGHT 400
#define FEW    8 /* slices: fewer show no course */

static double ns_of(const struct series *s, const struct course_bin *b, bool mean)
{
	return (mean ? (double)b->sum / b->count : b->max) / (s->fine ? 1000 : 1);
}

static struct html_scale scale_of(const struct series *s)
{
	double low = INFINITY, high = 0;

	for (uint32_t i = 0; i < s->course.n; i++) {
		const struct course_bin *b = &s->course.bin[i];

		if (!b->count)
			continue;
		low = fmin(low, ns_of(s, b, true));
		high = fmax(high, ns_of(s, b, false));
	}
	return html_scale_of(low, high);
}

static void write_line(const struct series *s, const struct html_scale *y, bool mean, FILE *out)
{
	const struct course *c = &s->course;
	bool drawn = false;

	fprintf(out, "<path class=\"l%d\" d=\"", mean);
	for (uint32_t i = 0; i < c->n; drawn = c->bin[i++].count != 0) {
		unsigned at;

		if (!c->bin[i].count)
			continue;
		at = HEIGHT * (1 - html_scale_y(y, ns_of(s, &c->bin[i], mean))) + 0.5;
		if (drawn)
			fprintf(out, "V%u", at);
		else
			fprintf(out, "M%.1f %u", (double)WIDTH * i / c->n, at);
		fprintf(out, "H%.1f", (double)WIDTH * (i + 1) / c->n);
	}
	fputs("\"/>\n", out);
}

/* Times since the window's begin. */
static void write_times(const struct html *h, const struct course *c)
{
	uint64_t began = h->view->run.started_ns, whole = c->n * c->width;
	uint64_t from = c->start > began ? c->start - began : 0, step = html_step(whole, 6);

	fputs("<div class=\"axis\">", h->out);
	for (uint64_t at = (from + step - 1) / step * step; at <= from + whole; at += step)
		html_tick(h->out, 100.0 * (at - from) / whole, at, step);
	fputs("</div>", h->out);
}

static void write_legend(FILE *out)
{
	static const char *const names[] = {"largest", "mean"};

	fputs("<ul class=\"legend\">", out);
	for (int i = 0; i < 2; i++)
		fprintf(out,
			"<li><svg class=\"lines\" viewBox=\"0 0 30 8\"><path class=\"l%d\" "
			"d=\"M0 4h30\"/></svg>%s</li>",
			i, names[i]);
	fputs("</ul>\n", out);
}

void html_course(const struct html *h, uint32_t index, const struct series *s)
{
	const struct course *c = &s->course;
	struct html_scale y = scale_of(s);
	FILE *out = h->out;

	if (c->n < FEW)
		return;
	fputs("<figure><figcaption><h3>", out);
	html_name_n(out, s->name, sizeof(s->name));
	fputs(" over time</h3> ", out);
	html_lane(out, h->view, index);
	fputs(", in each ", out);
	html_ns(out, c->width);
	fputs("</figcaption>", out);
	write_legend(out);
	fputs("<div class=\"chart percentiles\"><div class=\"counts\">", out);
	html_scale_values(out, &y);
	fprintf(out,
		"</div><div class=\"field\"><svg class=\"lines\" viewBox=\"0 0 %d %d\" "
		"preserveAspectRatio=\"none\" role=\"img\" aria-label=\"",
		WIDTH, HEIGHT);
	html_name_n(out, s->name, sizeof(s->name));
	fputs(" over time, of ", out);
	html_lane(out, h->view, index);
	fputs("\">", out);
	write_line(s, &y, false, out);
	write_line(s, &y, true, out);
	fputs("</svg></div>", out);
	write_times(h, c);
	fputs("</div></figure>\n", out);
}
