/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON, written as it comes: nothing is held back, so an event stream may have any length. Levels
 * are printed over several lines, two spaces a level, or flat on one; everything inside a flat
 * level is flat. escape_char() makes names printable first, which leaves only the quote and the
 * backslash for JSON's own escaping. */
#include "base/json.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/escape.h"

#define DEPTH_MAX 32

/* Bit of the innermost level; 0 outside all levels. */
static uint32_t level_bit(const struct json *j)
{
	return j->depth ? UINT32_C(1) << (j->depth - 1) : 0;
}

static void newline(struct json *j)
{
	buffer_char(j->to, '\n');
	for (unsigned i = 0; i < j->depth; i++)
		buffer_put(j->to, "  ", 2);
}

static void quote(struct json *j)
{
	buffer_put(j->to, "\"\"", j->cell ? 2 : 1);
}

/* names: a backslash becomes two. */
static void quoted(struct json *j, const char *text, size_t len, bool names)
{
	char piece[ESCAPE_CHAR];
	size_t used;

	quote(j);
	for (;; text += used, len -= used) {
		used = escape_plain(text, len);
		buffer_put(j->to, text, used);
		text += used;
		len -= used;
		if (!len || !*text)
			break;
		used = (names ? escape_char : escape_command_char)(text, len, piece);
		for (const char *c = piece; *c; c++) {
			if (*c == '"' || *c == '\\')
				buffer_char(j->to, '\\');
			if (*c == '"')
				quote(j);
			else
				buffer_char(j->to, *c);
		}
	}
	quote(j);
}

/* Prints everything before a value: comma, line, key. */
static void lead(struct json *j, const char *key)
{
	uint32_t bit = level_bit(j);
	bool object = bit && !(j->array & bit);

	assert(object == !!key);
	if (j->some & bit)
		buffer_char(j->to, ',');
	if (bit && !(j->flat & bit))
		newline(j);
	else if (j->some & bit)
		buffer_char(j->to, ' ');
	j->some |= bit;
	if (object) {
		quoted(j, key, SIZE_MAX, true);
		buffer_put(j->to, ": ", 2);
	}
}

static void level_open(struct json *j, const char *key, bool array, bool flat)
{
	uint32_t bit;

	assert(j->depth < DEPTH_MAX);
	lead(j, key);
	buffer_char(j->to, array ? '[' : '{');
	flat = flat || (j->flat & level_bit(j));
	j->depth++;
	bit = level_bit(j);
	j->some &= ~bit;
	j->array = array ? j->array | bit : j->array & ~bit;
	j->flat = flat ? j->flat | bit : j->flat & ~bit;
}

void json_init(struct json *j, FILE *out)
{
	buffer_init(&j->own, out);
	j->to = &j->own;
	j->cell = false;
	j->depth = j->some = j->flat = j->array = 0;
}

void json_init_cell(struct json *j, struct buffer *to)
{
	json_init(j, NULL);
	j->to = to;
	j->cell = true;
}

void json_object(struct json *j, const char *key)
{
	level_open(j, key, false, false);
}

void json_object_flat(struct json *j, const char *key)
{
	level_open(j, key, false, true);
}

void json_array(struct json *j, const char *key)
{
	level_open(j, key, true, false);
}

void json_array_flat(struct json *j, const char *key)
{
	level_open(j, key, true, true);
}

void json_end(struct json *j)
{
	uint32_t bit = level_bit(j);

	assert(j->depth);
	j->depth--;
	if ((j->some & bit) && !(j->flat & bit))
		newline(j);
	buffer_char(j->to, j->array & bit ? ']' : '}');
	if (j->depth || j->cell)
		return;
	buffer_char(j->to, '\n');
	if (j->to == &j->own)
		buffer_flush(j->to);
}

void json_string(struct json *j, const char *key, const char *value)
{
	json_string_n(j, key, value, SIZE_MAX);
}

void json_string_n(struct json *j, const char *key, const char *value, size_t len)
{
	if (!value) {
		json_null(j, key);
		return;
	}
	lead(j, key);
	quoted(j, value, len, true);
}

void json_command(struct json *j, const char *key, const char *value)
{
	if (!value) {
		json_null(j, key);
		return;
	}
	lead(j, key);
	quoted(j, value, SIZE_MAX, false);
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
	lead(j, key);
	buffer_u64(j->to, value);
}

void json_i64(struct json *j, const char *key, int64_t value)
{
	lead(j, key);
	buffer_i64(j->to, value);
}

void json_double(struct json *j, const char *key, double value, int decimals)
{
	char text[512]; /* the largest double has 309 digits */

	if (!isfinite(value)) {
		json_null(j, key);
		return;
	}
	lead(j, key);
	snprintf(text, sizeof(text), "%.*f", decimals, value);
	buffer_text(j->to, text);
}

void json_bool(struct json *j, const char *key, bool value)
{
	lead(j, key);
	buffer_text(j->to, value ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
	lead(j, key);
	buffer_put(j->to, "null", 4);
}
