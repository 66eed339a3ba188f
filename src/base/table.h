/* Text tables, mostly for terminals: columns as wide as their widest cell, numbers to the right,
 * one elastic column that is cut with "..." so that a row fits the width. Colour is the caller's: a
 * cell may carry a style, printed only when styles are on. */
#ifndef CULPRIT_TABLE_H
#define CULPRIT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#define TABLE_COLUMNS 12

enum table_align { ALIGN_LEFT, ALIGN_RIGHT };

struct table; /* cells are copied */

/* width: the most columns a printed row may take. indent: spaces before each row. Returns NULL when
 * out of memory. */
struct table *table_new(unsigned width, unsigned indent);
void table_free(struct table *t);

/* Columns are declared left to right before the first row. heading NULL: no heading cell; when all
 * are NULL no heading row. elastic columns give up width, the rightmost first, down to 8, when a
 * row would not fit; a row that still does not runs over the width rather than lose a number. */
void table_column(struct table *t, const char *heading, enum table_align align, bool elastic);

/* Cells in order; printable UTF-8 (escape_text makes it); blanks at the end are dropped. style: an
 * SGR parameter like "1" or "1;31" (up to 11 bytes), NULL none. A cell that found no memory prints
 * "?". */
void table_cell(struct table *t, const char *style, const char *text);
__attribute__((format(printf, 3, 4))) void table_cellf(struct table *t, const char *style,
						       const char *fmt, ...);
void table_end_row(struct table *t); /* missing cells are empty */

/* A row of its own across all columns, between two others: `text` begins `indent` columns in and is
 * broken between words at the table's width, further lines `hang` columns more. A word that is
 * longer than that stays whole. */
void table_line(struct table *t, const char *style, unsigned indent, unsigned hang,
		const char *text);

/* Two spaces between columns, no trailing blanks. colour: print styles. Rows that found no memory
 * are missed in a last line. */
void table_print(const struct table *t, FILE *out, bool colour);

/* The same as a Markdown table, which is as wide as it is; elastic columns are not padded over 48.
 * Cells are Markdown: names in them want markdown_code(). Bars are escaped here, and a table_line()
 * stands in the first column. */
void table_print_markdown(const struct table *t, FILE *out);

#endif
