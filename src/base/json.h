/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A search for one string in a JSON text of others. And a streaming JSON writer: it places commas,
 * newlines and indentation. Strings and keys may hold any byte: invalid UTF-8 and controls become
 * the text \xNN and a backslash becomes two (escape_text's rule, see escape.h), so every output is
 * valid JSON and UTF-8, and no two names read the same. Pass names unescaped. Wrong use (no key
 * inside an object, a key elsewhere, too deep, one end too many) is a bug and asserts. */
#ifndef CULPRIT_JSON_H
#define CULPRIT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buffer.h"

struct json {
	struct buffer own;
	struct buffer
		*to;    /* own, which is flushed with the end of the outermost level, or another */
	bool part;      /* stands in another text: there is no newline at the end */
	bool cell;      /* in one of csv: quotes are doubled */
	unsigned depth; /* at most 32 */
	uint32_t some;  /* bit per depth: this level has an element already */
	uint32_t flat;  /* bit per depth: this level is printed on one line */
	uint32_t array; /* bit per depth: this level is an array, not an object */
};

/* Nobody else may write to the file before the end of the outermost level. */
void json_init(struct json *j, FILE *out);
/* Writes values into a text that the caller makes in this buffer and flushes. */
void json_init_part(struct json *j, struct buffer *to);
/* The same for the text of a cell of csv, without the quotes around it. */
void json_init_cell(struct json *j, struct buffer *to);

/* key: NULL inside arrays and at the top. The _flat ones print on one line, with all they hold. */
void json_object(struct json *j, const char *key);
void json_object_flat(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_array_flat(struct json *j, const char *key);
void json_end(struct json *j); /* closes the innermost; the outermost adds the final newline */

void json_string(struct json *j, const char *key, const char *value); /* NULL prints null */
void json_string_n(struct json *j, const char *key, const char *value,
		   size_t len); /* to len or NUL */
/* The same for a command, whose backslashes stay single: a reader gives it to a shell. */
void json_command(struct json *j, const char *key, const char *value);
void json_u64(struct json *j, const char *key, uint64_t value);
void json_i64(struct json *j, const char *key, int64_t value);
void json_double(struct json *j, const char *key, double value,
		 int decimals); /* inf and nan print null */
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);

/* The string of a member of a text's outermost object, or of an object in it: the keys on the way,
 * with NULL at the end. No key or string deeper down, or in another object, is taken for one of
 * these. The first byte behind its quote, as it stands there; NULL: there is none, or it is no
 * string. */
const char *json_find(const char *text, const char *const *path);

#endif
