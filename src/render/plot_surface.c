/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values over time as a heat map, one panel for each file; the colours are viridis. */
#include <inttypes.h>
#include <math.h>

#include "render/plot_parts.h"

#define PANEL 230 /* height */

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

static void cells(const struct plot *p, uint32_t file, const struct axis *x, const struct axis *y,
		  uint32_t most, FILE *out)
{
	const struct surface *s = p->file[file].surface;
	char colour[8];

	fprintf(out, "<g class=\"f%" PRIu32 "\" shape-rendering=\"crispEdges\">\n", file);
	for (uint64_t k = 0; k < s->columns; k++)
		for (unsigned row = 0; row < SURFACE_ROWS; row++) {
			double left = svg_place(x, k * s->column_ns),
			       right = fmin(svg_place(x, (k + 1) * s->column_ns), x->to);
			double bottom = svg_place(y, plot_row_ns(row)),
			       top = svg_place(y, plot_row_ns(row + 1));

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
	svg_label(left - 8, y + 11, "figures", "values in a field: 1", out);
	snprintf(text, sizeof(text), "%" PRIu32, most);
	svg_label(left + width + 8, y + 11, "name", text, out);
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
	svg_legend(p, i, LEFT, top + 14, out);
	for (double v = svg_first_tick(&x, 8); v <= x.high * (1 + 1e-9);
	     v = svg_next_tick(&x, v, 8))
		svg_x_tick(svg_place(&x, v), y.to, y.from, plot_time(v, text, sizeof(text)), out);
	for (double v = svg_first_tick(&y, 5); v <= y.high * (1 + 1e-9);
	     v = svg_next_tick(&y, v, 5))
		svg_y_tick(svg_place(&y, v), plot_time(v, text, sizeof(text)), out);
	cells(p, i, &x, &y, most, out);
	svg_frame(y.to, y.from, out);
	if (!f->threshold_ns)
		return;
	snprintf(note, sizeof(note),
		 "a recording keeps when those came that were longer than its threshold, %s",
		 plot_time(f->threshold_ns, text, sizeof(text)));
	svg_label(LEFT, y.from + 36, "small", note, out);
}

void svg_surfaces(const struct plot *p, FILE *out)
{
	uint32_t most = most_in_a_cell(p);
	double top = 58, each = LINE + PANEL + 58;
	struct axis y = {.log = true};
	unsigned first, last;

	svg_head(p, top + each * p->nfiles, out);
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
