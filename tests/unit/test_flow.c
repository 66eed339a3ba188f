/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow: items joined on lines that fit a width. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "audit/book.h"
#include "base/flow.h"
#include "base/phrase.h"
#include "base/table.h"

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
	flow_command(&f, command);
	flow_end(&f);
	fclose(out);
	assert_string_equal(text, want);
	free(text);
}

static void test_commands(void **state)
{
	(void)state;
	check_command("echo 0 > /a/b; done", "  echo 0 > \\\n  /a/b; done\n");
	check_command("echo 'a b' c", "  echo \\\n  'a b' c\n");
	check_command("echo 'a'\\''b c' d", "  echo \\\n'a'\\''b c' d\n");
	check_command("echo \"'a b\" c", "  echo \\\n  \"'a b\" c\n");
	check_command("echo /a/b\\ c de", "  echo \\\n  /a/b\\ c de\n");
	check_command("echo a # b c d e", "  echo a # b\n  # c d e\n");
	check_command("echo a b # it's d e", "  echo a b\n  # it's d e\n");
}

static void test_prose(void **state)
{
	static const char *const rows[][2] = {
		{"see who (ps -e), then", "see who\n  (ps -e),\n  then\n"},
		{"see it: ps -e | grep 'a b'; end",
		 "see it:\n  ps -e | \\\n  grep 'a b';\n  end\n"},
		{"so: ps -e | awk '{ print $1, $2 }'",
		 "so:\n  ps -e | \\\n  awk \\\n'{ print $1, $2 }'\n"},
		{"it's a thread's, 'a name'", "it's a\n  thread's,\n  'a name'\n"},
	};
	char *text = NULL;
	struct flow f;
	size_t len;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		FILE *out = open_memstream(&text, &len);

		flow_start(&f, out, 13, "", " ", "  ");
		flow_advice(&f, rows[i][0]);
		flow_end(&f);
		fclose(out);
		assert_string_equal(text, rows[i][1]);
		free(text);
	}
}

/* ---- the book's commands, as a shell reads them ---- */

/* Takes the next word of a command as a shell does, "\n" where its line ends. Returns what is left.
 */
static const char *shell_word(const char *at, char word[1024])
{
	char quote = '\0';
	size_t len = 0;

	while (*at == ' ' || !strncmp(at, "\\\n", 2))
		at += *at == ' ' ? 1 : 2;
	if (*at == '\n') {
		strcpy(word, "\n");
		return at + 1;
	}
	for (; *at && (quote || (*at != ' ' && *at != '\n')); at++) {
		if (quote != '\'' && !strncmp(at, "\\\n", 2)) {
			at++;
			continue;
		}
		if (quote ? *at == quote : *at == '\'' || *at == '"')
			quote = quote ? '\0' : *at;
		word[len++] = *at;
	}
	word[len] = '\0';
	return at;
}

/* True when the printed text goes on with the words of the command. */
static bool reads_so(const char *printed, const char *command)
{
	char got[1024], want[1024];

	while (*(command += strspn(command, " "))) {
		command = shell_word(command, want);
		printed = shell_word(printed, got);
		if (strncmp(got, want, strlen(want)) != 0)
			return false;
	}
	return true;
}

/* Length up to a quote that no prose has: behind a blank, with a blank before its end. */
static size_t until_quoted(const char *text)
{
	for (const char *at = strpbrk(text, "'\""); at; at = strpbrk(at + 1, "'\"")) {
		const char *end = strchr(at + 1, *at);

		if (at != text && at[-1] == ' ' && end && memchr(at, ' ', end - at))
			return at - text;
	}
	return SIZE_MAX;
}

static void check_advice(const char *advice, unsigned width)
{
	size_t quoted = advice ? until_quoted(advice) : SIZE_MAX, len;
	struct table *t = table_new(width, 2);
	struct phrase part = {0};
	char *text = NULL, command[1024];
	FILE *out = open_memstream(&text, &len);

	table_column(t, NULL, ALIGN_LEFT, false);
	table_line(t, NULL, 11, 6, advice ? advice : "");
	table_print(t, out, false);
	fclose(out);
	while (advice && phrase_next(advice, &part)) {
		size_t from = part.text - advice;
		bool found = false;

		if (!part.command)
			continue;
		if (quoted > from && quoted < from + part.len)
			quoted = SIZE_MAX;
		snprintf(command, sizeof(command), "%.*s", (int)part.len, part.text);
		for (const char *at = text; *at && !found; at++)
			found = *at == *command && reads_so(at, command);
		if (!found)
			fail_msg("at %u columns \"%s\" is printed as\n%s", width, command, text);
	}
	if (quoted != SIZE_MAX)
		fail_msg("\"%s\" has a command that none is taken for", advice);
	table_free(t);
	free(text);
}

static void test_book(void **state)
{
	static const unsigned widths[] = {60, 80, 100};

	(void)state;
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
		for (uint32_t k = 0; k < causes_count; k++) {
			check_advice(causes[k].advice, widths[i]);
			check_advice(causes[k].otherwise, widths[i]);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_line),
		cmocka_unit_test(test_breaks),
		cmocka_unit_test(test_columns_not_bytes),
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_prose),
		cmocka_unit_test(test_book),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
