/* SPDX-License-Identifier: GPL-2.0-or-later */
/* csv and jsonl: one line for each hiccup, with the columns of line.c. */
#include <errno.h>
#include <string.h>

#include "base/buffer.h"
#include "base/escape.h"
#include "base/json.h"
#include "render/line.h"
#include "render/render.h"

#define TEXT_SHORT 1024

static void write_pieces(struct json *j, const struct line *l)
{
	json_array_flat(j, NULL);
	render_pieces(j, l->summary, l->account->pieces, l->account->npieces);
	json_end(j);
}

/* Writes a text with its quotes that is short and needs no escaping, as nearly all do, at a place
 * with room for it. NULL: it is none. */
static char *put_plain(char *at, const char *text)
{
	size_t len = strlen(text);

	if (len > TEXT_SHORT)
		return NULL;
	*at++ = '"';
	if (!escape_copy(at, text, len))
		return NULL;
	at += len;
	*at++ = '"';
	return at;
}

static inline char *put_word(char *at, const char *word, size_t len)
{
	memcpy(at, word, len);
	return at + len;
}

/* ---- csv ---- */

static bool is_formula(char first)
{
	return first == '=' || first == '+' || first == '-' || first == '@';
}

static void csv_name(const char *name, struct buffer *to)
{
	char piece[ESCAPE_CHAR], *end = put_plain(buffer_room(to, TEXT_SHORT + 2), name);
	size_t used;

	if (end && !is_formula(*name)) {
		buffer_took(to, end);
		return;
	}
	buffer_char(to, '"');
	if (is_formula(*name)) {
		snprintf(piece, sizeof(piece), "\\x%02x", *name++);
		buffer_text(to, piece);
	}
	while (*name) {
		used = escape_plain(name, SIZE_MAX);
		buffer_put(to, name, used);
		name += used;
		used = escape_char(name, SIZE_MAX, piece);
		if (*piece == '"')
			buffer_char(to, '"');
		buffer_text(to, piece);
		name += used;
	}
	buffer_char(to, '"');
}

static void csv_pieces(const struct line *l, struct buffer *to)
{
	struct json j;

	buffer_char(to, '"');
	json_init_cell(&j, to);
	write_pieces(&j, l);
	buffer_char(to, '"');
}

static void csv_cell(const struct line *l, const struct line_column *c, struct buffer *to)
{
	switch (c->type) {
	case LINE_TEXT:
	case LINE_TIME:
		if (line_text(l, c))
			csv_name(line_text(l, c), to);
		break;
	case LINE_NUMBER:
		if (line_number(l, c) != LINE_UNKNOWN)
			buffer_took(to, buffer_signed(buffer_room(to, BUFFER_NUMBER),
						      line_number(l, c)));
		break;
	case LINE_FLAG:
		if (line_number(l, c) != LINE_UNKNOWN)
			buffer_text(to, line_number(l, c) ? "true" : "false");
		break;
	case LINE_PIECES:
		csv_pieces(l, to);
	}
}

void render_csv_head(FILE *out)
{
	for (size_t i = 0; i < line_columns_n; i++)
		fprintf(out, "%s%s", i ? "," : "", line_columns[i].name);
	putc('\n', out);
}

int render_csv(const struct view *view, uint32_t index, const struct account *account, FILE *out)
{
	struct line_texts texts;
	struct line l = line_of(view, index, account, &texts);
	struct buffer to;

	buffer_init(&to, out);
	for (size_t i = 0; i < line_columns_n; i++) {
		if (i)
			buffer_char(&to, ',');
		csv_cell(&l, &line_columns[i], &to);
	}
	buffer_char(&to, '\n');
	buffer_flush(&to);
	return ferror_unlocked(out) ? -EIO : 0;
}

/* ---- jsonl ---- */

/* Writes a value at a place with room for a short one, and returns the end. A longer one goes to
 * the buffer. */
static char *json_cell(const struct line *l, const struct line_column *c, char *at,
		       struct buffer *to)
{
	bool number = c->type == LINE_NUMBER || c->type == LINE_FLAG;
	struct json j;
	char *end;

	if (number ? line_number(l, c) == LINE_UNKNOWN : !line_text(l, c))
		return put_word(at, "null", 4);
	if (c->type == LINE_NUMBER)
		return buffer_signed(at, line_number(l, c));
	if (number)
		return line_number(l, c) ? put_word(at, "true", 4) : put_word(at, "false", 5);
	if (c->type != LINE_PIECES && (end = put_plain(at, line_text(l, c))))
		return end;
	buffer_took(to, at);
	json_init_part(&j, to);
	if (c->type == LINE_PIECES)
		write_pieces(&j, l);
	else
		json_string(&j, NULL, line_text(l, c));
	return buffer_room(to, 0);
}

int render_jsonl(const struct view *view, uint32_t index, const struct account *account, FILE *out)
{
	struct line_texts texts;
	struct line l = line_of(view, index, account, &texts);
	struct buffer to;
	char *at;

	buffer_init(&to, out);
	for (const struct line_column *c = line_columns; c < line_columns + line_columns_n; c++) {
		at = buffer_room(&to, 2 + LINE_LEAD + TEXT_SHORT + 2);
		at = c == line_columns ? put_word(at, "{", 1) : put_word(at, ", ", 2);
		memcpy(at, c->lead, LINE_LEAD); /* longer than it is, but always the same */
		buffer_took(&to, json_cell(&l, c, at + c->lead_len, &to));
	}
	buffer_text(&to, "}\n");
	buffer_flush(&to);
	return ferror_unlocked(out) ? -EIO : 0;
}
