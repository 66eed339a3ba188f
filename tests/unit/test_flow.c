/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow: items joined on lines that fit a width. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/flow.h"

static char *printed(unsigned width, const char *const *items, const char *separator,
		     const char *lead)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	struct flow f;

	flow_start(&f, out, width, "a: ", separator, lead);
	for (; *items; items++)
		flow_add(&f, "%s", *items);
	flow_end(&f);
	fclose(out);
	return text;
}

static void check(unsigned width, const char *const *items, const char *separator, const char *lead,
		  const char *want)
{
	char *got = printed(width, items, separator, lead);

	assert_string_equal(got, want);
	free(got);
}

static void test_one_line(void **state)
{
	static const char *const items[] = {"one", "two", NULL}, *const none[] = {NULL};

	(void)state;
	check(20, items, " · ", "  ", "a: one · two\n");
	check(12, items, " · ", "  ", "a: one · two\n"); /* twelve columns: the dot is two bytes */
	check(20, none, " · ", "  ", "a: \n");
}

static void test_breaks(void **state)
{
	static const char *const items[] = {"one", "two", "three", NULL};
	static const char *const longer[] = {"longer than the line", "x", NULL};

	(void)state;
	check(11, items, " · ", "  ", "a: one\n  two\n  three\n");
	check(12, items, " + ", " + ", "a: one + two\n + three\n");
	check(8, longer, " ", "  ", "a: longer than the line\n  x\n"); /* an item is never cut */
}

static void test_columns_not_bytes(void **state)
{
	static const char *const items[] = {"µµµ", "µµµ", NULL};

	(void)state;
	check(10, items, " ", " ", "a: µµµ µµµ\n");
	check(9, items, " ", " ", "a: µµµ\n µµµ\n");
}

/* A line has room for its tail, and none breaks a word of the shell's. */
static void check_command(const char *command, const char *want)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	struct flow f;

	flow_start(&f, out, 12, "  ", " ", "  ");
	f.tail = " \\";
	flow_words(&f, command);
	flow_end(&f);
	fclose(out);
	assert_string_equal(text, want);
	free(text);
}

static void test_tail(void **state)
{
	(void)state;
	check_command("echo 0 > /a/b; done", "  echo 0 > \\\n  /a/b; \\\n  done\n");
	check_command("echo 'a b' c", "  echo \\\n  'a b' c\n");
	check_command("echo 'a'\\''b c' d", "  echo \\\n'a'\\''b c' \\\n  d\n");
	check_command("echo \"'a b\" c", "  echo \\\n  \"'a b\" c\n");
	check_command("echo /a/b\\ c de", "  echo \\\n  /a/b\\ c \\\n  de\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_line),
		cmocka_unit_test(test_breaks),
		cmocka_unit_test(test_columns_not_bytes),
		cmocka_unit_test(test_tail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
