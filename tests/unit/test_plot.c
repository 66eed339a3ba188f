/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plots: shares that add up whatever the axes, values over time that survive a longer window, and
 * files whose names would be markup. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "render/plot.h"

#define HOSTILE "<script>&\"`\033[31m\xff.rec"

static struct plot make(unsigned nfiles)
{
	struct plot p = {
		.what = "latency", .file = calloc(nfiles, sizeof(*p.file)), .nfiles = nfiles};

	assert_non_null(p.file);

	for (unsigned i = 0; i < nfiles; i++) {
		p.file[i].path = p.file[i].name = i ? "b.rec" : HOSTILE;
		assert_int_equal(hist_init(&p.file[i].hist, 7), 0);
		for (uint64_t k = 1; k <= 1000; k++)
			hist_add(&p.file[i].hist, (i + 1) * k * 100);
	}
	return p;
}

static void drop(struct plot *p)
{
	for (unsigned i = 0; i < p->nfiles; i++) {
		hist_free(&p->file[i].hist);
		free(p->file[i].surface);
	}
	free(p->file);
}

static char *text_of(void (*write)(const struct plot *p, FILE *out), const struct plot *p)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	write(p, out);
	fclose(out);
	return text;
}

static double sum(const double *share)
{
	double all = 0;

	for (unsigned k = 0; k < PLOT_BINS; k++)
		all += share[k];
	return all;
}

static void shares(void **state)
{
	struct plot_bins b;
	struct plot p = make(2);

	(void)state;
	for (int log_x = 0; log_x < 2; log_x++) {
		p.log_x = log_x;
		assert_int_equal(plot_bins(&p, &b), 0);
		assert_true(fabs(sum(b.share[0]) - 100) < 0.01 &&
			    fabs(sum(b.share[1]) - 100) < 0.01);
		assert_true(plot_bin_ns(&p, &b, PLOT_BINS) >= 200000 &&
			    plot_bin_ns(&p, &b, 0) <= 100);
		plot_bins_free(&b);
	}
	/* Values that are spread evenly are so in the picture: 0.1 to 100 us of an axis that ends
	 * at 204 us. */
	p.log_x = false;
	assert_int_equal(plot_bins(&p, &b), 0);
	for (unsigned k = 2; k < 70; k++)
		assert_true(fabs(b.share[0][k] - 100 * (b.high_ns / PLOT_BINS) / 100000) < 0.25);
	plot_bins_free(&b);
	drop(&p);
}

/* One wait of 10 s among values of 1 us is on each axis; nobody gets the linear one unasked. */
static void tail(void **state)
{
	struct plot_bins b;
	struct plot p = make(1);

	(void)state;
	hist_add(&p.file[0].hist, 10000000000);
	for (int log = 0; log < 2; log++) {
		p.log_x = log;
		assert_int_equal(plot_bins(&p, &b), 0);
		assert_true(b.high_ns > 1e10);
		assert_true(fabs(sum(b.share[0]) - 100) < 0.01);
		plot_bins_free(&b);
	}
	assert_true(plot_spreads(&p));
	drop(&p);
}

/* In a terminal each line ends with its letter, the larger values above the others; no line is
 * longer than the page. */
static void braille(void **state)
{
	struct plot p = make(2);
	char *text = NULL, *b, *a;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	assert_non_null(out);
	plot_braille(&p, 60, out);
	fclose(out);
	b = strchr(text, 'b');
	a = strchr(text, 'a');
	assert_true(b && a && b < a);
	assert_non_null(strstr(text, "|0 %"));
	assert_non_null(strstr(text, "|99 %"));
	assert_null(strstr(text, "99.99 %"));
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(text_columns(line) <= 60);
	free(text);
	hist_reset(&p.file[0].hist);
	hist_reset(&p.file[1].hist);
	out = open_memstream(&text, &len);
	plot_braille(&p, 60, out);
	fclose(out);
	assert_string_equal(text, "");
	free(text);
	drop(&p);
}

/* Lines of one end have their letters, all of them; bars within one decade, or of one value, their
 * legend and the ends of their axis. */
static void alike(void **state)
{
	struct plot p = make(4);
	char *text = NULL;
	size_t len;
	FILE *out;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		hist_reset(&p.file[i].hist);
		hist_add_n(&p.file[i].hist, 2500, 1000);
		p.file[i].name = "a name";
	}
	for (unsigned columns = 30; columns < 120; columns++) {
		out = open_memstream(&text, &len);
		assert_non_null(out);
		plot_braille(&p, columns, out);
		fclose(out);
		for (char c = 'a'; c < 'e'; c++)
			assert_non_null(strchr(text, c));
		free(text);
	}
	out = open_memstream(&text, &len);
	assert_non_null(out);
	plot_bars(&p, 80, out);
	fclose(out);
	assert_non_null(strstr(text, "\n  |2.5 us\n"));
	assert_non_null(strstr(text, "  a  a name\n"));
	assert_non_null(strstr(text, "  d  a name\n"));
	free(text);
	hist_add_n(&p.file[3].hist, 3500, 10);
	out = open_memstream(&text, &len);
	assert_non_null(out);
	plot_bars(&p, 80, out);
	fclose(out);
	assert_non_null(strstr(text, "\n  |2.5 us "));
	assert_non_null(strstr(text, " 3.5 us|\n"));
	free(text);
	drop(&p);
}

/* A value beyond the largest that the file tells stands in the last column. */
static void beyond(void **state)
{
	struct plot p = make(1);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	assert_non_null(out);
	hist_reset(&p.file[0].hist);
	hist_add_n(&p.file[0].hist, 1000, 1);
	hist_fill(&p.file[0].hist, hist_index(&p.file[0].hist, 1ULL << 63), 1);
	plot_bars(&p, 80, out);
	fclose(out);
	assert_non_null(strstr(text, "\n  █  "));
	assert_non_null(strstr(text, "  █  a  <script>"));
	assert_int_equal(text_columns(strstr(text, "█")) - text_columns(strstr(text, "  a  <")),
			 60);
	free(text);
	drop(&p);
}

/* Each point of the percentiles: as many values are larger as it says. */
static void percentiles(void **state)
{
	struct plot p = make(2);
	struct plot_point *point;
	uint32_t n;
	char *text;

	(void)state;
	point = plot_points(&p.file[0], &n);
	assert_non_null(point);
	assert_true(point[0].odds == 1 && point[0].ns == 100);
	assert_true(point[n - 1].odds == 1000 && point[n - 1].ns == 100000);
	for (uint32_t k = 1; k + 1 < n; k++) {
		double larger = 1000 - floor(point[k].ns / 100);

		assert_true(fabs(point[k].odds * larger - 1000) < 1e-6);
		assert_true(point[k].odds > point[k - 1].odds);
		assert_true(point[k].ns > point[k - 1].ns || (k == 1 && point[k].ns == 100));
	}
	free(point);
	assert_false(plot_spreads(&(struct plot){.file = p.file, .nfiles = 0}));
	p.percentiles = true;
	text = text_of(plot_svg, &p);
	for (const char *const *tick =
		     (const char *const[]){">0 %<", ">90 %<", ">99 %<", ">99.9 %<", NULL};
	     *tick; tick++)
		assert_non_null(strstr(text, *tick));
	assert_null(strstr(text, "99.99 %"));
	free(text);
	hist_reset(&p.file[0].hist);
	hist_reset(&p.file[1].hist);
	text = text_of(plot_svg, &p);
	assert_null(strstr(text, "nan"));
	assert_null(strstr(text, "inf"));
	free(text);
	drop(&p);
}

/* Histograms of picoseconds are drawn in nanoseconds. */
static void fine(void **state)
{
	struct plot_bins b;
	struct plot p = make(1);

	(void)state;
	p.file[0].fine = true;
	assert_int_equal(plot_bins(&p, &b), 0);
	assert_true(b.high_ns < 110 && fabs(sum(b.share[0]) - 100) < 0.01);
	assert_true(plot_percentile(&p.file[0], 50) > 49 && plot_percentile(&p.file[0], 50) < 51);
	plot_bins_free(&b);
	drop(&p);
}

/* No values, or all the same: axes all the same. */
static void edges(void **state)
{
	struct plot p = make(1);
	char *text;

	(void)state;
	for (int same = 0; same < 2; same++)
		for (int log = 0; log < 4; log++) {
			hist_reset(&p.file[0].hist);
			if (same)
				hist_add_n(&p.file[0].hist, 777, 5);
			p.log_x = log & 1;
			p.log_y = log & 2;
			text = text_of(plot_svg, &p);
			assert_null(strstr(text, "nan"));
			assert_null(strstr(text, "inf"));
			assert_int_equal(!strstr(text, "no values"), same);
			free(text);
		}
	drop(&p);
}

static uint64_t all_cells(const struct surface *s)
{
	uint64_t all = 0;

	for (unsigned k = 0; k < SURFACE_COLUMNS; k++)
		for (unsigned row = 0; row < SURFACE_ROWS; row++)
			all += s->cell[k][row];
	return all;
}

static void over_time(void **state)
{
	struct plot p = make(1);
	struct surface *s = malloc(sizeof(*s));
	unsigned first, last;

	(void)state;
	assert_non_null(s);
	p.file[0].surface = s;
	surface_init(s);
	assert_false(plot_rows(&p, &first, &last));
	for (uint64_t i = 0; i < 1000; i++)
		surface_add(s, i * 1000000, i == 700 ? 5000000 : 1000);
	assert_int_equal(all_cells(s), 1000);
	assert_true(s->columns > SURFACE_COLUMNS / 4 && s->columns <= SURFACE_COLUMNS);
	assert_true(s->columns * s->column_ns >= 999000000);
	assert_true(plot_rows(&p, &first, &last));
	assert_true(plot_row_ns(first) <= 1000 && plot_row_ns(first + 1) > 1000);
	assert_true(plot_row_ns(last) <= 5000000 && plot_row_ns(last + 1) > 5000000);
	assert_int_equal(s->cell[700000000 / s->column_ns][last], 1); /* when it was */
	surface_add(s, 366ULL * 86400 * 1000000000, 0);
	assert_int_equal(all_cells(s), 1001);
	surface_add(s, 0, UINT64_MAX);
	assert_int_equal(all_cells(s), 1002);
	drop(&p);
}

/* Nothing of a name is markup, nothing drives a terminal, in any form. */
static void names(void **state)
{
	static void (*const forms[])(const struct plot *, FILE *) = {plot_svg, plot_html,
								     plot_gnuplot, plot_json};
	struct plot p = make(2);
	char *text;

	(void)state;
	for (int surface = 0; surface < 2; surface++) {
		p.surface = surface;
		for (unsigned i = 0; surface && i < p.nfiles; i++) {
			p.file[i].surface = malloc(sizeof(struct surface));
			assert_non_null(p.file[i].surface);
			surface_init(p.file[i].surface);
			surface_add(p.file[i].surface, 5, 1000);
		}
		for (unsigned i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
			text = text_of(forms[i], &p);
			assert_true(strlen(text) > 250);
			assert_null(strchr(text, '\033'));
			assert_null(strchr(text, '\xff'));
			assert_true(i > 1 || !strstr(text, "<script>"));
			assert_non_null(strstr(text, "b.rec"));
			free(text);
		}
	}
	text = text_of(plot_gnuplot, &p);
	assert_null(strchr(text, '`')); /* gnuplot runs what stands in two */
	assert_non_null(strstr(text, "set title \"<script>&\\\"\\140\\\\x1b[31m\\\\xff.rec\""));
	free(text);
	drop(&p);
}

static void table(void **state)
{
	struct plot p = make(2);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	assert_non_null(out);
	plot_table(&p, 100, false, out);
	fclose(out);
	text[strstr(text, "\n\n") + 1 - text] = '\0'; /* the bars: tests/cli */
	assert_string_equal(
		text, "latency\n"
		      "  count     min   median      p90      p99   p99.9     max  of each file\n"
		      "  1,000  100 ns  50.2 us  90.1 us  99.3 us  100 us  100 us  "
		      "<script>&\"`\\x1b[31m\\xff.rec\n"
		      "  1,000  200 ns   100 us   180 us   199 us  200 us  200 us  b.rec\n");
	free(text);
	drop(&p);
}

static void times(void **state)
{
	char text[32];

	(void)state;
	assert_string_equal(plot_time(0, text, sizeof(text)), "0");
	assert_string_equal(plot_time(10, text, sizeof(text)), "10 ns");
	assert_string_equal(plot_time(999.9, text, sizeof(text)), "1 us");
	assert_string_equal(plot_time(2.5e6, text, sizeof(text)), "2.5 ms");
	assert_string_equal(plot_time(3e9, text, sizeof(text)), "3 s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares),      cmocka_unit_test(tail),  cmocka_unit_test(braille),
		cmocka_unit_test(percentiles), cmocka_unit_test(fine),  cmocka_unit_test(edges),
		cmocka_unit_test(over_time),   cmocka_unit_test(names), cmocka_unit_test(table),
		cmocka_unit_test(times),       cmocka_unit_test(alike), cmocka_unit_test(beyond),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
