/* A plot as SVG: histograms as steps with a tinted area below, or values over time as a heat map,
 * one panel for each file. Colours are Okabe and Ito's, which the colour-blind tell apart, and
 * lines differ by their dashes, too; the heat map is viridis. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/units.h"
#include "render/html.h"
#include "render/plot.h"

#define WIDTH  960
#define LEFT   84 /* of the drawing inside the picture */
#define RIGHT  32
#define LINE   20 /* height of a line of text */
#define HEIGHT 420
#define PANEL  230

static const char *const colours[PLOT_FILES] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
						"#e69f00", "#56b4e9", "#000000", "#8c6d31"};
static const char *const dashes[PLOT_FILES] = {"none", "7 3", "2 3", "9 3 2 3",
					       "none", "7 3", "2 3", "9 3 2 3"};

/* ---- text ---- */

static void label(double x, double y, const char *class, const char *text, FILE *out)
{
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
	html_text(out, text);
	fputs("</text>\n", out);
}

/* Writes a file's name and its figures; a long name loses its front, because paths differ at their
 * ends. */
static void legend(const struct plot *p, uint32_t i, double x, double y, FILE *out)
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
		label(WIDTH - RIGHT, y, "figures", "no values", out);
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

static void head(const struct plot *p, int height, FILE *out)
{
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
		"height=\"%d\" "
		"font-family=\"Inter,Helvetica,Arial,DejaVu Sans,sans-serif\" font-size=\"13\" "
		"fill=\"#333\">\n"
		"<style>.title{font-size:17px;font-weight:600;fill:#111}.name{fill:#111}.figures{"
		"text-anchor:end;"
		"fill:#555}.x{text-anchor:middle}.y{text-anchor:end}.small{font-size:11.5px;fill:#"
		"666}"
		".grid{stroke:#e4e4e4;stroke-width:1}.axis{stroke:#888;stroke-width:1}</style>\n"
		"<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
		WIDTH, height, WIDTH, height, WIDTH, height);
	fprintf(out, "<text x=\"%d\" y=\"30\" class=\"title\">", LEFT);
	html_name(out, p->what);
	fputs(p->surface ? " over time</text>\n" : "</text>\n", out);
}

/* ---- axes ---- */

/* 1, 2 or 5 times a power of ten, about n of which fit the range. */
static double nice_step(double range, unsigned n)
{
	double rough = range / n, power = pow(10, floor(log10(rough)));

	return power * (rough / power > 5 ? 10 : rough / power > 2 ? 5 : rough / power > 1 ? 2 : 1);
}

struct axis {
	double low, high;
	bool log;
	double from, to; /* ends inside the picture */
};

static double place(const struct axis *a, double value)
{
	double share = a->log ? log(value / a->low) / log(a->high / a->low)
			      : (value - a->low) / (a->high - a->low);

	return a->from + share * (a->to - a->from);
}

/* The next tick after `value`; on a logarithmic axis 1, 2, 5, or only the powers of ten when there
 * are many. */
static double next_tick(const struct axis *a, double value, unsigned n)
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

static double first_tick(const struct axis *a, unsigned n)
{
	return a->low > 0 ? next_tick(a, a->low * (1 - 1e-5), n) : 0;
}

static void x_tick(double x, double top, double bottom, const char *text, FILE *out)
{
	fprintf(out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" class=\"grid\"/>\n", x,
		x, top, bottom);
	label(x, bottom + 18, "x", text, out);
}

static void y_tick(double y, const char *text, FILE *out)
{
	fprintf(out, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" class=\"grid\"/>\n", LEFT,
		WIDTH - RIGHT, y, y);
	label(LEFT - 8, y + 4, "y", text, out);
}

static void frame(double top, double bottom, FILE *out)
{
	fprintf(out, "<path d=\"M%d %.1fV%.1fH%d\" fill=\"none\" class=\"axis\"/>\n", LEFT, top,
		bottom, WIDTH - RIGHT);
}

/* ---- histograms ---- */

static void histogram_axes(const struct axis *x, const struct axis *y, FILE *out)
{
	char text[32];

	for (double v = first_tick(x, 10); v <= x->high * (1 + 1e-9); v = next_tick(x, v, 10))
		x_tick(place(x, v), y->to, y->from, plot_time(v, text, sizeof(text)), out);
	for (double v = first_tick(y, 6); v <= y->high * (1 + 1e-9); v = next_tick(y, v, 6)) {
		snprintf(text, sizeof(text), "%.3g %%", v);
		y_tick(place(y, v), text, out);
	}
}

static void steps(const struct plot_bins *b, uint32_t i, const struct axis *x, const struct axis *y,
		  bool area, FILE *out)
{
	double width = (x->to - x->from) / PLOT_BINS;

	fprintf(out, "<path d=\"M%.1f %.1f", x->from, y->from);
	for (unsigned k = 0; k < PLOT_BINS; k++) {
		double share = fmax(b->share[i][k], y->low);

		fprintf(out, "V%.1fH%.1f", place(y, share), x->from + width * (k + 1));
	}
	fprintf(out, "V%.1f", y->from);
	if (area)
		fprintf(out, "Z\" fill=\"%s\" fill-opacity=\"0.12\"/>\n", colours[i]);
	else
		fprintf(out,
			"\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\" "
			"stroke-dasharray=\"%s\"/>\n",
			colours[i], dashes[i]);
}

static void histograms(const struct plot *p, FILE *out)
{
	struct plot_bins *b = malloc(sizeof(*b));
	double top = 48 + LINE * p->nfiles + 12;
	struct axis x, y;
	char text[160], count[32], longest[32];

	if (!b)
		return;
	plot_bins(p, b);
	x = (struct axis){b->low_ns, b->high_ns, p->log_x, LEFT, WIDTH - RIGHT};
	y = (struct axis){p->log_y ? pow(10, floor(log10(b->least))) : 0, b->most * 1.06, p->log_y,
			  top + HEIGHT, top};
	head(p, top + HEIGHT + 64, out);
	for (uint32_t i = 0; i < p->nfiles; i++) {
		double at = 48 + LINE * (i + 0.5);

		fprintf(out,
			"<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
			"stroke-width=\"3\" "
			"stroke-dasharray=\"%s\"/>\n",
			LEFT, LEFT + 30, at, at, colours[i], dashes[i]);
		legend(p, i, LEFT + 40, at + 4.5, out);
	}
	histogram_axes(&x, &y, out);
	for (uint32_t i = 0; i < p->nfiles; i++)
		if (p->file[i].hist.count)
			steps(b, i, &x, &y, true, out);
	for (uint32_t i = 0; i < p->nfiles; i++)
		if (p->file[i].hist.count)
			steps(b, i, &x, &y, false, out);
	frame(top, y.from, out);
	snprintf(text, sizeof(text), "share of a file's values in each of %d %s", PLOT_BINS,
		 p->log_x ? "steps of the same ratio" : "steps");
	label(LEFT, y.from + 44, "small", text, out);
	if (b->beyond) {
		snprintf(text, sizeof(text),
			 "%s values lie to the right of this, up to %s (all with a logarithmic "
			 "axis)",
			 format_count(b->beyond, count, sizeof(count)),
			 plot_time(b->longest_ns, longest, sizeof(longest)));
		label(WIDTH - RIGHT, y.from + 44, "small y", text, out);
	}
	fputs("</svg>\n", out);
	free(b);
}

/* ---- values over time ---- */

static void viridis(double t, char colour[8])
{
	static const unsigned char stop[][3] = {{68, 1, 84},    {71, 45, 123},  {59, 82, 139},
						{44, 114, 142}, {33, 145, 140}, {40, 174, 128},
						{94, 201, 98},  {173, 220, 48}, {253, 231, 37}};
	unsigned n = sizeof(stop) / sizeof(stop[0]) - 1, i = t * n;
	unsigned char c[3];

	i = i < n ? i : n - 1;
	for (int k = 0; k < 3; k++)
		c[k] = stop[i][k] + (t * n - i) * (stop[i + 1][k] - stop[i][k]) + 0.5;
	snprintf(colour, 8, "#%02x%02x%02x", c[0], c[1], c[2]);
}

static uint32_t most_in_a_cell(const struct plot *p)
{
	uint32_t most = 1;

	for (uint32_t i = 0; i < p->nfiles; i++)
		for (uint64_t k = 0; k < p->file[i].surface->columns; k++)
			for (unsigned row = 0; row < SURFACE_ROWS; row++)
				if (p->file[i].surface->cell[k][row] > most)
					most = p->file[i].surface->cell[k][row];
	return most;
}

static void cells(const struct surface *s, const struct axis *x, const struct axis *y,
		  uint32_t most, FILE *out)
{
	char colour[8];

	fputs("<g shape-rendering=\"crispEdges\">\n", out);
	for (uint64_t k = 0; k < s->columns; k++)
		for (unsigned row = 0; row < SURFACE_ROWS; row++) {
			double left = place(x, k * s->column_ns),
			       right = fmin(place(x, (k + 1) * s->column_ns), x->to);
			double bottom = place(y, plot_row_ns(row)),
			       top = place(y, plot_row_ns(row + 1));

			if (!s->cell[k][row] || left >= right)
				continue;
			viridis(most > 1 ? log(s->cell[k][row]) / log(most) : 0, colour);
			fprintf(out,
				"<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
				"fill=\"%s\"/>\n",
				left, top, right - left, bottom - top, colour);
		}
	fputs("</g>\n", out);
}

static void colour_bar(double y, uint32_t most, FILE *out)
{
	int width = 200, left = WIDTH - RIGHT - width - 40;
	char colour[8], text[32];

	for (int i = 0; i < width; i += 4) {
		viridis((i + 2.0) / width, colour);
		fprintf(out,
			"<rect x=\"%d\" y=\"%.1f\" width=\"4.5\" height=\"12\" fill=\"%s\"/>\n",
			left + i, y, colour);
	}
	label(left - 8, y + 11, "figures", "values in a field: 1", out);
	snprintf(text, sizeof(text), "%" PRIu32, most);
	label(left + width + 8, y + 11, "name", text, out);
}

static void panel(const struct plot *p, uint32_t i, double top, const struct axis *rows,
		  uint32_t most, FILE *out)
{
	const struct plot_file *f = &p->file[i];
	struct axis x = {0, f->duration_ns ? f->duration_ns : 1, false, LEFT, WIDTH - RIGHT},
		    y = *rows;
	char text[64], note[160];

	y.from = top + LINE + PANEL;
	y.to = top + LINE + 6;
	legend(p, i, LEFT, top + 14, out);
	for (double v = first_tick(&x, 8); v <= x.high * (1 + 1e-9); v = next_tick(&x, v, 8))
		x_tick(place(&x, v), y.to, y.from, plot_time(v, text, sizeof(text)), out);
	for (double v = first_tick(&y, 5); v <= y.high * (1 + 1e-9); v = next_tick(&y, v, 5))
		y_tick(place(&y, v), plot_time(v, text, sizeof(text)), out);
	cells(f->surface, &x, &y, most, out);
	frame(y.to, y.from, out);
	if (!f->threshold_ns)
		return;
	snprintf(note, sizeof(note),
		 "a recording keeps when those came that were longer than its threshold, %s",
		 plot_time(f->threshold_ns, text, sizeof(text)));
	label(LEFT, y.from + 36, "small", note, out);
}

static void surfaces(const struct plot *p, FILE *out)
{
	uint32_t most = most_in_a_cell(p);
	double top = 58, each = LINE + PANEL + 58;
	struct axis y = {.log = true};
	unsigned first, last;

	head(p, top + each * p->nfiles, out);
	if (!plot_rows(p, &first, &last)) {
		first = 80;
		last = 160;
	}
	y.low = plot_row_ns(first);
	y.high = plot_row_ns(last + 1);
	if (most > 1)
		colour_bar(16, most, out);
	for (uint32_t i = 0; i < p->nfiles; i++)
		panel(p, i, top + each * i, &y, most, out);
	fputs("</svg>\n", out);
}

void plot_svg(const struct plot *p, FILE *out)
{
	if (p->surface)
		surfaces(p, out);
	else
		histograms(p, out);
}

void plot_html(const struct plot *p, FILE *out)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>", out);
	html_name(out, p->what);
	fputs("</title>\n<style>body{margin:24px;background:#fff}svg{max-width:100%;height:auto}</"
	      "style>\n",
	      out);
	plot_svg(p, out);
	fputs("</html>\n", out);
}
