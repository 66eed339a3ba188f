/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON, looked through for one string; and written as it comes: nothing is held back, so an event
 * stream may have any length. Levels are printed over several lines, two spaces a level, or flat on
 * one; everything inside a flat level is flat. escape_char() makes names printable first, which
 * leaves only the quote and the backslash for JSON's own escaping. */
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

/* Bytes of what stands before a key, and of a value that is no text. */
#define BEFORE_KEY  (2 * DEPTH_MAX + 2)
#define PLAIN_VALUE 32
#define TEXT_SHORT  1024

static char *newline(const struct json *j, char *at)
{
	*at++ = '\n';
	memset(at, ' ', 2 * j->depth);
	return at + 2 * j->depth;
}

static char *quote(const struct json *j, char *at)
{
	*at++ = '"';
	if (j->cell)
		*at++ = '"';
	return at;
}

/* Writes a text that is short and needs no escaping, as nearly all do, at a place with room for it
 * and its quotes. NULL: it is none. */
static inline char *quoted_plain(const struct json *j, char *at, const char *text, size_t len)
{
	if (len > TEXT_SHORT)
		return NULL;
	at = quote(j, at);
	return escape_copy(at, text, len) ? quote(j, at + len) : NULL;
}

static void put_quote(struct json *j)
{
	buffer_took(j->to, quote(j, buffer_room(j->to, 2)));
}

/* names: a backslash becomes two. */
static void quoted_any(struct json *j, const char *text, size_t len, bool names)
{
	char piece[ESCAPE_CHAR];
	size_t used;

	put_quote(j);
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
				put_quote(j);
			else
				buffer_char(j->to, *c);
		}
	}
	put_quote(j);
}

static void quoted(struct json *j, const char *text, size_t len, bool names)
{
	size_t n = strnlen(text, len);
	char *end = quoted_plain(j, buffer_room(j->to, TEXT_SHORT + 4), text, n);

	if (end)
		buffer_took(j->to, end);
	else
		quoted_any(j, text, len, names);
}

/* Writes everything before a value: comma, line, key. Returns the place of the value, with room for
 * one that is no text. */
static char *lead(struct json *j, const char *key)
{
	char *at = buffer_room(j->to, BEFORE_KEY + TEXT_SHORT + 4 + PLAIN_VALUE), *end;
	uint32_t bit = level_bit(j);
	bool object = bit && !(j->array & bit);

	assert(object == !!key);
	if (j->some & bit)
		*at++ = ',';
	if (bit && !(j->flat & bit))
		at = newline(j, at);
	else if (j->some & bit)
		*at++ = ' ';
	j->some |= bit;
	if (!object)
		return at;
	end = quoted_plain(j, at, key, strlen(key));
	if (!end) {
		buffer_took(j->to, at);
		quoted_any(j, key, SIZE_MAX, true);
		end = buffer_room(j->to, 2 + PLAIN_VALUE);
	}
	*end++ = ':';
	*end++ = ' ';
	return end;
}

static void lead_text(struct json *j, const char *key)
{
	buffer_took(j->to, lead(j, key));
}

static void level_open(struct json *j, const char *key, bool array, bool flat)
{
	uint32_t bit;
	char *at;

	assert(j->depth < DEPTH_MAX);
	at = lead(j, key);
	*at++ = array ? '[' : '{';
	buffer_took(j->to, at);
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
	j->part = j->cell = false;
	j->depth = j->some = j->flat = j->array = 0;
}

void json_init_part(struct json *j, struct buffer *to)
{
	json_init(j, NULL);
	j->to = to;
	j->part = true;
}

void json_init_cell(struct json *j, struct buffer *to)
{
	json_init_part(j, to);
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
	char *at = buffer_room(j->to, BEFORE_KEY + 2);
	uint32_t bit = level_bit(j);

	assert(j->depth);
	j->depth--;
	if ((j->some & bit) && !(j->flat & bit))
		at = newline(j, at);
	*at++ = j->array & bit ? ']' : '}';
	if (!j->depth && !j->part)
		*at++ = '\n';
	buffer_took(j->to, at);
	if (!j->depth && !j->part)
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
	lead_text(j, key);
	quoted(j, value, len, true);
}

void json_command(struct json *j, const char *key, const char *value)
{
	if (!value) {
		json_null(j, key);
		return;
	}
	lead_text(j, key);
	quoted(j, value, SIZE_MAX, false);
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
	buffer_took(j->to, buffer_digits(lead(j, key), value));
}

void json_i64(struct json *j, const char *key, int64_t value)
{
	buffer_took(j->to, buffer_signed(lead(j, key), value));
}

void json_double(struct json *j, const char *key, double value, int decimals)
{
	char text[512]; /* the largest double has 309 digits */

	if (!isfinite(value)) {
		json_null(j, key);
		return;
	}
	lead_text(j, key);
	snprintf(text, sizeof(text), "%.*f", decimals, value);
	buffer_text(j->to, text);
}

static void put_word(struct json *j, const char *key, const char *word, size_t len)
{
	char *at = lead(j, key);

	memcpy(at, word, len);
	buffer_took(j->to, at + len);
}

void json_bool(struct json *j, const char *key, bool value)
{
	if (value)
		put_word(j, key, "true", 4);
	else
		put_word(j, key, "false", 5);
}

void json_null(struct json *j, const char *key)
{
	put_word(j, key, "null", 4);
}

/* ---- reading ---- */

static const char *skip_space(const char *at)
{
	return at + strspn(at, " \t\r\n");
}

/* The quote that ends a string; NULL: none does. */
static const char *end_of_string(const char *at)
{
	for (at += strcspn(at, "\"\\"); *at == '\\'; at += strcspn(at, "\"\\")) {
		if (!at[1])
			return NULL;
		at += 2;
	}
	return *at ? at : NULL;
}

const char *json_find(const char *text, const char *const *path)
{
	const char *at = text;
	int depth = 0, inside = 1; /* objects and arrays around it; those of the path */

	for (at += strcspn(at, "{}[]\""); *at; at += strcspn(at, "{}[]\"")) {
		const char *begin = at + 1, *end;
		size_t len = strlen(*path);

		if (*at != '"') {
			depth += *at == '{' || *at == '[' ? 1 : -1;
			if (depth < inside)
				return NULL;
			at = begin;
			continue;
		}
		end = end_of_string(begin);
		if (!end)
			return NULL;
		at = skip_space(end + 1);
		if (*at != ':' || depth != inside || (size_t)(end - begin) != len ||
		    memcmp(begin, *path, len))
			continue;
		at = skip_space(at + 1);
		if (!*++path)
			return *at == '"' ? at + 1 : NULL;
		if (*at != '{')
			return NULL;
		inside++;
	}
	return NULL;
}
