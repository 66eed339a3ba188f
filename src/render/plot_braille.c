/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Percentiles in a terminal, as lines of braille dots, each of which ends with the letter that
 * stands before its bars. The x axis is 1 / (1 - share), logarithmic, as in the other pictures.
 *
 *    100 us                        ⣀⡠⠤⠒⠒a
 *   31.6 us         ⢀⣀⣀⠤⠤⠒⠒⠉⠉⠉
 *     10 us ⣀⣀⠤⠤⠒⠒⠉⠉
 *           |0 %      |90 %    |99 %
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/plot.h"

#define ROWS    10 /* characters; a character has 2 x 4 dots */
#define COLUMNS 100
#define LABEL   11 /* columns before the drawing */

struct canvas {
	unsigned columns;
	double odds, low, high; /* ends of the axes */
	bool log;               /* the y axis */
	unsigned char dots[ROWS][COLUMNS];
	char letter[ROWS][COLUMNS + 1]; /* end of a line */
};

static void set_axes(struct canvas *c, const struct plot *p)
{
	c->odds = 10;
	c->low = INFINITY;
	for (uint32_t i = 0; i < p->nfiles; i++) {
		const struct plot_file *f = &p->file[i];

		if (!f->hist.count)
			continue;
		c->odds = fmax(c->odds, f->hist.count);
		c->low = fmin(c->low, fmax(plot_ns(f, f->hist.min), 0.01));
		c->high = fmax(c->high, plot_ns(f, f->hist.max));
	}
	c->log = c->high > 10 * c->low;
	if (!c->log)
		c->low = c->low > c->high / 2 ? c->low * 0.9 : 0;
	if (!(c->high > c->low))
		c->high = c->low + 1;
}

/* Dots from the left, and from the top. */
static double x_of(const struct canvas *c, double odds)
{
	return (2 * c->columns - 1) * log(odds) / log(c->odds);
}

static double y_of(const struct canvas *c, double ns)
{
	double share = c->log ? log(fmax(ns, c->low) / c->low) / log(c->high / c->low)
			      : (ns - c->low) / (c->high - c->low);

	return (4 * ROWS - 1) * (1 - fmin(fmax(share, 0), 1));
}

static void set_dot(struct canvas *c, unsigned x, unsigned y)
{
	static const unsigned char bit[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};

	c->dots[y / 4][x / 2] |= bit[y % 4][x % 2];
}

/* Lines may end at one place: then on the right of the letters there, and on their left where the
 * drawing ends. */
static void put_letter(struct canvas *c, unsigned column, unsigned row, char letter)
{
	unsigned at = column;

	while (at <= c->columns && c->letter[row][at])
		at++;
	if (at > c->columns)
		for (at = column; at && c->letter[row][at];)
			at--;
	if (!c->letter[row][at])
		c->letter[row][at] = letter;
}

static void draw_line(struct canvas *c, const struct plot_file *f, char letter)
{
	uint32_t n;
	struct plot_point *point = plot_points(f, &n);
	double x = 0, y = n ? y_of(c, point[0].ns) : 0;

	for (uint32_t k = 0; k < n; k++) {
		double to_x = x_of(c, point[k].odds), to_y = y_of(c, point[k].ns),
		       steps = ceil(fmax(fmax(fabs(to_x - x), fabs(to_y - y)), 1));

		for (double i = 0; i <= steps; i++)
			set_dot(c, x + (to_x - x) * i / steps + 0.5,
				y + (to_y - y) * i / steps + 0.5);
		x = to_x;
		y = to_y;
	}
	if (n)
		put_letter(c, (x + 0.5) / 2 + 1, (unsigned)(y + 0.5) / 4, letter);
	free(point);
}

/* Value in the middle of a row. */
static double row_ns(const struct canvas *c, unsigned row)
{
	double share = 1 - (4 * row + 1.5) / (4 * ROWS - 1);

	return c->log ? c->low * pow(c->high / c->low, share) : c->low + share * (c->high - c->low);
}

static void write_row(const struct canvas *c, unsigned row, FILE *out)
{
	unsigned end = c->columns + 1;
	char label[32] = "";

	while (end && !c->letter[row][end - 1] && (end > c->columns || !c->dots[row][end - 1]))
		end--;
	if (row % 3 == 0)
		plot_time(row_ns(c, row), label, sizeof(label));
	fprintf(out, "%*s%s", LABEL - 1, label, end ? " " : "");
	for (unsigned i = 0; i < end; i++) {
		unsigned code = 0x2800 + (i < c->columns ? c->dots[row][i] : 0);

		if (c->letter[row][i])
			putc(c->letter[row][i], out);
		else if (code == 0x2800)
			putc(' ', out);
		else
			fprintf(out, "%c%c%c", 0xe0 | code >> 12, 0x80 | (code >> 6 & 0x3f),
				0x80 | (code & 0x3f));
	}
	putc('\n', out);
}

/* As the field writes them: 0 %, 90 %, 99 %, 99.9 %, ... as far as they have room. */
static void write_shares(const struct canvas *c, FILE *out)
{
	unsigned column = 0;
	int digits = -1;
	char text[32];

	fprintf(out, "%*s", LABEL, "");
	for (double odds = 1; odds <= c->odds * (1 + 1e-9); odds *= 10, digits++) {
		unsigned at = x_of(c, odds) / 2 + 0.5,
			 len = snprintf(text, sizeof(text), "|%.*f %%", digits > 1 ? digits - 1 : 0,
					odds > 1 ? 100 - 100 / odds : 0);

		if ((column && at <= column) || at + len > c->columns + 2)
			continue;
		fprintf(out, "%*s%s", at - column, "", text);
		column = at + len;
	}
	putc('\n', out);
}

void plot_braille(const struct plot *p, unsigned width, FILE *out)
{
	struct canvas *c = calloc(1, sizeof(*c));
	uint32_t some = 0;

	for (uint32_t i = 0; i < p->nfiles; i++)
		some += p->file[i].hist.count != 0;
	if (c && some) {
		c->columns = width > LABEL + COLUMNS + 2 ? COLUMNS - 1 : width - LABEL - 3;
		set_axes(c, p);
		for (uint32_t i = 0; i < p->nfiles; i++)
			if (p->file[i].hist.count)
				draw_line(c, &p->file[i], PLOT_LETTER(i));
		putc('\n', out);
		for (unsigned row = 0; row < ROWS; row++)
			write_row(c, row, out);
		write_shares(c, out);
	}
	free(c);
}
