/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The JSON writer: its layout to the byte, and a strict reader of RFC 8259 (itself tested on what
 * it must refuse) that everything written for hostile names has to pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- a strict reader: each takes *at past what it read, false when that is malformed ---- */

static bool read_value(const char **at, unsigned depth);

static void skip_blanks(const char **at)
{
	*at += strspn(*at, " \n\t\r");
}

/* Decodes a string into out (when given; no longer than the text). Knows all of the RFC's escapes
 * but \u. */
static bool read_string(const char **at, char *out)
{
	if (*(*at)++ != '"')
		return false;
	for (; **at != '"'; ++*at) {
		if ((unsigned char)**at < 0x20)
			return false;
		if (**at == '\\') {
			++*at;
			if (!**at || !strchr("\"\\/bfnrt", **at))
				return false;
		}
		if (out)
			*out++ = **at;
	}
	++*at;
	if (out)
		*out = '\0';
	return true;
}

static bool read_digits(const char **at)
{
	size_t n = strspn(*at, "0123456789");

	*at += n;
	return n;
}

static bool read_number(const char **at)
{
	*at += **at == '-';
	if (**at == '0')
		++*at;
	else if (!read_digits(at))
		return false;
	if (**at == '.') {
		++*at;
		if (!read_digits(at))
			return false;
	}
	if (**at == 'e' || **at == 'E') {
		++*at;
		*at += **at == '-' || **at == '+';
		return read_digits(at);
	}
	return true;
}

static bool read_members(const char **at, bool object, unsigned depth)
{
	char close = object ? '}' : ']';

	++*at;
	skip_blanks(at);
	if (**at == close)
		return ++*at;
	for (;; ++*at) {
		skip_blanks(at);
		if (object) {
			if (!read_string(at, NULL))
				return false;
			skip_blanks(at);
			if (*(*at)++ != ':')
				return false;
		}
		if (!read_value(at, depth + 1))
			return false;
		skip_blanks(at);
		if (**at == close)
			return ++*at;
		if (**at != ',')
			return false;
	}
}

static bool read_value(const char **at, unsigned depth)
{
	static const char *const words[] = {"true", "false", "null"};

	skip_blanks(at);
	if (depth > 64)
		return false;
	if (**at == '{' || **at == '[')
		return read_members(at, **at == '{', depth);
	if (**at == '"')
		return read_string(at, NULL);
	for (size_t i = 0; i < COUNT(words); i++)
		if (!strncmp(*at, words[i], strlen(words[i])))
			return *at += strlen(words[i]);
	return read_number(at);
}

/* Well-formed and in UTF-8: escaping bytes that are no UTF-8 would change the text. */
static bool is_json(const char *text)
{
	const char *at = text;

	for (const char *c = text; *c;) {
		char piece[ESCAPE_CHAR];
		size_t used = escape_char(c, SIZE_MAX, piece);

		if ((unsigned char)*c >= 0x80 && piece[0] == '\\')
			return false;
		c += used;
	}
	if (!read_value(&at, 0))
		return false;
	skip_blanks(&at);
	return !*at;
}

static void test_the_reader_is_strict(void **state)
{
	/* each ends with a NUL, the last with two */
	static const char good[] =
		"{}\0[]\0[1, -2.5, 0, 1e9, 0.10]\0{\"a\": [{\"b\": null}], \"c\": true}\0"
		"\"x\\\\\\\"y\"\0 [false]\n\0";
	static const char bad[] =
		"{\0[1,]\0[,1]\0{\"a\"}\0{\"a\":}\0{a: 1}\0[1 2]\0[01]\0[1.]\0[-]\0[nan]\0[inf]\0"
		"\"a\0\"\n\"\0\"\\x1b\"\0\"\\\0{} {}\0\"\xff\"\0\"\xc3\"\0[\"a\" \"b\"]\0"
		"{\"a\": 1 \"b\": 2}\0[1}\0]\0";

	(void)state;
	assert_false(is_json(""));
	for (const char *text = good; *text; text += strlen(text) + 1)
		if (!is_json(text))
			fail_msg("the reader refuses %s", text);
	for (const char *text = bad; *text; text += strlen(text) + 1)
		if (is_json(text))
			fail_msg("the reader takes %s", text);
}

/* ---- the writer ---- */

struct writing {
	struct json json;
	char *text; /* after written() */
	size_t len;
};

static struct json *writing_start(struct writing *w)
{
	FILE *out = open_memstream(&w->text, &w->len);

	assert_non_null(out);
	json_init(&w->json, out);
	return &w->json;
}

static const char *written(struct writing *w)
{
	fclose(w->json.to->out);
	return w->text;
}

static void test_layout(void **state)
{
	struct writing w;
	struct json *j = writing_start(&w);

	(void)state;
	json_object(j, NULL);
	json_string(j, "name", "x");
	json_array(j, "list");
	json_u64(j, NULL, 1);
	json_object_flat(j, NULL);
	json_i64(j, "a", -1);
	json_array(j, "b"); /* inside a flat one: flat */
	json_bool(j, NULL, true);
	json_bool(j, NULL, false);
	json_end(j);
	json_object(j, "c");
	json_null(j, "d");
	json_end(j);
	json_end(j);
	json_array(j, NULL); /* levels after it are not flat */
	json_double(j, NULL, 0.5, 2);
	json_end(j);
	json_end(j);
	json_array_flat(j, "none");
	json_end(j);
	json_object(j, "empty");
	json_end(j);
	json_array(j, "void");
	json_end(j);
	json_array_flat(j, "two");
	json_u64(j, NULL, 1);
	json_u64(j, NULL, 2);
	json_end(j);
	json_end(j);
	assert_string_equal(written(&w),
			    "{\n"
			    "  \"name\": \"x\",\n"
			    "  \"list\": [\n"
			    "    1,\n"
			    "    {\"a\": -1, \"b\": [true, false], \"c\": {\"d\": null}},\n"
			    "    [\n"
			    "      0.50\n"
			    "    ]\n"
			    "  ],\n"
			    "  \"none\": [],\n"
			    "  \"empty\": {},\n"
			    "  \"void\": [],\n"
			    "  \"two\": [1, 2]\n"
			    "}\n");
	assert_true(is_json(w.text));
	free(w.text);
}

/* One object a line, as an event stream is written. */
static void test_documents_in_a_row(void **state)
{
	struct writing w;
	struct json *j = writing_start(&w);

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		json_object_flat(j, NULL);
		json_u64(j, "n", i);
		json_u64(j, "m", i);
		json_end(j);
	}
	json_array(j, NULL);
	json_end(j);
	assert_string_equal(written(&w), "{\"n\": 0, \"m\": 0}\n{\"n\": 1, \"m\": 1}\n[]\n");
	free(w.text);
}

static void test_numbers(void **state)
{
	struct writing w;
	struct json *j = writing_start(&w);

	(void)state;
	json_array_flat(j, NULL);
	json_u64(j, NULL, UINT64_MAX);
	json_i64(j, NULL, INT64_MIN);
	json_double(j, NULL, 3.14159, 3);
	json_double(j, NULL, -2.5, 0);
	json_double(j, NULL, 1e20, 1);
	json_double(j, NULL, (double)INFINITY, 3);
	json_double(j, NULL, -(double)INFINITY, 3);
	json_double(j, NULL, (double)NAN, 3);
	json_end(j);
	assert_string_equal(written(&w), "[18446744073709551615, -9223372036854775808, 3.142, -2, "
					 "100000000000000000000.0, null, null, null]\n");
	assert_true(is_json(w.text));
	free(w.text);
}

static void test_strings(void **state)
{
	struct writing w;
	struct json *j = writing_start(&w);

	(void)state;
	json_object(j, NULL);
	json_string(j, "plain", "gr\xc3\xbc\xc3\x9f/\xf0\x9f\x98\x80");
	json_string(j, "null", NULL);
	json_string_n(j, "null n", NULL, 5);
	json_string(j, "", "");
	json_string(j, "quote \" key", "a \"quoted\" 'name'");
	json_string(j, "backslash", "a\\b");
	json_command(j, "command", "echo max > 'a\\x2db\"\033'");
	json_command(j, "no command", NULL);
	json_string(j, "lines", "a\nb\033[2J");
	json_string(j, "bad \xff key", "\xc0\xaf \xed\xa0\x80 \xf0\x9f\x98 \xff");
	json_string(j, "csi",
		    "\xc2\x9b"
		    "31m");
	json_string(j, "bidi", "\xe2\x80\xaeX\xe2\x81\xa6");
	json_string_n(j, "cut", "abcdef", 3);
	json_string_n(j, "cut in a character", "ab\xe2\x82\xac", 4);
	json_string_n(j, "nul", "ab\0cd", 5);
	json_string_n(j, "none", "ab", 0);
	json_end(j);
	assert_string_equal(written(&w),
			    "{\n"
			    "  \"plain\": \"gr\xc3\xbc\xc3\x9f/\xf0\x9f\x98\x80\",\n"
			    "  \"null\": null,\n"
			    "  \"null n\": null,\n"
			    "  \"\": \"\",\n"
			    "  \"quote \\\" key\": \"a \\\"quoted\\\" 'name'\",\n"
			    "  \"backslash\": \"a\\\\\\\\b\",\n"
			    "  \"command\": \"echo max > 'a\\\\x2db\\\"\\\\x1b'\",\n"
			    "  \"no command\": null,\n"
			    "  \"lines\": \"a\\\\x0ab\\\\x1b[2J\",\n"
			    "  \"bad \\\\xff key\": \"\\\\xc0\\\\xaf \\\\xed\\\\xa0\\\\x80 "
			    "\\\\xf0\\\\x9f\\\\x98 \\\\xff\",\n"
			    "  \"csi\": \"\\\\xc2\\\\x9b31m\",\n"
			    "  \"bidi\": \"\\\\xe2\\\\x80\\\\xaeX\\\\xe2\\\\x81\\\\xa6\",\n"
			    "  \"cut\": \"abc\",\n"
			    "  \"cut in a character\": \"ab\\\\xe2\\\\x82\",\n"
			    "  \"nul\": \"ab\",\n"
			    "  \"none\": \"\"\n"
			    "}\n");
	assert_true(is_json(w.text));
	free(w.text);
}

/* Whatever a name holds: the output is JSON, and the string read back is the name as escape_text
 * shows it. */
static void test_random_names(void **state)
{
	(void)state;
	srandom(9);
	for (int round = 0; round < 5000; round++) {
		static const char edges[] =
			"\"\\/\n\033\x7f\xc2\x9b\xe2\x80\xae\xff\xed\xa0\x80\xf0\x9f\x98";
		char name[24], text[128], back[256];
		size_t len = (size_t)random() % sizeof(name);
		struct writing w;
		struct json *j = writing_start(&w);
		const char *at;

		for (size_t i = 0; i < len; i++)
			name[i] = random() % 2 ? edges[random() % (long)(sizeof(edges) - 1)]
					       : (char)(1 + random() % 255);
		json_object_flat(j, NULL);
		json_string_n(j, "k", name, len);
		json_end(j);
		assert_true(is_json(written(&w)));
		at = w.text + strlen("{\"k\": ");
		assert_true(read_string(&at, back));
		assert_string_equal(at, "}\n");
		assert_string_equal(back, escape_text(name, len, text, sizeof(text)));
		free(w.text);
	}
}

static void test_thirty_two_levels(void **state)
{
	struct writing w;
	struct json *j = writing_start(&w);
	size_t opened = 0, closed = 0;

	(void)state;
	for (unsigned i = 0; i < 32; i++)
		(i % 2 ? json_array : json_object)(j, i % 2 ? "k" : NULL);
	json_u64(j, NULL, 7);
	for (unsigned i = 0; i < 32; i++)
		json_end(j);
	assert_true(is_json(written(&w)));
	for (const char *c = w.text; *c; c++) {
		opened += *c == '{' || *c == '[';
		closed += *c == '}' || *c == ']';
	}
	assert_int_equal(opened, 32);
	assert_int_equal(closed, 32);
	free(w.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_reader_is_strict),
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_documents_in_a_row),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_random_names),
		cmocka_unit_test(test_thirty_two_levels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
