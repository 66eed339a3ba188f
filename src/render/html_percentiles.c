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
	double odds;      /* end of the x axis */
	double low, high; /* ns, of the y axis */
	bool log;         /* the y axis */
};

static struct plot_file file_of(const struct html_line *line)
{
	return (struct plot_file){.hist = *line->hist, .fine = line->fine};
}

static struct axes axes_of(const struct html_line *line, uint32_t n)
{
	struct axes a = {.odds = 10, .low = INFINITY};

	for (uint32_t i = 0; i < n; i++) {
		struct plot_file f = file_of(&line[i]);

		a.odds = fmax(a.odds, f.hist.count);
		a.low = fmin(a.low, plot_ns(&f, f.hist.min));
		a.high = fmax(a.high, plot_ns(&f, f.hist.max));
	}
	a.low = fmax(a.low, 0.01);
	a.log = a.high > 10 * a.low;
	a.low = a.log ? a.low * 0.9 : 0;
	a.high = a.high > 0 ? a.high * 1.05 : 1;
	return a;
}

/* Places on the axes, 0 to 1. */
static double x_of(const struct axes *a, double odds)
{
	return log(odds) / log(a->odds);
}

static double y_of(const struct axes *a, double ns)
{
	double y = a->log ? log(fmax(ns, a->low) / a->low) / log(a->high / a->low) : ns / a->high;

	return y < 1 ? y : 1;
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
			 y = HEIGHT * (1 - y_of(a, point[k].ns)) + 0.5;

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

/* A recording may hold any value, and ps of the longest do not fit. */
static uint64_t whole(double value)
{
	return value < 0x1p64 ? (uint64_t)value : UINT64_MAX;
}

static void write_value(const struct axes *a, double ns, FILE *out)
{
	fprintf(out, "<span style=\"bottom:%.1f%%\">", 100 * y_of(a, ns));
	if (ns < NSEC_PER_SEC)
		html_ps(out, (uint64_t)(ns * 1000 + 0.5));
	else
		html_ns(out, whole(ns + 0.5));
	fputs("</span>", out);
}

/* A linear axis has about four values; in ps only where they are short. */
static double step_of(const struct axes *a)
{
	return a->high < 4 * (double)NSEC_PER_USEC
		       ? html_step((uint64_t)(a->high * 1000) + 1, 4) / 1000.0
		       : html_step(whole(a->high), 4);
}

/* Powers of ten, with 2 and 5 between them while they are few; round values on a linear axis. */
static void write_values(const struct axes *a, FILE *out)
{
	double few = a->high < 300 * a->low, step;

	for (double ten = 1e-3; a->log && ten <= a->high; ten *= 10)
		for (unsigned m = 1; m <= (few ? 5 : 1); m += m == 1 ? 1 : 3)
			if (m * ten >= a->low && m * ten <= a->high)
				write_value(a, m * ten, out);
	if (a->log)
		return;
	step = step_of(a);
	for (unsigned i = 1; i < 8 && i * step <= a->high; i++)
		write_value(a, i * step, out);
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
	write_values(&a, out);
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
