/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lengths of hiccups and intervals, all files one above the other: bars of Unicode block elements
 * on one logarithmic axis for all. And words and numbers that the tables share.
 *
 *   lengths                           1 us    10 us   100 us
 *     thread kworker/3:* > vmstat_update
 *       A  0.98/s  ▂▅█▃▁
 *       B       0
 */
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "base/units.h"
#include "model/report.h"
#include "render/diff.h"

#define LENGTHS_MAX 8 /* sources */
#define DOTS        "..."

const char *render_diff_who(const struct diff_row *r, char *buf, size_t len)
{
	char name[4 * DIFF_NAME], function[4 * 256];

	if (r->kind == SOURCE_THREAD && !r->rest)
		report_comm(r->name, r->kernel_thread, name, sizeof(name));
	else
		escape_text(r->name, sizeof(r->name), name, sizeof(name));
	escape_text(r->function ? r->function : "", SIZE_MAX, function, sizeof(function));
	snprintf(buf, len, "%s%s%s%s",
		 r->kind == SOURCE_IRQ && strspn(name, "0123456789") == strlen(name) ? "irq " : "",
		 name, r->function ? " > " : "", function);
	return buf;
}

const char *render_diff_number(double value, char *buf, size_t len)
{
	char text[32];
	double digit = value > 0 ? pow(10, floor(log10(value)) - 2) : 1;

	if (isnan(value))
		snprintf(buf, len, "-");
	else if (isinf(value))
		snprintf(buf, len, "inf");
	else if (value >= 999.5)
		snprintf(buf, len, "%s", format_count(nearest_whole(value), text, sizeof(text)));
	else if (value > 0 && value < 0.0005)
		snprintf(buf, len, "<0.001");
	else
		snprintf(buf, len, "%.4g",
			 value < 1 ? round(value * 1000) / 1000 : round(value / digit) * digit);
	return buf;
}

#define LABEL 17 /* columns before the bars */

/* Writes decades above their places; leaves out those that do not fit. */
static void write_axis(const struct diff *d, FILE *out)
{
	static const char *const decades[] = {"|10 ns",  "|100 ns", "|1 us",  "|10 us",
					      "|100 us", "|1 ms",   "|10 ms", "|100 ms",
					      "|1 s",    "|10 s",   "|100 s"};
	double span = log((double)d->high_ns / (double)d->low_ns), ns = 10;
	int column = 0;

	fprintf(out, "%*s", LABEL, "");
	for (size_t i = 0; i < sizeof(decades) / sizeof(decades[0]); i++, ns *= 10) {
		int at;

		if (ns < (double)d->low_ns || ns > (double)d->high_ns || !(span > 0))
			continue;
		at = (int)(DIFF_BINS * log(ns / (double)d->low_ns) / span);
		if (column && at <= column)
			continue;
		fprintf(out, "%*s%s", at - column, "", decades[i]);
		column = at + (int)strlen(decades[i]);
	}
	fputc('\n', out);
}

/* Writes the bars of all files on one scale. */
static void write_bars(const struct diff *d, FILE *out, const char *name,
		       const struct diff_cell *cell)
{
	static const char *const bar[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	double most = 0;
	char a[32];

	for (uint32_t k = 0; k < d->n; k++)
		for (unsigned i = 0; i < DIFF_BINS; i++)
			most = fmax(most, cell[k].bin[i] / d->seconds[k]);
	fprintf(out, "  %s\n", name);
	for (uint32_t k = 0; k < d->n; k++) {
		unsigned last = DIFF_BINS;

		while (last && !cell[k].bin[last - 1])
			last--;
		fprintf(out, "    %c %7s/s%s", 'A' + (int)k,
			render_diff_number(cell[k].runs_per_s, a, sizeof(a)), last ? "  " : "");
		for (unsigned i = 0; i < last; i++)
			fputs(bar[(unsigned)ceil(8 * sqrt(cell[k].bin[i] / d->seconds[k] / most))],
			      out);
		fputc('\n', out);
	}
}

void render_diff_lengths(const struct diff *d, unsigned width, FILE *out)
{
	uint32_t shown = d->rows < LENGTHS_MAX ? d->rows : LENGTHS_MAX;
	char text[DIFF_WHO], name[DIFF_WHO + 32];

	write_axis(d, out);
	write_bars(d, out, "all hiccups", d->total);
	for (uint32_t i = 0; i < shown; i++) {
		snprintf(name, sizeof(name), "%s %s", source_kind_name(d->row[i].kind),
			 render_diff_who(&d->row[i], text, sizeof(text)));
		if (text_columns(name) > width - 2)
			strcpy(name + text_fit(name, width - 2 - strlen(DOTS)), DOTS);
		write_bars(d, out, name, d->row[i].cell);
	}
	fprintf(out, "  (heights: the root of how often, on one scale for all files)\n");
}
