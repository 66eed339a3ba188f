/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code spans and tables in Markdown, to the byte. Their looks in a reader:
 * tests/cli/25-formats.t. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/markdown.h"
#include "base/table.h"

static void test_code(void **state)
{
	static const struct {
		const char *text, *code;
	} rows[] = {{"", ""},
		    {"a", "`a`"},
		    {"a|b <x> *y*", "`a|b <x> *y*`"},
		    {"a`b", "``a`b``"},
		    {"a``b`c", "```a``b`c```"},
		    {"`a", "`` `a ``"},
		    {"a`", "`` a` ``"},
		    {"`", "`` ` ``"},
		    {" a ", "`  a  `"}};
	char buf[64];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(markdown_code(rows[i].text, buf, sizeof(buf)), rows[i].code);
}

/* Whatever is cut, what is left is a whole span of whole characters. */
static void test_code_is_cut(void **state)
{
	static const char *const texts[] = {
		"abcdefghijklmnopqrstuvwxyz", "abc```````````````````````", "``````````````````",
		"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc"};
	char buf[64];

	(void)state;
	assert_string_equal(markdown_code(texts[0], buf, 16), "`abcdefghijklm`");
	assert_string_equal(markdown_code(texts[1], buf, 16), "``` abc`` ```");
	assert_string_equal(markdown_code(texts[3], buf, 16),
			    "`\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc`");
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		for (size_t len = 16; len < sizeof(buf); len++) {
			char *code = markdown_code(texts[i], memset(buf, 'x', sizeof(buf)), len);
			size_t run = strspn(code, "`"), n = strlen(code);

			assert_true(n < len && n > 2 * run);
			assert_true(strspn(code + n - run, "`") == run);
			assert_true(code[n - run - 1] != '`');
			assert_true(len == sizeof(buf) || buf[len] == 'x');
		}
}

/* Looked up in cmark-gfm: what is written here is the text alone, with no link. */
static void test_text(void **state)
{
	static const char *const rows[][2] = {
		{"a *b* `c` <d>", "a \\*b\\* \\`c\\` \\<d\\>"},
		{"www.a.org. Www.b www", "www\\.a.org. Www\\.b www"},
		{"w: x://y :/ z", "w: x\\://y :/ z"},
		{"mailto:a@b.org", "mailto:a\\@<!-- -->b.org"},
		{"@name", "\\@<!-- -->name"},
	};
	char buf[64];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(markdown_text(rows[i][0], buf, sizeof(buf)), rows[i][1]);
	for (size_t len = 1; len < 12; len++) /* an at sign and what is behind it, or neither */
		assert_string_equal(markdown_text("a@", buf, len), len < 2 ? "" : "a");
	assert_string_equal(markdown_text("a@", buf, 12), "a\\@<!-- -->");
}

static void test_table(void **state)
{
	struct table *t = table_new(0, 2);
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	assert_non_null(t);
	assert_non_null(out);
	table_column(t, "n", ALIGN_RIGHT, false);
	table_column(t, "name", ALIGN_LEFT, false);
	table_column(t, "long", ALIGN_LEFT, true);
	table_cell(t, "1", "7");
	table_cell(t, NULL, "`a|b`");
	table_cell(t, NULL, "01234567890123456789012345678901234567890123456789012");
	table_end_row(t);
	table_cell(t, NULL, "12345");
	table_end_row(t);
	table_print_markdown(t, out);
	fclose(out);
	table_free(t);
	assert_string_equal(
		text,
		"|     n | name   | long                                             |\n"
		"| ----: | :----- | :----------------------------------------------- |\n"
		"|     7 | `a\\|b` | 01234567890123456789012345678901234567890123456789012 |\n"
		"| 12345 |        |                                                  |\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code),
		cmocka_unit_test(test_code_is_cut),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
