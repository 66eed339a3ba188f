/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A plot in a terminal: histograms as bars of block elements, on one logarithmic axis for all
 * files. Heights are the root of the share, so that a tail shows beside the bulk.
 *
 *                      |100 us                 |1 ms
 *     ▂▃▄▅▆▆▇▇██▇▅▃▃▃▂▂▂▂▂▂▂▂▁ ▂▂▁   ▁ ▂▂▁▁▂▂▁▂▁▂▂▂▂▁▂▂▂  ▃ ▂▂▁▂ ▁  a  before.rec
 *     ▃▄▆▇████▇▆▃▃▂▂▂▂▂▂▁▁▁      ▁ ▁    ▁                           b  after.rec
 */
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "render/plot.h"

#define BARS 60 /* columns, fewer where the page is narrow */

/* Without a power of ten between its ends an axis has them. */
static void write_ends(double low, double high, unsigned columns, FILE *out)
{
	char first[32], last[32];

	plot_time(low, first, sizeof(first));
	plot_time(high, last, sizeof(last));
	if (high > low)
		fprintf(out, "|%-*s%s|", (int)(columns - strlen(last) - 2), first, last);
	else
		fprintf(out, "|%s", first);
}

/* Writes an axis of decades: "|10 us   |100 us", as far as they fit. */
static void write_decades(double low, double high, double span, unsigned columns, FILE *out)
{
	unsigned column = 0;
	char text[32];

	fputs("  ", out);
	for (double ns = pow(10, ceil(log10(low) - 1e-9)); ns <= high * (1 + 1e-9); ns *= 10) {
		unsigned at = columns * log(ns / low) / span, len;

		len = snprintf(text, sizeof(text), "|%g %s",
			       ns < 999.9     ? ns
			       : ns < 999.9e3 ? ns / 1e3
			       : ns < 999.9e6 ? ns / 1e6
					      : ns / 1e9,
			       ns < 999.9     ? "ns"
			       : ns < 999.9e3 ? "us"
			       : ns < 999.9e6 ? "ms"
					      : "s");
		if ((column && at <= column) || at + len > columns + 8)
			continue;
		fprintf(out, "%*s%s", at - column, "", text);
		column = at + len;
	}
	if (!column)
		write_ends(low, high, columns, out);
	putc('\n', out);
}

void plot_bars(const struct plot *p, unsigned width, FILE *out)
{
	static const char *const bar[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	unsigned columns = width > BARS + 19 ? BARS : width - 19;
	double low = INFINITY, high = 0, span, share[BARS];
	char text[512];

	for (uint32_t i = 0; i < p->nfiles; i++)
		if (p->file[i].hist.count) {
			low = fmin(low, fmax(plot_ns(&p->file[i], p->file[i].hist.min), 0.01));
			high = fmax(high, plot_ns(&p->file[i], p->file[i].hist.max));
		}
	if (high <= 0)
		return;
	/* One value alone stands at the begin of an octave. */
	span = (high > low ? log(high / low) : log(2)) * 1.001;
	putc('\n', out);
	write_decades(low, high, span, columns, out);
	for (uint32_t i = 0; i < p->nfiles; i++) {
		const struct hist *h = &p->file[i].hist;
		double most = 0;

		memset(share, 0, sizeof(share));
		for (uint32_t k = hist_next(h, 0); k < h->nbuckets; k = hist_next(h, k + 1)) {
			double ns = fmax(plot_ns(&p->file[i], hist_lowest(h, k)), low);
			unsigned at = fmin(columns * log(ns / low) / span, columns - 1);

			share[at] += hist_at(h, k);
			most = fmax(most, share[at]);
		}
		fputs("  ", out);
		for (unsigned k = 0; k < columns; k++)
			fputs(bar[(unsigned)(most > 0 ? ceil(8 * sqrt(share[k] / most)) : 0)], out);
		escape_text(p->file[i].name, SIZE_MAX, text, sizeof(text));
		text[text_fit(text, width - columns - 7)] = '\0';
		fprintf(out, "  %c  %s\n", PLOT_LETTER(i), text);
	}
	fputs("  (heights: the root of how many, each file by itself)\n", out);
}
