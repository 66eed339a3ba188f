/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A plot as SVG: histograms as steps with a tinted area below, percentiles as lines, or values over
 * time as a heat map, one panel for each file. Colours are Okabe and Ito's, which the colour-blind
 * tell apart, and lines differ by their dashes, too; the heat map is viridis. A reader in the dark
 * gets it dark: colours are classes, which a media query changes. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/units.h"
#include "render/html.h"
#include "render/plot_parts.h"

/* Classes c0 to c7 of the styles below; more files than colours differ by their dashes. */
#define COLOURS 8
static const char *const dashes[] = {"none", "7 3", "2 3", "9 3 2 3", "12 4", "4 2", "1 2"};
#define DASHES (sizeof(dashes) / sizeof(dashes[0]))

static const char styles[] =
	"<style>svg{fill:#333}.page{fill:#fff}.title{font-size:17px;font-weight:600;fill:#111}."
	"name{fill:#111}.figures{text-anchor:end;fill:#555}.x{text-anchor:middle}.y{text-anchor:"
	"end}.small{font-size:11.5px;fill:#666}.grid{stroke:#e4e4e4;stroke-width:1}.axis{stroke:#"
	"888;stroke-width:1}.line{fill:none}\n"
	".c0{stroke:#0072b2;fill:#0072b2}.c1{stroke:#d55e00;fill:#d55e00}.c2{stroke:#009e73;fill:#"
	"009e73}.c3{stroke:#cc79a7;fill:#cc79a7}.c4{stroke:#e69f00;fill:#e69f00}.c5{stroke:#56b4e9;"
	"fill:#56b4e9}.c6{stroke:#000;fill:#000}.c7{stroke:#8c6d31;fill:#8c6d31}\n"
	".area{stroke:none;fill-opacity:.12}.line{fill:none;stroke-width:1.6}\n"
	"@media "
	"(prefers-color-scheme:dark){svg{fill:#c9ced6}.page{fill:#11151b}.title,.name{fill:#e4e8ee}"
	".figures,.small{fill:#9ba5b4}.grid{stroke:#2b323d}.axis{stroke:#7a8494}.c0{stroke:#4aa3df;"
	"fill:#4aa3df}.c6{stroke:#fff;fill:#fff}.area{stroke:none}.line{fill:none}}</style>\n";

/* ---- text ---- */

void svg_label(double x, double y, const char *class, const char *text, FILE *out)
{
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
	html_text(out, text);
	fputs("</text>\n", out);
}

void svg_legend(const struct plot *p, uint32_t i, double x, double y, FILE *out)
{
	const struct plot_file *f = &p->file[i];
	char count[32], median[32], tail[32], max[32], name[512];
	const char *shown = escape_text(f->name, SIZE_MAX, name, sizeof(name));
	size_t columns = text_columns(shown);

	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"name\">", x, y);
	if (columns > 56) {
		shown += text_fit(shown, columns - 55);
		fputs("…", out);
	}
	html_text(out, shown);
	fputs("</text>\n", out);
	if (!f->hist.count) {
		svg_label(WIDTH - RIGHT, y, "figures", "no values", out);
		return;
	}
	fprintf(out,
		"<text x=\"%d\" y=\"%.1f\" class=\"figures\">%s values · median %s · p99 %s · max "
		"%s</text>\n",
		WIDTH - RIGHT, y, format_count(f->hist.count, count, sizeof(count)),
		plot_time(plot_percentile(f, 50), median, sizeof(median)),
		plot_time(plot_percentile(f, 99), tail, sizeof(tail)),
		plot_time(f->hist.max / (f->fine ? 1000.0 : 1), max, sizeof(max)));
}

void svg_head(const struct plot *p, int height, FILE *out)
{
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
		"height=\"%d\" font-family=\"Inter,Helvetica,Arial,DejaVu Sans,sans-serif\" "
		"font-size=\"13\">\n%s<rect width=\"%d\" height=\"%d\" class=\"page\"/>\n",
		WIDTH, height, WIDTH, height, styles, WIDTH, height);
	fprintf(out, "<text x=\"%d\" y=\"30\" class=\"title\">", LEFT);
	html_name(out, p->what);
	fputs(p->surface       ? " over time</text>\n"
	      : p->percentiles ? " by percentile</text>\n"
			       : "</text>\n",
	      out);
}

/* ---- axes ---- */

/* 1, 2 or 5 times a power of ten, about n of which fit the range. */
static double nice_step(double range, unsigned n)
{
	double rough = range / n, power = pow(10, floor(log10(rough)));

	return power * (rough / power > 5 ? 10 : rough / power > 2 ? 5 : rough / power > 1 ? 2 : 1);
}

double svg_place(const struct axis *a, double value)
{
	double share = a->log ? log(value / a->low) / log(a->high / a->low)
			      : (value - a->low) / (a->high - a->low);

	return a->from + share * (a->to - a->from);
}

double svg_next_tick(const struct axis *a, double value, unsigned n)
{
	double decades = log10(a->high / a->low), power, step;

	if (!a->log || decades < 0.8) {
		step = nice_step(a->high - a->low, n);
		return step * (floor(value / step + 1e-6) + 1);
	}
	power = pow(10, floor(log10(value) + 1e-9));
	if (decades <= 3.2)
		for (int k = 0; k < 2; k++)
			if (value < power * (k ? 5 : 2) * (1 - 1e-6))
				return power * (k ? 5 : 2);
	return power * 10;
}

double svg_first_tick(const struct axis *a, unsigned n)
{
	return a->low > 0 ? svg_next_tick(a, a->low * (1 - 1e-5), n) : 0;
}

void svg_x_tick(double x, double top, double bottom, const char *text, FILE *out)
{
	fprintf(out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" class=\"grid\"/>\n", x,
		x, top, bottom);
	svg_label(x, bottom + 18, "x", text, out);
}

void svg_y_tick(double y, const char *text, FILE *out)
{
	fprintf(out, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" class=\"grid\"/>\n", LEFT,
		WIDTH - RIGHT, y, y);
	svg_label(LEFT - 8, y + 4, "y", text, out);
}

void svg_frame(double top, double bottom, FILE *out)
{
	fprintf(out, "<path d=\"M%d %.1fV%.1fH%d\" fill=\"none\" class=\"axis\"/>\n", LEFT, top,
		bottom, WIDTH - RIGHT);
}

/* ---- histograms ---- */

static void histogram_axes(const struct axis *x, const struct axis *y, FILE *out)
{
	char text[32];

	for (double v = svg_first_tick(x, 10); v <= x->high * (1 + 1e-9);
	     v = svg_next_tick(x, v, 10))
		svg_x_tick(svg_place(x, v), y->to, y->from, plot_time(v, text, sizeof(text)), out);
	for (double v = svg_first_tick(y, 6); v <= y->high * (1 + 1e-9);
	     v = svg_next_tick(y, v, 6)) {
		snprintf(text, sizeof(text), "%.3g %%", v);
		svg_y_tick(svg_place(y, v), text, out);
	}
}

/* Classes f0, f1, ... are of one file each: a page lets its reader hide them. */
static void end_line(uint32_t i, bool file, FILE *out)
{
	fprintf(out, "\" class=\"c%u line", i % COLOURS);
	if (file)
		fprintf(out, " f%" PRIu32, i);
	fprintf(out, "\" stroke-dasharray=\"%s\"/>\n", dashes[(i + i / COLOURS) % DASHES]);
}

static void legends(const struct plot *p, FILE *out)
{
	for (uint32_t i = 0; i < p->nfiles; i++) {
		double at = 48 + LINE * (i + 0.5);

		fprintf(out, "<path d=\"M%d %.1fH%d\" style=\"stroke-width:3", LEFT, at, LEFT + 30);
		end_line(i, false, out);
		svg_legend(p, i, LEFT + 40, at + 4.5, out);
	}
}

static void steps(const struct plot_bins *b, uint32_t i, const struct axis *x, const struct axis *y,
		  bool area, FILE *out)
{
	double width = (x->to - x->from) / PLOT_BINS;

	fprintf(out, "<path d=\"M%.1f %.1f", x->from, y->from);
	for (unsigned k = 0; k < PLOT_BINS; k++) {
		double share = fmax(b->share[i][k], y->low);

		fprintf(out, "V%.1fH%.1f", svg_place(y, share), x->from + width * (k + 1));
	}
	fprintf(out, "V%.1f", y->from);
	if (area)
		fprintf(out, "Z\" class=\"c%u area f%" PRIu32 "\"/>\n", i % COLOURS, i);
	else
		end_line(i, true, out);
}

static void histograms(const struct plot *p, FILE *out)
{
	struct plot_bins b;
	double top = 48 + LINE * p->nfiles + 12;
	struct axis x, y;
	char text[160];

	if (plot_bins(p, &b))
		return;
	x = (struct axis){b.low_ns, b.high_ns, p->log_x, LEFT, WIDTH - RIGHT};
	y = (struct axis){p->log_y ? pow(10, floor(log10(b.least))) : 0, b.most * 1.06, p->log_y,
			  top + HEIGHT, top};
	svg_head(p, top + HEIGHT + 64, out);
	legends(p, out);
	histogram_axes(&x, &y, out);
	for (uint32_t i = 0; i < p->nfiles; i++)
		if (p->file[i].hist.count)
			steps(&b, i, &x, &y, true, out);
	for (uint32_t i = 0; i < p->nfiles; i++)
		if (p->file[i].hist.count)
			steps(&b, i, &x, &y, false, out);
	svg_frame(top, y.from, out);
	snprintf(text, sizeof(text), "share of a file's values in each of %d %s", PLOT_BINS,
		 p->log_x ? "steps of the same ratio" : "steps");
	svg_label(LEFT, y.from + 44, "small", text, out);
	fputs("</svg>\n", out);
	plot_bins_free(&b);
}

/* ---- percentiles ---- */

/* Writes the percentiles as the field does: 0 %, 90 %, 99 %, ... */
static void percentile_ticks(const struct axis *x, const struct axis *y, FILE *out)
{
	char text[32] = "0 %";
	int digits = -1;

	for (double odds = 1; odds <= x->high * (1 + 1e-9); odds *= 10, digits++) {
		if (odds > 1)
			snprintf(text, sizeof(text), "%.*f %%", digits > 1 ? digits - 1 : 0,
				 100 - 100 / odds);
		svg_x_tick(svg_place(x, odds), y->to, y->from, text, out);
	}
}

static void percentile_line(const struct plot_file *f, uint32_t i, const struct axis *x,
			    const struct axis *y, FILE *out)
{
	uint32_t n;
	struct plot_point *point = plot_points(f, &n);

	for (uint32_t k = 0; k < n; k++)
		fprintf(out, "%s%.1f %.1f", k ? "L" : "<path d=\"M", svg_place(x, point[k].odds),
			svg_place(y, fmax(point[k].ns, y->low)));
	if (n)
		end_line(i, true, out);
	free(point);
}

static void percentiles(const struct plot *p, FILE *out)
{
	double top = 48 + LINE * p->nfiles + 12;
	struct axis x = {1, 10, true, LEFT, WIDTH - RIGHT},
		    y = {INFINITY, 0, p->log_y, top + HEIGHT, top};
	char text[32];

	for (uint32_t i = 0; i < p->nfiles; i++) {
		const struct plot_file *f = &p->file[i];
		double unit = f->fine ? 1000 : 1;

		if (!f->hist.count)
			continue;
		x.high = fmax(x.high, f->hist.count);
		y.low = fmin(y.low, f->hist.min / unit);
		y.high = fmax(y.high, f->hist.max / unit);
	}
	y.high = y.high > 0 ? y.high * 1.05 : 1000;
	y.low = p->log_y ? fmax(fmin(y.low, y.high / 2) * 0.9, 0.01) : 0;
	svg_head(p, top + HEIGHT + 64, out);
	legends(p, out);
	percentile_ticks(&x, &y, out);
	for (double v = svg_first_tick(&y, 6); v <= y.high * (1 + 1e-9);
	     v = svg_next_tick(&y, v, 6))
		svg_y_tick(svg_place(&y, v), plot_time(v, text, sizeof(text)), out);
	for (uint32_t i = 0; i < p->nfiles; i++)
		percentile_line(&p->file[i], i, &x, &y, out);
	svg_frame(top, y.from, out);
	svg_label(LEFT, y.from + 44, "small",
		  "the value that so many of a file's values do not exceed; the axis is 1 / (1 - "
		  "share), logarithmic, and ends with one value in all",
		  out);
	fputs("</svg>\n", out);
}

void plot_svg(const struct plot *p, FILE *out)
{
	if (p->surface)
		svg_surfaces(p, out);
	else if (p->percentiles)
		percentiles(p, out);
	else
		histograms(p, out);
}

/* Boxes to choose the files by, without a script: the styles hide what is not checked. */
static void write_boxes(const struct plot *p, FILE *out)
{
	fputs("<style>", out);
	for (uint32_t i = 0; i < p->nfiles; i++)
		fprintf(out, "#f%" PRIu32 ":not(:checked)~svg .f%" PRIu32 "{display:none}\n", i, i);
	fputs("</style>\n", out);
	for (uint32_t i = 0; i < p->nfiles; i++) {
		fprintf(out,
			"<input type=\"checkbox\" checked=\"checked\" id=\"f%" PRIu32 "\"/><label "
			"for=\"f%" PRIu32 "\">",
			i, i);
		html_name(out, p->file[i].name);
		fputs("</label>\n", out);
	}
}

void plot_html(const struct plot *p, FILE *out)
{
	struct plot other = *p;

	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"/>\n<meta "
	      "name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>",
	      out);
	html_name(out, p->what);
	fputs("</title>\n<style>:root{color-scheme:light dark}body{margin:24px;background:#fff;"
	      "color:#333;font:14px Inter,Helvetica,Arial,sans-serif}svg{display:block;max-width:"
	      "100%;height:auto}label{margin:0 18px 0 4px;overflow-wrap:anywhere}@media "
	      "(prefers-color-scheme:dark){body{background:#11151b;color:#c9ced6}}</style>\n"
	      "</head>\n<body>\n",
	      out);
	if (p->nfiles > 1)
		write_boxes(p, out);
	plot_svg(p, out);
	/* The other picture of the same values; each has the axes that show its values best. */
	other.percentiles = !p->percentiles;
	other.log_x = p->percentiles && plot_spreads(p);
	other.log_y = !p->percentiles && plot_spreads(p);
	if (!p->surface)
		plot_svg(&other, out);
	fputs("</body>\n</html>\n", out);
}
