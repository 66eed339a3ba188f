/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text tables to the byte: alignment, the elastic columns' order and floor, blanks that must not
 * trail, styles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/table.h"

/* Prints and frees the table; compares. */
static void check_table(struct table *t, bool colour, const char *want)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	table_print(t, out, colour);
	fclose(out);
	table_free(t);
	assert_string_equal(text, want);
	free(text);
}

static struct table *sources(unsigned width, unsigned indent)
{
	struct table *t = table_new(width, indent);

	assert_non_null(t);
	table_column(t, "source", ALIGN_LEFT, true);
	table_column(t, "time", ALIGN_RIGHT, false);
	table_column(t, "what it is", ALIGN_LEFT, true);
	table_cell(t, NULL, "timer interrupt");
	table_cell(t, "1", "412 us");
	table_cell(t, NULL, "the scheduler's tick");
	table_end_row(t);
	table_cell(t, "31", "nvme0q1");
	table_cellf(t, NULL, "%.1f ms", 12.25);
	table_cell(t, NULL, "disk");
	table_end_row(t);
	return t;
}

static struct table *cut(struct table *t)
{
	table_cut(t);
	return t;
}

static void test_columns_are_as_wide_as_their_cells(void **state)
{
	(void)state;
	check_table(sources(80, 2), false,
		    "  source              time  what it is\n"
		    "  timer interrupt   412 us  the scheduler's tick\n"
		    "  nvme0q1          12.2 ms  disk\n");
}

static void test_elastic_columns_give_way_from_the_right(void **state)
{
	(void)state;
	/* 46 columns are needed */
	check_table(cut(sources(46, 0)), false,
		    "source              time  what it is\n"
		    "timer interrupt   412 us  the scheduler's tick\n"
		    "nvme0q1          12.2 ms  disk\n");
	check_table(cut(sources(45, 0)), false,
		    "source              time  what it is\n"
		    "timer interrupt   412 us  the scheduler's ...\n"
		    "nvme0q1          12.2 ms  disk\n");
	check_table(cut(sources(34, 0)), false,
		    "source              time  what ...\n"
		    "timer interrupt   412 us  the s...\n"
		    "nvme0q1          12.2 ms  disk\n");
	check_table(cut(sources(33, 0)), false,
		    "source             time  what ...\n"
		    "timer inter...   412 us  the s...\n"
		    "nvme0q1         12.2 ms  disk\n");
	/* at the floor of 8 each a row runs over, whatever the width */
	check_table(cut(sources(10, 0)), false,
		    "source       time  what ...\n"
		    "timer...   412 us  the s...\n"
		    "nvme0q1   12.2 ms  disk\n");
}

/* Names that begin alike are told apart by their ends. */
static void test_elastic_cells_are_broken_over_lines(void **state)
{
	struct table *t = table_new(25, 2);

	(void)state;
	table_column(t, "max", ALIGN_RIGHT, false);
	table_column(t, "of each", ALIGN_LEFT, true);
	table_column(t, "at", ALIGN_RIGHT, false);
	table_cell(t, NULL, "58 us");
	table_cell(t, "1", "nanosleep_0_slack1");
	table_cell(t, NULL, "3");
	table_end_row(t);
	table_cell(t, NULL, "6 us");
	table_cell(t, NULL, "local_timer > tick_nohz");
	table_cell(t, NULL, "11");
	table_end_row(t);
	table_cell(t, NULL, "7 us");
	table_cell(t, NULL, "abcdefghijklmnopq \xc3\xa4\xc3\xb6");
	table_end_row(t);
	check_table(t, true,
		    "    max  of each       at\n"
		    "  58 us  \033[1mnanosleep_0_\033[0m   3\n"
		    "         \033[1mslack1\033[0m\n"
		    "   6 us  local_timer   11\n"
		    "         > tick_nohz\n"
		    "   7 us  abcdefghijkl\n"
		    "         mnopq \xc3\xa4\xc3\xb6\n");
	check_table(sources(34, 0), false,
		    "source              time  what it\n"
		    "                          is\n"
		    "timer interrupt   412 us  the\n"
		    "                          schedule\n"
		    "                          r's tick\n"
		    "nvme0q1          12.2 ms  disk\n");
}

static void test_short_elastic_columns_are_left_alone(void **state)
{
	struct table *t = cut(table_new(10, 0));

	(void)state;
	table_column(t, NULL, ALIGN_LEFT, true);
	table_column(t, NULL, ALIGN_LEFT, true);
	table_cell(t, NULL, "1234567890");
	table_cell(t, NULL, "1234567");
	table_end_row(t);
	check_table(t, false, "12345...  1234567\n");
}

static void test_no_blanks_trail(void **state)
{
	struct table *t = table_new(80, 3);

	(void)state;
	table_column(t, "a", ALIGN_LEFT, false);
	table_column(t, NULL, ALIGN_RIGHT, false);
	table_column(t, "c", ALIGN_LEFT, false);
	table_cell(t, NULL, "one");
	table_end_row(t);
	table_end_row(t);
	table_cell(t, "1", "");
	table_cell(t, NULL, "22");
	table_cell(t, "31", "   ");
	table_end_row(t);
	table_cell(t, NULL, "");
	table_cell(t, NULL, "");
	table_cell(t, NULL, "  tree ");
	table_end_row(t);
	check_table(t, true,
		    "   a        c\n"
		    "   one\n"
		    "\n"
		    "        22\n"
		    "              tree\n");
}

static void test_no_headings_no_heading_row(void **state)
{
	struct table *t = table_new(80, 0);

	(void)state;
	table_column(t, NULL, ALIGN_RIGHT, false);
	table_column(t, NULL, ALIGN_RIGHT, false);
	table_cell(t, NULL, "1");
	table_cell(t, NULL, "1,000");
	table_end_row(t);
	table_cell(t, NULL, "100");
	table_cell(t, NULL, "7");
	table_end_row(t);
	check_table(t, false,
		    "  1  1,000\n"
		    "100      7\n");
}

static void test_no_rows(void **state)
{
	struct table *t = table_new(80, 0);

	(void)state;
	table_column(t, "lonely", ALIGN_RIGHT, false);
	check_table(t, false, "lonely\n");
	check_table(table_new(80, 4), false, "");
	table_free(NULL);
}

static void test_styles_are_printed_when_on(void **state)
{
	(void)state;
	check_table(sources(80, 0), true,
		    "source              time  what it is\n"
		    "timer interrupt   \033[1m412 us\033[0m  the scheduler's tick\n"
		    "\033[31mnvme0q1\033[0m          12.2 ms  disk\n");
}

static void test_a_cut_cell_keeps_its_style(void **state)
{
	struct table *t = cut(table_new(8, 0));

	(void)state;
	table_column(t, NULL, ALIGN_LEFT, true);
	table_cell(t, "1;31", "123456789");
	table_end_row(t);
	check_table(t, true, "\033[1;31m12345...\033[0m\n");
}

static void test_columns_count_characters(void **state)
{
	struct table *t = cut(table_new(15, 0));

	(void)state;
	table_column(t, NULL, ALIGN_LEFT, true);
	table_column(t, "\xc2\xb5s", ALIGN_RIGHT, false);
	table_cell(t, NULL, "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xe2\x82\xac\xf0\x9f\x98\x80ghijk");
	table_cell(t, NULL, "5");
	table_end_row(t);
	table_cell(t, NULL, "\xc3\xa4\xc3\xb6\xc3\xbc");
	table_cell(t, NULL, "1000");
	table_end_row(t);
	check_table(t, false,
		    "             \xc2\xb5s\n"
		    "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xe2\x82\xac\xf0\x9f\x98\x80...     5\n"
		    "\xc3\xa4\xc3\xb6\xc3\xbc        1000\n");
}

static void test_lines_go_across_the_columns(void **state)
{
	struct table *t = cut(sources(46, 2));

	(void)state;
	table_line(t, "2", 8, 3,
		   "[T01] a line is as long as the table is wide, then "
		   "\xc3\xa4\xc3\xb6\xc3\xbc-a-word-that-is-longer-than-all-of-it");
	table_line(t, NULL, 4, 0, "");
	table_line(t, NULL, 4, 0, "short");
	check_table(t, false,
		    "  source              time  what it is\n"
		    "  timer interrupt   412 us  the scheduler's...\n"
		    "  nvme0q1          12.2 ms  disk\n"
		    "        [T01] a line is as long as the table\n"
		    "           is wide, then\n"
		    "      \xc3\xa4\xc3\xb6\xc3\xbc-a-word-that-is-longer-than-all-of-it\n"
		    "\n"
		    "    short\n");
	t = sources(80, 2);
	table_line(t, "2", 4, 2, "dim, all of it");
	check_table(t, true,
		    "  source              time  what it is\n"
		    "  timer interrupt   \033[1m412 us\033[0m  the scheduler's tick\n"
		    "  \033[31mnvme0q1\033[0m          12.2 ms  disk\n"
		    "    \033[2mdim, all of it\033[0m\n");
}

static void test_notes_stand_below_the_last_column(void **state)
{
	struct table *t = cut(sources(46, 2));

	(void)state;
	table_note(t, NULL, 2, 2, "by poke [1] (5 of 5)");
	table_note(t, NULL, 2, 2, "by \xc3\xa4\xc3\xb6\xc3\xbc-of-twenty-columns (5 of 5)");
	table_note(t, NULL, 2, 2, "    a-frame-deeper");
	table_note(t, NULL, 2, 2, "a-word-that-is-longer-than-all-of-the-width-is");
	check_table(
		t, false,
		"  source              time  what it is\n"
		"  timer interrupt   412 us  the scheduler's...\n"
		"  nvme0q1          12.2 ms  disk\n"
		"                              by poke [1]\n"
		"                                (5 of 5)\n"
		"                              by\n"
		"                         \xc3\xa4\xc3\xb6\xc3\xbc-of-twenty-columns\n"
		"                                (5 of 5)\n"
		"                                  a-frame-deeper\n"
		"                              a-word-that-is-longer-than-all-of-the-width-is\n");
}

/* The cells are copies, and there may be many rows. */
static void test_many_rows(void **state)
{
	struct table *t = table_new(80, 0);
	char *text, cell[16];
	size_t len;
	FILE *out = open_memstream(&text, &len);
	unsigned n = 0;

	(void)state;
	assert_non_null(out);
	for (int i = 0; i < TABLE_COLUMNS; i++)
		table_column(t, NULL, ALIGN_RIGHT, i == 0);
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(cell, sizeof(cell), "%u", i);
		for (unsigned c = 0; c < TABLE_COLUMNS; c++)
			table_cell(t, "31", cell);
		table_end_row(t);
	}
	table_cell(t, NULL, "an open row is not printed");
	table_print(t, out, false);
	fclose(out);
	table_free(t);
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1, n++)
		for (unsigned c = 0; c < TABLE_COLUMNS; c++) {
			snprintf(cell, sizeof(cell), "%3u%s", n,
				 c + 1 < TABLE_COLUMNS ? "  " : "\n");
			assert_memory_equal(line + 5 * c, cell, strlen(cell));
		}
	assert_int_equal(n, 1000);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns_are_as_wide_as_their_cells),
		cmocka_unit_test(test_elastic_columns_give_way_from_the_right),
		cmocka_unit_test(test_elastic_cells_are_broken_over_lines),
		cmocka_unit_test(test_short_elastic_columns_are_left_alone),
		cmocka_unit_test(test_no_blanks_trail),
		cmocka_unit_test(test_no_headings_no_heading_row),
		cmocka_unit_test(test_no_rows),
		cmocka_unit_test(test_styles_are_printed_when_on),
		cmocka_unit_test(test_a_cut_cell_keeps_its_style),
		cmocka_unit_test(test_columns_count_characters),
		cmocka_unit_test(test_lines_go_across_the_columns),
		cmocka_unit_test(test_notes_stand_below_the_last_column),
		cmocka_unit_test(test_many_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
