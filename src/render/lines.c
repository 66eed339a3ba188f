/* SPDX-License-Identifier: GPL-2.0-or-later */
/* csv and jsonl: one line for each hiccup, with the columns of line.c. */
#include <errno.h>
#include <string.h>

#include "base/buffer.h"
#include "base/escape.h"
#include "base/json.h"
#include "render/line.h"
#include "render/render.h"

static void write_pieces(struct json *j, const char *key, const struct line *l)
{
	json_array_flat(j, key);
	render_pieces(j, l->summary, l->account->pieces, l->account->npieces);
	json_end(j);
}

/* ---- csv ---- */

#define TEXT_SHORT 1024

static bool is_formula(char first)
{
	return first == '=' || first == '+' || first == '-' || first == '@';
}

/* Writes a text that is short and needs no escaping, as nearly all do. False: it is none. */
static bool csv_plain(const char *name, struct buffer *to)
{
	size_t len = strlen(name);
	char *at;

	if (len > TEXT_SHORT || is_formula(*name))
		return false;
	at = buffer_room(to, len + 2);
	*at++ = '"';
	if (!escape_copy(at, name, len))
		return false;
	at += len;
	*at++ = '"';
	buffer_took(to, at);
	return true;
}

static void csv_name(const char *name, struct buffer *to)
{
	char piece[ESCAPE_CHAR];
	size_t used;

	if (csv_plain(name, to))
		return;
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
	write_pieces(&j, NULL, l);
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

int render_jsonl(const struct view *view, uint32_t index, const struct account *account, FILE *out)
{
	struct line_texts texts;
	struct line l = line_of(view, index, account, &texts);
	struct json j;

	json_init(&j, out);
	json_object_flat(&j, NULL);
	for (const struct line_column *c = line_columns; c < line_columns + line_columns_n; c++)
		if (c->type == LINE_TEXT || c->type == LINE_TIME)
			json_string(&j, c->name, line_text(&l, c));
		else if (c->type == LINE_PIECES)
			write_pieces(&j, c->name, &l);
		else if (line_number(&l, c) == LINE_UNKNOWN)
			json_null(&j, c->name);
		else if (c->type == LINE_FLAG)
			json_bool(&j, c->name, line_number(&l, c));
		else
			json_i64(&j, c->name, line_number(&l, c));
	json_end(&j);
	return ferror_unlocked(out) ? -EIO : 0;
}
