/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In the text report, the values of a workload:
 *
 *      count      min     mean   median      p90      p99    p99.9      max      mad
 *      2,000  12.1 us  37.2 us  34.8 us  51.0 us  98.3 us   412 us  2.20 ms  3.10 us  latency
 *
 * When each series has a threshold of its own, the number of longer windows replaces a percentile:
 *
 *      count      min   median      p90      p99      max      mad  longer     than  of each
 *      3,540   113 ns   125 ns   129 ns   181 ns  57.6 us  7.68 ns      14  1.28 us  invalid
 *
 * wide adds p20 and p80, and has neither of these two; long has a column for each series, with all
 * figures of a latency's tail, "-" where there are too few values for one. On a narrow page wide
 * has columns, too, the first of these tables has no mean, and p90, min, mad and than give room to
 * names.
 */
#include <string.h>

#include "base/escape.h"
#include "base/table.h"
#include "base/units.h"
#include "model/report.h"
#include "render/text.h"

#define UNITS(fine) ((fine) ? 1000 : 1)

/* "0.34 ns", "24.1 ns", and as all times from 100 ns on. */
static void value_cell(struct table *t, const struct series *s, uint64_t value)
{
	char text[32];

	table_cell(t, NULL,
		   s->fine ? format_ps(value, text, sizeof(text))
			   : format_ns(value, text, sizeof(text)));
}

/* The figure of a cell: a percentile, or one of these. */
enum { COUNT = -1, MIN = -2, MEAN = -3, MAX = -4, MAD = -5, LONGER = -6, THAN = -7 };

struct figure {
	const char *heading;
	double what;
};

#define MOST_FIGURES 12
#define ALL_FIGURES  100 /* columns of a page that has room for all figures */
static const struct figure one_threshold[] = {
	{"count", COUNT}, {"min", MIN},    {"mean", MEAN}, {"median", 50}, {"p90", 90},
	{"p99", 99},      {"p99.9", 99.9}, {"max", MAX},   {"mad", MAD},   {0}};
static const struct figure several_thresholds[] = {
	{"count", COUNT}, {"min", MIN}, {"median", 50},     {"p90", 90},    {"p99", 99},
	{"max", MAX},     {"mad", MAD}, {"longer", LONGER}, {"than", THAN}, {0}};
static const struct figure wide[] = {{"count", COUNT}, {"min", MIN}, {"p20", 20}, {"median", 50},
				     {"p80", 80},      {"p90", 90},  {"p99", 99}, {"p99.9", 99.9},
				     {"max", MAX},     {"mad", MAD}, {0}};
#define WIDE_FIGURES (sizeof(wide) / sizeof(wide[0]) - 1)
static const struct figure all[] = {{"count", COUNT},     {"mean", MEAN},   {"min", MIN},
				    {"50", 50},           {"90", 90},       {"99", 99},
				    {"99.9", 99.9},       {"99.99", 99.99}, {"99.999", 99.999},
				    {"99.9999", 99.9999}, {"max", MAX},     {0}};

/* several: MAX includes operations that were timed without being a value. */
static void figure_cell(struct table *t, const struct series *s, double what, bool several)
{
	uint64_t max = s->hist.max, longest = s->longest_ns * UNITS(s->fine);
	char text[32] = "";

	if (what == COUNT)
		table_cell(t, NULL, format_count(s->hist.count, text, sizeof(text)));
	else if (what == MIN)
		value_cell(t, s, s->hist.min);
	else if (what == MEAN)
		value_cell(t, s, hist_mean(&s->hist) + 0.5);
	else if (what == MAX)
		value_cell(t, s, several && longest > max ? longest : max);
	else if (what == MAD)
		value_cell(t, s, hist_mad(&s->hist));
	else if (what == LONGER)
		table_cell(t, NULL,
			   s->threshold_ns ? format_count(s->longer, text, sizeof(text)) : "");
	else if (what == THAN)
		table_cell(t, NULL,
			   s->threshold_ns ? format_ns(s->threshold_ns, text, sizeof(text)) : "");
	else if (what > 99.9 && !hist_reaches(&s->hist, what))
		table_cell(t, NULL, "-");
	else
		value_cell(t, s, hist_percentile(&s->hist, what));
}

static void name_cell(struct table *t, const struct series *s)
{
	char name[4 * SERIES_NAME + 8];

	table_cell(t, "1", escape_text(s->name, sizeof(s->name), name, sizeof(name)));
}

#define TIME_COLUMNS 7 /* those of the longest time, with its unit */

static size_t longest_word(const struct series *s)
{
	size_t most = 0, len = 0;

	for (size_t i = 0; i < SERIES_NAME && s->name[i]; i++) {
		len = s->name[i] == ' ' ? 0 : len + 1;
		most = len > most ? len : most;
	}
	return most;
}

/* The most columns that a row of so many figures takes; broken: with names broken between words. */
static size_t row_columns(const struct cpu *c, unsigned figures, bool broken)
{
	size_t count = strlen("count"), name = strlen("of each");
	char text[32];

	for (uint32_t i = 0; i < c->nseries; i++) {
		const struct series *s = &c->series[i];
		size_t len = strlen(format_count(s->hist.count, text, sizeof(text)));
		size_t named = broken ? longest_word(s) : strnlen(s->name, SERIES_NAME);

		if (!s->hist.count)
			continue;
		count = len > count ? len : count;
		name = named > name ? named : name;
	}
	return 2 + count + (figures - 1) * (2 + TIME_COLUMNS) + 2 + name;
}

/* Chooses the figures that a page has room for: NULL ends them. On a narrow page some are left out
 * for the others, and then more so that names are broken between words alone. */
static void choose(const struct figure *from, const struct cpu *c, unsigned width,
		   const struct figure *chosen[MOST_FIGURES])
{
	static const double spare[] = {90, MIN, MAD, THAN};
	bool narrow = width < ALL_FIGURES && from != wide;
	unsigned n = 0, k;

	width += from == several_thresholds; /* "longer" is narrower than a time */
	for (const struct figure *f = from; f->heading; f++)
		if (!narrow || (f->what != MEAN && (from != several_thresholds || f->what != MAD)))
			chosen[n++] = f;
	for (size_t i = 0; narrow && i < sizeof(spare) / sizeof(spare[0]); i++) {
		if (row_columns(c, n, true) <= width)
			break;
		for (k = 0; k < n && chosen[k]->what != spare[i];)
			k++;
		if (k < n)
			memmove(&chosen[k], &chosen[k + 1], (--n - k) * sizeof(chosen[0]));
	}
	chosen[n] = NULL;
}

static void fill_rows(struct table *t, const struct cpu *c, const struct figure *figure,
		      unsigned width)
{
	const struct figure *chosen[MOST_FIGURES];

	choose(figure, c, width, chosen);
	for (const struct figure **f = chosen; *f; f++)
		table_column(t, (*f)->heading, ALIGN_RIGHT, false);
	table_column(t, "of each", ALIGN_LEFT,
		     figure != wide); /* elastic except where names differ in their last words */
	for (uint32_t i = 0; i < c->nseries; i++) {
		const struct series *s = &c->series[i];

		if (!s->hist.count)
			continue;
		for (const struct figure **f = chosen; *f; f++)
			figure_cell(t, s, (*f)->what, figure == several_thresholds);
		name_cell(t, s);
		table_end_row(t);
	}
}

/* Writes series as columns, `some` from the first on; returns the first one after them. */
static uint32_t fill_columns(struct table *t, const struct cpu *c, const struct figure *figure,
			     uint32_t first, uint32_t some)
{
	uint32_t n = 0, last = first;

	table_column(t, NULL, ALIGN_LEFT, false);
	for (; last < c->nseries && n < some; last++)
		if (c->series[last].hist.count) {
			table_column(t, NULL, ALIGN_RIGHT, false);
			n++;
		}
	table_cell(t, NULL, "");
	for (uint32_t i = first; i < last; i++)
		if (c->series[i].hist.count)
			name_cell(t, &c->series[i]);
	table_end_row(t);
	for (const struct figure *f = figure; f->heading; f++) {
		table_cell(t, NULL, f->heading);
		for (uint32_t i = first; i < last; i++)
			if (c->series[i].hist.count)
				figure_cell(t, &c->series[i], f->what, false);
		table_end_row(t);
	}
	return last;
}

#define COLUMNS 4

void text_series(const struct page *p, const struct cpu *c)
{
	const struct figure *down =
		p->series == SERIES_LONG                                                     ? all
		: p->series == SERIES_WIDE && p->width < row_columns(c, WIDE_FIGURES, false) ? wide
											     : NULL;
	uint32_t next = 0;

	if (!series_first(c->series, c->nseries))
		return;
	do {
		struct table *t = table_new(p->width, 2);

		if (!t)
			return;
		if (down)
			next = fill_columns(t, c, down, next, COLUMNS);
		else
			fill_rows(t, c,
				  p->series == SERIES_WIDE ? wide
				  : series_thresholds(c->series, c->nseries) > 1
					  ? several_thresholds
					  : one_threshold,
				  p->width);
		table_print(t, p->out, p->colour);
		table_free(t);
	} while (down && next < c->nseries);
}

/* ---- of CPUs that are alike ---- */

static void group_cell(struct table *t, const struct group_series *s, double value)
{
	value_cell(t, s->one, value);
}

#define NARROW 80 /* a page without room for the CPU of the longest */

void text_group_series(const struct page *p, const struct cpu_group *g)
{
	static const char *const headings[] = {"count", "median", "to", "p99 up to", "max"};
	struct table *t;
	char text[32], lane[REPORT_CPUS];

	if (!g->nseries)
		return;
	t = table_new(p->width, 2);
	if (!t)
		return;
	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++)
		table_column(t, headings[i], ALIGN_RIGHT, false);
	if (p->width >= NARROW)
		table_column(t, "at", ALIGN_LEFT, false);
	table_column(t, "of each", ALIGN_LEFT, true);
	for (uint32_t i = 0; i < g->nseries; i++) {
		const struct group_series *s = &g->series[i];

		table_cell(t, NULL, format_count(s->count, text, sizeof(text)));
		group_cell(t, s, s->median.least);
		group_cell(t, s, s->median.most);
		group_cell(t, s, s->p99.most);
		group_cell(t, s, s->max.most);
		if (p->width >= NARROW)
			table_cell(t, DIM, report_lane(p->view, s->max.lane, lane));
		name_cell(t, s->one);
		table_end_row(t);
	}
	table_print(t, p->out, p->colour);
	table_free(t);
}
