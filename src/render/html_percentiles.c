/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Distributions by percentile: the x axis is 1 / (1 - share), logarithmic, so that each further
 * nine of the tail is as wide as the one before. A line for each, which ends with its largest
 * value. */
#include <math.h>
#include <stdlib.h>

#include "base/units.h"
#include "render/html.h"
#include "render/plot.h"

#define WIDTH  1200
#define HEIGHT 400
#define LINES  8 /* classes l0 to l7; the first ones are drawn */

struct axes {
	double odds; /* end of the x axis */
	struct html_scale y;
};

static struct plot_file file_of(const struct html_line *line)
{
	return (struct plot_file){.hist = *line->hist, .fine = line->fine};
}

static struct axes axes_of(const struct html_line *line, uint32_t n)
{
	struct axes a = {.odds = 10};
	double low = INFINITY, high = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct plot_file f = file_of(&line[i]);

		a.odds = fmax(a.odds, f.hist.count);
		low = fmin(low, plot_ns(&f, f.hist.min));
		high = fmax(high, plot_ns(&f, f.hist.max));
	}
	a.y = html_scale_of(low, high);
	return a;
}

/* The place on the x axis, 0 to 1. */
static double x_of(const struct axes *a, double odds)
{
	return log(odds) / log(a->odds);
}

/* Leaves out points that would not move the line. */
static void write_line(const struct axes *a, const struct html_line *line, uint32_t i, FILE *out)
{
	struct plot_file f = file_of(line);
	uint32_t n;
	struct plot_point *point = plot_points(&f, &n);
	unsigned at_x = 0, at_y = 0;

	for (uint32_t k = 0; k < n; k++) {
		unsigned x = WIDTH * x_of(a, point[k].odds) + 0.5,
			 y = HEIGHT * (1 - html_scale_y(&a->y, point[k].ns)) + 0.5;

		if (!k)
			fprintf(out, "<path class=\"l%u\" d=\"M%u %u", i, x, y);
		else if (x != at_x || y != at_y)
			fprintf(out, "L%u %u", x, y);
		at_x = x;
		at_y = y;
	}
	fputs(n ? "\"/>\n" : "", out);
	free(point);
}

/* As the field writes them: 0 %, 90 %, 99 %, 99.9 %, ... */
static void write_shares(const struct axes *a, FILE *out)
{
	int digits = -1;

	fputs("<div class=\"axis\">", out);
	for (double odds = 1; odds <= a->odds * (1 + 1e-9); odds *= 10, digits++) {
		double x = 100 * x_of(a, odds);

		fprintf(out, "<span style=\"left:%.2f%%\"%s>%.*f %%</span>", x,
			x < 2    ? " class=\"first\""
			: x > 94 ? " class=\"last\""
				 : "",
			digits > 1 ? digits - 1 : 0, odds > 1 ? 100 - 100 / odds : 0);
	}
	fputs("</div>", out);
}

static void write_legend(const struct html_line *line, uint32_t n, FILE *out)
{
	fputs("<ul class=\"legend\">", out);
	for (uint32_t i = 0; i < n; i++) {
		fprintf(out,
			"<li><svg class=\"lines\" viewBox=\"0 0 30 8\"><path class=\"l%u\" "
			"d=\"M0 4h30\"/></svg>",
			i);
		html_text(out, line[i].name);
		fputs("</li>", out);
	}
	fputs("</ul>\n", out);
}

/* Names the lane, where it is of one. */
static void write_whose(const struct html *h, uint32_t index)
{
	if (index < h->view->ncpus) {
		fputs(", of ", h->out);
		html_lane(h->out, h->view, index);
	}
}

void html_percentiles(const struct html *h, uint32_t index, const struct html_line *line,
		      uint32_t n)
{
	uint32_t shown = n < LINES ? n : LINES;
	struct axes a = axes_of(line, shown);
	FILE *out = h->out;

	if (!shown)
		return;
	fputs("<figure><figcaption><h3>by percentile", out);
	write_whose(h, index);
	fputs("</h3> <span>so many do not exceed; the axis is 1 / (1 - share), "
	      "logarithmic</span></figcaption>",
	      out);
	write_legend(line, shown, out);
	fputs("<div class=\"chart percentiles\"><div class=\"counts\">", out);
	html_scale_values(out, &a.y);
	fprintf(out,
		"</div><div class=\"field\"><svg class=\"lines\" viewBox=\"0 0 %d %d\" "
		"preserveAspectRatio=\"none\" role=\"img\" aria-label=\"lengths by percentile",
		WIDTH, HEIGHT);
	write_whose(h, index);
	fputs("\">", out);
	for (uint32_t i = 0; i < shown; i++)
		write_line(&a, &line[i], i, out);
	fputs("</svg></div>", out);
	write_shares(&a, out);
	fputs("</div>", out);
	if (n > shown)
		fprintf(out, "<p class=\"say\">And %u more, not drawn here.</p>", n - shown);
	fputs("</figure>\n", out);
}
