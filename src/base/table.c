/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text tables. Rows are kept until the table is printed, because the widths are known only then.
 * Callers print reports, not error codes, so running out of memory is shown in the table: a cell
 * that could not be kept prints as "?", and lost rows are counted. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* vasprintf */
#endif
#include "base/table.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/flow.h"

#define GAP           2 /* columns between columns */
#define ELASTIC_LEAST 8 /* the least width of an elastic column */
#define DOTS          "..."

struct cell {
	char *text; /* owned; NULL: empty */
	char style[12];
	bool lost;
};

struct row {
	struct cell cell[TABLE_COLUMNS];
	bool line; /* cell[0] spans all columns */
	bool note; /* the text begins where the last column does */
	unsigned indent, hang;
};

struct column {
	enum table_align align;
	bool elastic;
};

struct table {
	unsigned width, indent, ncolumns;
	struct column column[TABLE_COLUMNS];
	struct row heading;
	bool headed, cut;
	struct row *row; /* one more than nrows while a row is open */
	size_t nrows, room, lost;
	bool open;
	unsigned next; /* next cell of the open row */
};

struct table *table_new(unsigned width, unsigned indent)
{
	struct table *t = calloc(1, sizeof(*t));

	if (t) {
		t->width = width;
		t->indent = indent;
	}
	return t;
}

static void row_free(struct row *row)
{
	for (unsigned i = 0; i < TABLE_COLUMNS; i++)
		free(row->cell[i].text);
}

void table_free(struct table *t)
{
	if (!t)
		return;
	row_free(&t->heading);
	for (size_t i = 0; i < t->nrows + t->open; i++)
		row_free(&t->row[i]);
	free(t->row);
	free(t);
}

/* Keeps text without the blanks at its end: they would trail in the last cell of a row. */
static void cell_set(struct cell *cell, const char *style, const char *text)
{
	size_t len = strlen(text);

	while (len && text[len - 1] == ' ')
		len--;
	snprintf(cell->style, sizeof(cell->style), "%s", style ? style : "");
	if (len)
		cell->text = strndup(text, len);
	cell->lost = len && !cell->text;
}

static const char *cell_text(const struct cell *cell)
{
	return cell->text ? cell->text : cell->lost ? "?" : "";
}

void table_column(struct table *t, const char *heading, enum table_align align, bool elastic)
{
	assert(t->ncolumns < TABLE_COLUMNS && !t->nrows && !t->open);
	t->column[t->ncolumns] = (struct column){.align = align, .elastic = elastic};
	if (heading) {
		cell_set(&t->heading.cell[t->ncolumns], NULL, heading);
		t->headed = true;
	}
	t->ncolumns++;
}

void table_cut(struct table *t)
{
	t->cut = true;
}

/* Starts a row unless one is open; false when there is no memory for it. */
static bool row_open(struct table *t)
{
	if (t->open)
		return true;
	if (t->nrows == t->room) {
		size_t room = t->room ? 2 * t->room : 16;
		struct row *row = reallocarray(t->row, room, sizeof(*row));

		if (!row)
			return false;
		t->row = row;
		t->room = room;
	}
	memset(&t->row[t->nrows], 0, sizeof(t->row[0]));
	t->open = true;
	return true;
}

void table_cell(struct table *t, const char *style, const char *text)
{
	assert(t->next < t->ncolumns);
	if (row_open(t))
		cell_set(&t->row[t->nrows].cell[t->next], style, text);
	t->next++;
}

void table_cellf(struct table *t, const char *style, const char *fmt, ...)
{
	va_list args;
	char *text;
	int len;

	va_start(args, fmt);
	len = vasprintf(&text, fmt, args);
	va_end(args);
	table_cell(t, style, len < 0 ? "?" : text);
	if (len >= 0)
		free(text);
}

void table_end_row(struct table *t)
{
	if (row_open(t))
		t->nrows++;
	else
		t->lost++;
	t->open = false;
	t->next = 0;
}

static void line_row(struct table *t, const struct row *as, const char *style, const char *text)
{
	assert(!t->next && !t->open);
	if (row_open(t)) {
		struct row *row = &t->row[t->nrows];

		*row = *as;
		row->line = true;
		cell_set(&row->cell[0], style, text);
	}
	table_end_row(t);
}

void table_line(struct table *t, const char *style, unsigned indent, unsigned hang,
		const char *text)
{
	line_row(t, &(struct row){.indent = indent, .hang = hang}, style, text);
}

void table_note(struct table *t, const char *style, unsigned indent, unsigned hang,
		const char *text)
{
	line_row(t, &(struct row){.note = true, .indent = indent, .hang = hang}, style, text);
}

/* The widths that the cells need, less what the elastic columns give up. */
static void fit_widths(const struct table *t, size_t *width)
{
	size_t total = t->indent + (t->ncolumns ? GAP * (t->ncolumns - 1) : 0);

	for (unsigned i = 0; i < t->ncolumns; i++) {
		width[i] = text_columns(cell_text(&t->heading.cell[i]));
		for (size_t r = 0; r < t->nrows; r++) {
			size_t columns =
				t->row[r].line ? 0 : text_columns(cell_text(&t->row[r].cell[i]));

			if (columns > width[i])
				width[i] = columns;
		}
		total += width[i];
	}
	for (unsigned i = t->ncolumns; i-- > 0 && total > t->width;) {
		size_t over = total - t->width, spare;

		if (!t->column[i].elastic || width[i] <= ELASTIC_LEAST)
			continue;
		spare = width[i] - ELASTIC_LEAST;
		width[i] -= spare < over ? spare : over;
		total -= spare < over ? spare : over;
	}
}

/* Bytes of a text that stand on a line of `width` columns: up to the last blank, else behind the
 * last sign within a word, else as many as fit. */
static size_t line_length(const char *text, size_t width, bool cut)
{
	size_t fit = text_fit(text, width), at = fit;

	if (!text[fit])
		return fit;
	if (cut)
		return text_fit(text, width - strlen(DOTS));
	while (at && text[at] != ' ')
		at--;
	if (at)
		return at;
	for (at = fit; at > fit / 2; at--)
		if (strchr("_-/.:", text[at - 1]))
			return at;
	return fit;
}

static void print_line(const struct table *t, const struct row *row, const size_t *width, FILE *out,
		       bool colour)
{
	const char *text = cell_text(&row->cell[0]);
	size_t indent = row->indent + strspn(text, " ") + (row->note ? t->indent : 0);
	struct flow f;

	for (unsigned i = 0; row->note && i + 1 < t->ncolumns; i++)
		indent += width[i] + GAP;

	char lead[indent + row->hang + 1];

	snprintf(lead, sizeof(lead), "%*s", (int)(indent + row->hang), "");
	colour = colour && row->cell[0].style[0];
	fprintf(out, "%*s", *text ? (int)indent : 0, "");
	if (colour)
		fprintf(out, "\033[%sm", row->cell[0].style);
	flow_start(&f, out, t->width, "", " ", lead);
	f.column = indent;
	row->note ? flow_words(&f, text) : flow_advice(&f, text);
	if (colour)
		fputs("\033[0m", out);
	flow_end(&f);
}

static void print_text(const char *text, size_t len, const char *dots, const char *style, FILE *out)
{
	if (style)
		fprintf(out, "\033[%sm", style);
	fprintf(out, "%.*s%s", (int)len, text, dots);
	if (style)
		fputs("\033[0m", out);
}

/* Prints the begin of each text; rest becomes what is left for a further line. Holds blanks back
 * until a cell with text follows, so that none trail. Returns true where something is left. */
static bool print_texts(const struct table *t, const struct row *row, const char **rest,
			const size_t *width, FILE *out, bool colour)
{
	size_t owed = t->indent;
	bool more = false;

	for (unsigned i = 0; i < t->ncolumns; i++) {
		const char *text = rest[i], *style = row->cell[i].style;
		size_t len = line_length(text, width[i], t->cut);
		const char *dots = t->cut && text[len] ? DOTS : "";
		size_t columns = text_columns(text) - text_columns(text + len) + text_columns(dots);

		if (columns && t->column[i].align == ALIGN_RIGHT)
			owed += width[i] - columns;
		if (columns) {
			fprintf(out, "%*s", (int)owed, "");
			print_text(text, len, dots, colour && style[0] ? style : NULL, out);
			owed = 0;
		}
		if (!columns || t->column[i].align == ALIGN_LEFT)
			owed += width[i] - columns;
		owed += GAP;
		rest[i] = t->cut ? "" : text + len + strspn(text + len, " ");
		more |= *rest[i];
	}
	putc('\n', out);
	return more;
}

static void print_row(const struct table *t, const struct row *row, const size_t *width, FILE *out,
		      bool colour)
{
	const char *rest[TABLE_COLUMNS];

	for (unsigned i = 0; i < t->ncolumns; i++)
		rest[i] = cell_text(&row->cell[i]);
	while (print_texts(t, row, rest, width, out, colour))
		;
}

void table_print(const struct table *t, FILE *out, bool colour)
{
	size_t width[TABLE_COLUMNS];

	fit_widths(t, width);
	if (t->headed)
		print_row(t, &t->heading, width, out, colour);
	for (size_t r = 0; r < t->nrows; r++)
		if (t->row[r].line)
			print_line(t, &t->row[r], width, out, colour);
		else
			print_row(t, &t->row[r], width, out, colour);
	if (t->lost)
		fprintf(out, "%*s(%zu rows are missing: out of memory)\n", (int)t->indent, "",
			t->lost);
}

/* ---- Markdown ---- */

#define ELASTIC_MOST 48 /* elastic columns pad their cells up to this */

/* Columns that the text takes once its bars are escaped. */
static size_t marked_columns(const char *text)
{
	size_t n = text_columns(text);

	for (; *text; text++)
		n += *text == '|';
	return n;
}

static size_t marked_width(const struct table *t, unsigned column)
{
	size_t width = marked_columns(cell_text(&t->heading.cell[column]));

	for (size_t r = 0; r < t->nrows; r++) {
		size_t columns =
			t->row[r].line ? 0 : marked_columns(cell_text(&t->row[r].cell[column]));

		width = columns > width ? columns : width;
	}
	if (t->column[column].elastic && width > ELASTIC_MOST)
		width = ELASTIC_MOST;
	return width < 3 ? 3 : width; /* a rule is three dashes or more */
}

static void print_marked(const struct table *t, const struct row *row, const size_t *width,
			 FILE *out)
{
	for (unsigned i = 0; i < t->ncolumns; i++) {
		const char *text = cell_text(&row->cell[i]);
		size_t columns = marked_columns(text);
		int padding = columns < width[i] ? (int)(width[i] - columns) : 0;
		bool right = t->column[i].align == ALIGN_RIGHT;

		fprintf(out, "| %*s", right ? padding : 0, "");
		for (; *text; text++) {
			if (*text == '|')
				putc('\\', out);
			putc(*text, out);
		}
		fprintf(out, "%*s ", right ? 0 : padding, "");
	}
	fputs("|\n", out);
}

void table_print_markdown(const struct table *t, FILE *out)
{
	size_t width[TABLE_COLUMNS];

	for (unsigned i = 0; i < t->ncolumns; i++)
		width[i] = marked_width(t, i);
	print_marked(t, &t->heading, width, out);
	for (unsigned i = 0; i < t->ncolumns; i++) {
		bool right = t->column[i].align == ALIGN_RIGHT;

		fputs(right ? "| " : "| :", out);
		for (size_t k = 1; k < width[i]; k++)
			putc('-', out);
		fputs(right ? ": " : " ", out);
	}
	fputs("|\n", out);
	for (size_t r = 0; r < t->nrows; r++)
		print_marked(t, &t->row[r], width, out);
	if (t->lost)
		fprintf(out, "\n(%zu rows are missing: out of memory)\n", t->lost);
}
