/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text tables, mostly for terminals: columns as wide as their widest cell, numbers to the right,
 * elastic columns whose cells are broken over lines so that a row fits the width. The caller
 * chooses colours: a cell may carry a style, printed only when styles are on. */
#ifndef CULPRIT_TABLE_H
#define CULPRIT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#define TABLE_COLUMNS 12

enum table_align { ALIGN_LEFT, ALIGN_RIGHT };

struct table; /* cells are copied */

/* width: the most columns of a printed row. indent: spaces before each row. Returns NULL when out
 * of memory. */
struct table *table_new(unsigned width, unsigned indent);
void table_free(struct table *t);

/* Declare columns left to right before the first row. heading NULL: no heading cell; when all are
 * NULL no heading row. Elastic columns give up width, the rightmost first, down to 8, when a row
 * would not fit; a row that still does not fit runs over the width rather than lose a number. */
void table_column(struct table *t, const char *heading, enum table_align align, bool elastic);

/* Cuts the cells of elastic columns with "...", so that each row is one line: for a screen, and
 * where rows differ in other columns. */
void table_cut(struct table *t);

/* Cells in order; printable UTF-8 (from escape_text); blanks at the end are dropped. style: an
 * SGR parameter like "1" or "1;31" (up to 11 bytes), NULL none. A cell that found no memory
 * prints "?". */
void table_cell(struct table *t, const char *style, const char *text);
__attribute__((format(printf, 3, 4))) void table_cellf(struct table *t, const char *style,
						       const char *fmt, ...);
void table_end_row(struct table *t); /* missing cells are empty */

/* A row of its own across all columns, between two others: `text` begins `indent` columns in and is
 * broken between words at the table's width, further lines `hang` columns more. A word longer than
 * that stays whole, and begins farther left. Commands in it are broken as flow_advice() does. */
void table_line(struct table *t, const char *style, unsigned indent, unsigned hang,
		const char *text);
/* The same without commands, `indent` columns from where the last column begins. */
void table_note(struct table *t, const char *style, unsigned indent, unsigned hang,
		const char *text);

/* Two spaces between columns, no trailing blanks. colour: print styles. A last line counts the rows
 * that found no memory. */
void table_print(const struct table *t, FILE *out, bool colour);

/* The same as a Markdown table, of any width; elastic columns are padded to 48 at most. Cells are
 * Markdown: pass names through markdown_code(). Escapes bars, and puts a table_line() into the
 * first column. */
void table_print_markdown(const struct table *t, FILE *out);

#endif
