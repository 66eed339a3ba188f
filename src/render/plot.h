/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures of recordings: histograms or percentiles of several on top of each other, and for each
 * its values over time. As SVG, written by hand, in an HTML page, and as a script for gnuplot that
 * contains its data. All show the same. */
#ifndef CULPRIT_RENDER_PLOT_H
#define CULPRIT_RENDER_PLOT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/hist.h"

/* Values over time, as a grid that grows with the time: columns become twice as wide when they no
 * longer suffice. Rows are eighths of an octave. */
#define SURFACE_COLUMNS 240
#define SURFACE_ROWS    (64 * 8)

struct surface {
	uint64_t column_ns, columns; /* width of a column; number of columns in use */
	uint32_t cell[SURFACE_COLUMNS][SURFACE_ROWS];
};

void surface_init(struct surface *s);
void surface_add(struct surface *s, uint64_t at_ns, uint64_t value_ns);

struct plot_file {
	const char *path;
	char label[64];   /* as the recording was called; "": it was not */
	const char *name; /* by which it is shown: one of these; any bytes */
	bool redacted;    /* true: the names are left out, and `path` is `number`, "#2" */
	char number[12];
	struct hist hist; /* ns or ps; the caller owns it */
	bool fine;        /* ps */
	struct surface *surface;
	/* The window of the surface, and the length below which nothing is in it (0: all is). */
	uint64_t duration_ns, threshold_ns;
};

struct plot {
	const char *what;       /* "latency"; any bytes */
	struct plot_file *file; /* borrowed */
	uint32_t nfiles;
	bool log_x, log_y;
	bool surface;     /* values over time instead of histograms */
	bool percentiles; /* values by percentile instead of histograms */
};

/* True when the values of all files spread over so many decades that a linear axis would show the
 * most of them as one line. */
bool plot_spreads(const struct plot *p);

double plot_percentile(const struct plot_file *f, double p); /* ns */
double plot_ns(const struct plot_file *f, uint64_t value);   /* ns of a value of its histogram */

void plot_svg(const struct plot *p, FILE *out);
void plot_html(const struct plot *p, FILE *out);
void plot_gnuplot(const struct plot *p, FILE *out);
void plot_json(const struct plot *p, FILE *out); /* schema culprit.plot/1 */
void plot_table(const struct plot *p, unsigned width, bool colour, FILE *out); /* with bars */
void plot_bars(const struct plot *p, unsigned width, FILE *out);
/* By percentile, each line with its letter, which plot_bars writes, too. */
void plot_braille(const struct plot *p, unsigned width, FILE *out);
#define PLOT_LETTER(i) ((i) < 26 ? (char)('a' + (i)) : '+')

/* ---- shared by all forms ---- */

#define PLOT_BINS 160

/* Shares of the values, in percent, in equal steps of the x axis (of its logarithm). */
struct plot_bins {
	double low_ns, high_ns;     /* range of the axis */
	double (*share)[PLOT_BINS]; /* shares of each file; owned */
	double least, most;         /* range of the shares that are not 0 */
};

int plot_bins(const struct plot *p, struct plot_bins *b); /* 0 or -ENOMEM */
void plot_bins_free(struct plot_bins *b);
double plot_bin_ns(const struct plot *p, const struct plot_bins *b,
		   unsigned i); /* begin of bin i */

/* A point of a file's percentiles: how many values there are for each one that is larger, 1 / (1 -
 * share), and the largest of the others. They begin at 1 with the least value, and end at the
 * number of values with the largest. */
struct plot_point {
	double odds, ns;
};

/* All points of a file, n of them; the caller frees them. NULL: none, or out of memory. */
struct plot_point *plot_points(const struct plot_file *f, uint32_t *n);

/* Rows in use in any file's surface: [first, last]. False: none. */
bool plot_rows(const struct plot *p, unsigned *first, unsigned *last);
double plot_row_ns(unsigned row); /* lowest value of a row */

char *plot_time(double ns, char *buf, size_t len); /* "10 us": as short as possible */

#endif
