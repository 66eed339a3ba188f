/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a plot's pictures: for plot_svg.c and plot_surface.c alone. Places are in the SVG's
 * own units. */
#ifndef CULPRIT_RENDER_PLOT_PARTS_H
#define CULPRIT_RENDER_PLOT_PARTS_H

#include "render/plot.h"

#define WIDTH  960
#define LEFT   84 /* place of the drawing inside the picture */
#define RIGHT  32
#define LINE   20 /* height of a line of text */
#define HEIGHT 420

struct axis {
	double low, high;
	bool log;
	double from, to; /* ends inside the picture */
};

/* Begins the picture, with its styles and title. */
void svg_head(const struct plot *p, int height, FILE *out);
void svg_label(double x, double y, const char *class, const char *text, FILE *out);
/* Writes a file's name and its figures; a long name loses its front, because paths differ at their
 * ends. */
void svg_legend(const struct plot *p, uint32_t i, double x, double y, FILE *out);

double svg_place(const struct axis *a, double value);
/* The next tick after `value`, of about n; on a logarithmic axis 1, 2, 5, or only the powers of ten
 * when there are many. */
double svg_next_tick(const struct axis *a, double value, unsigned n);
double svg_first_tick(const struct axis *a, unsigned n);
void svg_x_tick(double x, double top, double bottom, const char *text, FILE *out);
void svg_y_tick(double y, const char *text, FILE *out);
void svg_frame(double top, double bottom, FILE *out);

void svg_surfaces(const struct plot *p, FILE *out);

#endif
