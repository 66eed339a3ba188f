/* JSON, written as it comes: nothing is held back, so an event stream may have any length. Levels
 * are printed over several lines, two spaces a level, or flat on one; everything inside a flat
 * level is flat. escape_char() makes names printable first, which leaves only the quote and the
 * backslash for JSON's own escaping. */
#include "base/json.h"

#include <assert.h>
#include <inttypes.h>
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
	fprintf(j->out, "\n%*s", (int)(2 * j->depth), "");
}

static void quoted(struct json *j, const char *text, size_t len)
{
	char piece[ESCAPE_CHAR];
	size_t used;

	putc('"', j->out);
	for (; (used = escape_char(text, len, piece)); text += used, len -= used)
		for (const char *c = piece; *c; c++) {
			if (*c == '"' || *c == '\\')
				putc('\\', j->out);
			putc(*c, j->out);
		}
	putc('"', j->out);
}

/* Prints everything before a value: comma, line, key. */
static void lead(struct json *j, const char *key)
{
	uint32_t bit = level_bit(j);
	bool object = bit && !(j->array & bit);

	assert(object == !!key);
	if (j->some & bit)
		putc(',', j->out);
	if (bit && !(j->flat & bit))
		newline(j);
	else if (j->some & bit)
		putc(' ', j->out);
	j->some |= bit;
	if (object) {
		quoted(j, key, SIZE_MAX);
		fputs(": ", j->out);
	}
}

static void level_open(struct json *j, const char *key, bool array, bool flat)
{
	uint32_t bit;

	assert(j->depth < DEPTH_MAX);
	lead(j, key);
	putc(array ? '[' : '{', j->out);
	flat = flat || (j->flat & level_bit(j));
	j->depth++;
	bit = level_bit(j);
	j->some &= ~bit;
	j->array = array ? j->array | bit : j->array & ~bit;
	j->flat = flat ? j->flat | bit : j->flat & ~bit;
}

void json_init(struct json *j, FILE *out)
{
	memset(j, 0, sizeof(*j));
	j->out = out;
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
	putc(j->array & bit ? ']' : '}', j->out);
	if (!j->depth)
		putc('\n', j->out);
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
	quoted(j, value, len);
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
	lead(j, key);
	fprintf(j->out, "%" PRIu64, value);
}

void json_i64(struct json *j, const char *key, int64_t value)
{
	lead(j, key);
	fprintf(j->out, "%" PRId64, value);
}

void json_double(struct json *j, const char *key, double value, int decimals)
{
	if (!isfinite(value)) {
		json_null(j, key);
		return;
	}
	lead(j, key);
	fprintf(j->out, "%.*f", decimals, value);
}

void json_bool(struct json *j, const char *key, bool value)
{
	lead(j, key);
	fputs(value ? "true" : "false", j->out);
}

void json_null(struct json *j, const char *key)
{
	lead(j, key);
	fputs("null", j->out);
}
