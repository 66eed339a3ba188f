/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A plot as a script for gnuplot, with its data in it. */
#include <stdlib.h>

#include "base/escape.h"
#include "render/plot.h"

/* Writes in double quotes, where gnuplot reads backslashes, and runs as a command what stands in
 * backquotes: those are written as numbers. */
static void quote(const char *name, FILE *out)
{
	char text[512];

	putc('"', out);
	for (const char *s = escape_text(name, SIZE_MAX, text, sizeof(text)); *s; s++) {
		if (*s == '"' || *s == '\\')
			putc('\\', out);
		fprintf(out, *s == '`' ? "\\140" : "%c", *s);
	}
	putc('"', out);
}

/* Plots the data of each file, already written, as a curve. style: gnuplot's word. */
static void write_curves(const struct plot *p, const char *style, FILE *out)
{
	if (p->log_y)
		fputs("set logscale y\n", out);
	for (uint32_t i = 0; i < p->nfiles; i++) {
		fprintf(out, "%s$file%u with %s linewidth 2 title ", i ? ", \\\n     " : "plot ", i,
			style);
		quote(p->file[i].name, out);
	}
	putc('\n', out);
}

static void gnuplot_histograms(const struct plot *p, FILE *out)
{
	struct plot_bins b;

	if (plot_bins(p, &b))
		return;
	for (uint32_t i = 0; i < p->nfiles; i++) {
		fprintf(out, "$file%u << EOD\n", i);
		for (unsigned k = 0; k < PLOT_BINS; k++)
			fprintf(out, "%.6g %.6g\n", plot_bin_ns(p, &b, k) / 1000, b.share[i][k]);
		fputs("EOD\n", out);
	}
	fputs("set xlabel \"us\"\nset ylabel \"% of the values\"\nset grid\n", out);
	if (p->log_x)
		fputs("set logscale x\n", out);
	write_curves(p, "steps", out);
	plot_bins_free(&b);
}

/* Writes one line for each file: 1 / (1 - share), value. */
static void gnuplot_percentiles(const struct plot *p, FILE *out)
{
	for (uint32_t i = 0; i < p->nfiles; i++) {
		uint32_t n;
		struct plot_point *point = plot_points(&p->file[i], &n);

		fprintf(out, "$file%u << EOD\n", i);
		for (uint32_t k = 0; k < n; k++)
			fprintf(out, "%.6g %.6g\n", point[k].odds, point[k].ns / 1000);
		fputs("EOD\n", out);
		free(point);
	}
	fputs("set xlabel \"percentile\"\nset ylabel \"us\"\nset grid\nset logscale x\n"
	      "set key left top\nset xtics (\"0 %%\" 1, \"90 %%\" 10, \"99 %%\" 100, \"99.9 %%\" "
	      "1e3, "
	      "\"99.99 %%\" 1e4, \"99.999 %%\" 1e5, \"99.9999 %%\" 1e6, \"99.99999 %%\" 1e7)\n",
	      out);
	write_curves(p, "lines", out);
}

/* Writes one surface for each file: time, value, count. */
static void gnuplot_surfaces(const struct plot *p, FILE *out)
{
	unsigned first, last;

	if (!plot_rows(p, &first, &last))
		return;
	for (uint32_t i = 0; i < p->nfiles; i++) {
		const struct surface *s = p->file[i].surface;

		fprintf(out, "$file%u << EOD\n", i);
		for (uint64_t k = 0; k < s->columns; k++) {
			for (unsigned row = first; row <= last; row++)
				fprintf(out, "%.6g %.6g %u\n", k * s->column_ns / 1e9,
					plot_row_ns(row) / 1000, s->cell[k][row]);
			putc('\n', out);
		}
		fputs("EOD\n", out);
	}
	fputs("set xlabel \"s\"\nset ylabel \"us\"\nset zlabel \"count\"\nset logscale y\nset "
	      "pm3d\nset hidden3d\n",
	      out);
	fprintf(out, "set multiplot layout %u,1\n", p->nfiles);
	for (uint32_t i = 0; i < p->nfiles; i++) {
		fputs("set title ", out);
		quote(p->file[i].name, out);
		fprintf(out, "\nsplot $file%u with pm3d notitle\n", i);
	}
	fputs("unset multiplot\n", out);
}

void plot_gnuplot(const struct plot *p, FILE *out)
{
	fputs("# gnuplot -p FILE shows it; set terminal and output above the plot to keep it\nset "
	      "title ",
	      out);
	quote(p->what, out);
	fputs(" noenhanced\nset key noenhanced\n", out);
	if (p->surface)
		gnuplot_surfaces(p, out);
	else if (p->percentiles)
		gnuplot_percentiles(p, out);
	else
		gnuplot_histograms(p, out);
}
