/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hostile names: for any bytes the output is printable UTF-8 without controls and bidirectional
 * tricks, tells two names apart, and fits. Also say(), which only has to escape its text. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* posix_openpt */
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/say.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
	const char *name, *text;
} cases[] = {
	{"", ""},
	{"kworker/0:1-mm_percpu_wq", "kworker/0:1-mm_percpu_wq"},
	{"with \"quotes\" and 'these'", "with \"quotes\" and 'these'"},
	{"a\\b", "a\\\\b"},
	{"\\x1b", "\\\\x1b"},
	{"two\nlines\ttab\r", "two\\x0alines\\x09tab\\x0d"},
	{"\033[2J\033]0;t\007", "\\x1b[2J\\x1b]0;t\\x07"},
	{"\x01\x1f\x7f", "\\x01\\x1f\\x7f"},
	{"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
	 "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"},
	{"\xdf\xbf \xef\xbf\xbd", "\xdf\xbf \xef\xbf\xbd"},
	{"\xef\xbf\xbe\xef\xbf\xbf", "\\xef\\xbf\\xbe\\xef\\xbf\\xbf"},
	/* C1, raw and as UTF-8; the first characters after them pass */
	{"\x9b"
	 "31m",
	 "\\x9b31m"},
	{"\xc2\x9b"
	 "31m",
	 "\\xc2\\x9b31m"},
	{"\xc2\x80\xc2\x9f\xc2\xa0", "\\xc2\\x80\\xc2\\x9f\xc2\xa0"},
	/* overlong forms of '/', ESC and NUL */
	{"\xc0\xaf", "\\xc0\\xaf"},
	{"\xc1\xbf", "\\xc1\\xbf"},
	{"\xe0\x80\xaf", "\\xe0\\x80\\xaf"},
	{"\xe0\x9f\xbf\xe0\xa0\x80", "\\xe0\\x9f\\xbf\xe0\xa0\x80"},
	{"\xf0\x80\x80\x9b", "\\xf0\\x80\\x80\\x9b"},
	{"\xf0\x8f\xbf\xbf\xf0\x90\x80\x80", "\\xf0\\x8f\\xbf\\xbf\xf0\x90\x80\x80"},
	/* surrogates and their neighbours, beyond U+10FFFF, bytes that never occur */
	{"\xed\xa0\x80\xed\xbf\xbf", "\\xed\\xa0\\x80\\xed\\xbf\\xbf"},
	{"\xed\x9f\xbf\xee\x80\x80", "\xed\x9f\xbf\xee\x80\x80"},
	{"\xf4\x8f\xbf\xbf\xf4\x90\x80\x80", "\xf4\x8f\xbf\xbf\\xf4\\x90\\x80\\x80"},
	{"\xf5\x80\x80\x80\xff\xfe", "\\xf5\\x80\\x80\\x80\\xff\\xfe"},
	/* truncated, at the end and before another character */
	{"\xc3", "\\xc3"},
	{"\xe2\x82", "\\xe2\\x82"},
	{"\xf0\x9f\x98", "\\xf0\\x9f\\x98"},
	{"\xe2\x82x", "\\xe2\\x82x"},
	{"\xe2\xc3\xbc", "\\xe2\xc3\xbc"},
	{"\xbf", "\\xbf"},
	/* bidirectional controls and separators, and what stands next to them */
	{"\xe2\x80\xae"
	 "gpj",
	 "\\xe2\\x80\\xaegpj"},
	{"\xe2\x80\xaa\xe2\x80\xaf", "\\xe2\\x80\\xaa\xe2\x80\xaf"},
	{"\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa",
	 "\xe2\x81\xa5\\xe2\\x81\\xa6\\xe2\\x81\\xa9\xe2\x81\xaa"},
	{"\xe2\x80\x8d\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\x90",
	 "\xe2\x80\x8d\\xe2\\x80\\x8e\\xe2\\x80\\x8f\xe2\x80\x90"},
	{"\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xa9", "\xe2\x80\xa7\\xe2\\x80\\xa8\\xe2\\x80\\xa9"},
	{"\xd8\x9b\xd8\x9c\xd8\x9d", "\xd8\x9b\\xd8\\x9c\xd8\x9d"},
};

static void test_escapes(void **state)
{
	char buf[128];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_string_equal(escape_text(cases[i].name, SIZE_MAX, buf, sizeof(buf)),
				    cases[i].text);
		assert_string_equal(
			escape_text(cases[i].name, strlen(cases[i].name), buf, sizeof(buf)),
			cases[i].text);
	}
}

static void test_length_bounds_the_name(void **state)
{
	/* on the heap, so that a byte read too many is seen by a sanitizer */
	char *name = malloc(4), buf[32];

	(void)state;
	memcpy(name, "ab\xe2\x82", 4);
	assert_string_equal(escape_text(name, 4, buf, sizeof(buf)), "ab\\xe2\\x82");
	assert_string_equal(escape_text(name, 3, buf, sizeof(buf)), "ab\\xe2");
	assert_string_equal(escape_text(name, 1, buf, sizeof(buf)), "a");
	assert_string_equal(escape_text(name, 0, buf, sizeof(buf)), "");
	memcpy(name, "a\0bc", 4);
	assert_string_equal(escape_text(name, 4, buf, sizeof(buf)), "a");
	free(name);
	assert_string_equal(escape_text("\xe2\x82\xac", 2, buf, sizeof(buf)), "\\xe2\\x82");
}

static void test_cuts_at_whole_characters(void **state)
{
	char buf[32];

	(void)state;
	assert_string_equal(escape_text("1234567", SIZE_MAX, buf, 8), "1234567");
	assert_string_equal(escape_text("12345678", SIZE_MAX, buf, 8), "1234...");
	assert_string_equal(escape_text("123\xc3\xbc"
					"678",
					SIZE_MAX, buf, 8),
			    "123...");
	assert_string_equal(escape_text("12\xc3\xbc"
					"5678",
					SIZE_MAX, buf, 8),
			    "12\xc3\xbc...");
	assert_string_equal(escape_text("\xf0\x9f\x98\x80xxxx", SIZE_MAX, buf, 8),
			    "\xf0\x9f\x98\x80...");
	assert_string_equal(escape_text("1\xf0\x9f\x98\x80xxx", SIZE_MAX, buf, 8), "1...");
	assert_string_equal(escape_text("\033\033", SIZE_MAX, buf, 8), "\\x1b...");
	assert_string_equal(escape_text("1\033\033", SIZE_MAX, buf, 8), "1...");
	assert_string_equal(escape_text("\xc2\x9bxxxx", SIZE_MAX, buf, 8), "...");
	assert_string_equal(escape_text("123\\45", SIZE_MAX, buf, 8), "123\\\\45");
	assert_string_equal(escape_text("123\\456", SIZE_MAX, buf, 8), "123...");
	assert_string_equal(escape_text("1234", SIZE_MAX, buf, 3), "..");
	assert_string_equal(escape_text("1234", SIZE_MAX, buf, 1), "");
	buf[0] = 'x';
	assert_ptr_equal(escape_text("1234", SIZE_MAX, buf, 0), buf);
	assert_int_equal(buf[0], 'x');
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Takes escaped text back to the name's bytes; fails on a backslash that is neither escape. */
static size_t unescape(const char *text, char *name)
{
	size_t n = 0;

	for (; *text; text++) {
		if (*text != '\\') {
			name[n++] = *text;
		} else if (text[1] == '\\') {
			name[n++] = *text++;
		} else {
			assert_int_equal(text[1], 'x');
			assert_true(hex(text[2]) >= 0 && hex(text[3]) >= 0);
			name[n++] = (char)(hex(text[2]) << 4 | hex(text[3]));
			text += 3;
		}
	}
	return n;
}

/* Bytes that meet more of the decoder's edges than even chances would. */
static char hostile_byte(void)
{
	static const char edges[] =
		"\x01\x1b\\\"\x7f\x80\x9b\x9f\xa8\xae\xbf\xc0\xc2\xd8\xe0\xe2\xed\xef\xf0\xf4\xff";

	if (random() % 3)
		return edges[random() % (long)(sizeof(edges) - 1)];
	return (char)(1 + random() % 255);
}

static void test_random_bytes_come_back(void **state)
{
	(void)state;
	srandom(8);
	for (int round = 0; round < 20000; round++) {
		char name[16], text[64 + 1], cut[24], back[16];
		size_t len = (size_t)random() % sizeof(name);

		for (size_t i = 0; i < len; i++)
			name[i] = hostile_byte();
		escape_text(name, len, text, sizeof(text));
		assert_int_equal(unescape(text, back), len);
		assert_memory_equal(back, name, len);
		for (const char *c = text; *c; c++)
			assert_true((unsigned char)*c >= 0x20 && *c != 0x7f);
		/* Escaping the output only doubles backslashes: all else in it is printable. */
		for (const char *c = text; *c;) {
			char piece[ESCAPE_CHAR];
			size_t used = escape_char(c, SIZE_MAX, piece);

			assert_memory_equal(piece, c, used);
			c += used;
		}
		escape_text(name, len, cut, sizeof(cut));
		assert_true(strlen(cut) < sizeof(cut));
		if (strlen(text) < sizeof(cut)) {
			assert_string_equal(cut, text);
		} else {
			assert_memory_equal(cut, text, strlen(cut) - 3);
			assert_string_equal(cut + strlen(cut) - 3, "...");
			assert_true(strlen(cut) + 12 >= sizeof(cut));
		}
	}
}

static void test_columns_and_fit(void **state)
{
	const char *text = "a\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80z";
	char piece[ESCAPE_CHAR];

	(void)state;
	assert_int_equal(text_columns(""), 0);
	piece[0] = 'x';
	assert_int_equal(escape_char("", SIZE_MAX, piece), 0);
	assert_string_equal(piece, "");
	assert_int_equal(text_columns("abc"), 3);
	assert_int_equal(text_columns(text), 5);
	assert_int_equal(text_fit(text, 0), 0);
	assert_int_equal(text_fit(text, 1), 1);
	assert_int_equal(text_fit(text, 2), 3);
	assert_int_equal(text_fit(text, 3), 6);
	assert_int_equal(text_fit(text, 4), 10);
	assert_int_equal(text_fit(text, 5), 11);
	assert_int_equal(text_fit(text, 99), 11);
}

static int stderr_kept;

/* Lets stderr go to fd until stderr_back(). */
static void stderr_to(int fd)
{
	fflush(stderr);
	stderr_kept = dup(STDERR_FILENO);
	assert_true(stderr_kept >= 0 && dup2(fd, STDERR_FILENO) >= 0);
}

static void stderr_back(void)
{
	fflush(stderr);
	dup2(stderr_kept, STDERR_FILENO);
	close(stderr_kept);
}

static const char *file_text(FILE *file, char *buf, size_t len)
{
	rewind(file);
	buf[fread(buf, 1, len - 1, file)] = '\0';
	fclose(file);
	return buf;
}

static void test_say_is_one_escaped_line(void **state)
{
	FILE *file = tmpfile();
	char buf[512];
	int result;

	(void)state;
	assert_non_null(file);
	stderr_to(fileno(file));
	say("%d names: %s", 2, "\033[2Jx\ny\xc2\x9b");
	result = complain("stray newline, path C:\\%s\n", "dir");
	stderr_back();
	assert_int_equal(result, -1);
	assert_string_equal(file_text(file, buf, sizeof(buf)),
			    "culprit: 2 names: \\x1b[2Jx\\x0ay\\xc2\\x9b\n"
			    "culprit: stray newline, path C:\\\\dir\n");
}

static void test_say_cuts_long_lines(void **state)
{
	static char name[4096 + 1], buf[20000]; /* one byte more than are taken */
	FILE *file = tmpfile();
	size_t len;

	(void)state;
	assert_non_null(file);
	memset(name, '\033', sizeof(name) - 1);
	stderr_to(fileno(file));
	say("%s", name);
	stderr_back();
	len = strlen(file_text(file, buf, sizeof(buf)));
	assert_int_equal(len, strlen("culprit: ") + 4 * 4092 + strlen("...\n"));
	assert_string_equal(buf + len - 8, "\\x1b...\n");
}

/* A write that fails must not change the errno that a caller is about to report. */
static void test_errno_is_kept(void **state)
{
	int full = open("/dev/full", O_WRONLY), after_say, after_progress;

	(void)state;
	assert_true(full >= 0);
	stderr_to(full);
	errno = ENOENT;
	say("lost");
	after_say = errno;
	say_progress("lost");
	after_progress = errno;
	say_progress("");
	stderr_back();
	clearerr(stderr);
	close(full);
	assert_int_equal(after_say, ENOENT);
	assert_int_equal(after_progress, ENOENT);
}

static void test_progress_is_cleared_before_a_line(void **state)
{
	FILE *file = tmpfile();
	char buf[512];

	(void)state;
	assert_non_null(file);
	stderr_to(fileno(file));
	say_progress(""); /* nothing stands: nothing to take away */
	say_progress("10 s\033[m");
	say_progress("11 s");
	say("news");
	say("more");
	say_progress("12 s");
	say_progress("");
	say("end");
	stderr_back();
	assert_string_equal(file_text(file, buf, sizeof(buf)),
			    "\r10 s\\x1b[m\033[K\r11 s\033[K\r\033[Kculprit: news\nculprit: more\n"
			    "\r12 s\033[K\r\033[Kculprit: end\n");
}

static void test_progress_is_cut_where_no_terminal_tells(void **state)
{
	FILE *file = tmpfile();
	char buf[512], line[201] = "", want[128];

	(void)state;
	assert_non_null(file);
	memset(line, 'x', sizeof(line) - 1);
	stderr_to(fileno(file));
	say_progress(line);
	say_progress("");
	stderr_back();
	snprintf(want, sizeof(want), "\r%.79s\033[K\r\033[K", line);
	assert_string_equal(file_text(file, buf, sizeof(buf)), want);
}

static void test_progress_is_cut_to_the_terminal(void **state)
{
	struct winsize size = {.ws_row = 24, .ws_col = 12};
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;
	const char *want = "\rw\xc3\xbcrde wrapp\033[K";
	char buf[64] = "";
	ssize_t n;

	(void)state;
	if (master < 0 || grantpt(master) || unlockpt(master)) {
		print_message("no terminal can be made here\n");
		skip();
	}
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	assert_true(slave >= 0);
	assert_int_equal(ioctl(slave, TIOCSWINSZ, &size), 0);
	stderr_to(slave);
	say_progress("w\xc3\xbcrde wrapping the line");
	stderr_back();
	n = read(master, buf, sizeof(buf) - 1);
	assert_int_equal(n, strlen(want));
	assert_string_equal(buf, want);
	close(slave);
	close(master);
}

static void test_shell(void **state)
{
	static const struct {
		const char *text, *word; /* NULL: refused */
	} words[] = {
		{"eth0", "eth0"},
		{"0-3,8", "0-3,8"},
		{"/proc/irq/36/smp_affinity_list", "/proc/irq/36/smp_affinity_list"},
		{"", "''"},
		{"-rf", "'-rf'"},
		{"two words", "'two words'"},
		{"$(reboot)`id`;&|<>*?~#\\\"", "'$(reboot)`id`;&|<>*?~#\\\"'"},
		{"it's", "'it'\\''s'"},
		{"gr\xc3\xbc\xc3\x9f", "'gr\xc3\xbc\xc3\x9f'"},
		{"a\nreboot", NULL},
		{"\033[2J", NULL},
		{"\x7f", NULL},
		{"\xc2\x9b"
		 "2J",
		 NULL},
		{"\xff", NULL},
		{"\xe2\x80\xae", NULL},
	};
	char buf[64];

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++) {
		const char *got = shell_quote(words[i].text, buf, sizeof(buf));

		if (!words[i].word)
			assert_null(got);
		else
			assert_string_equal(got, words[i].word);
	}
	/* As it fits, or not at all: a cut word would be another one. */
	assert_string_equal(shell_quote("abcd", buf, 6), "abcd");
	assert_null(shell_quote("abcde", buf, 6));
	assert_string_equal(shell_quote("a b", buf, 6), "'a b'");
	assert_null(shell_quote("a bc", buf, 6));
	assert_null(shell_quote("", buf, 2));
}

/* Names of all short lengths, with each byte at each place: only what escape_char leaves as it is
 * may be copied, and then as it is, without a byte before or behind it. */
static void test_copies_plain_names(void **state)
{
	char name[26], to[28], piece[ESCAPE_CHAR];

	(void)state;
	for (size_t len = 0; len < sizeof(name); len++) {
		memset(name, 'a', sizeof(name));
		memset(to, '.', sizeof(to));
		assert_true(escape_copy(to + 1, name, len));
		assert_memory_equal(to + 1, name, len);
		assert_int_equal(to[0], '.');
		assert_int_equal(to[len + 1], '.');
		for (size_t at = 0; at < len; at++)
			for (int byte = 1; byte < 256; byte++) {
				bool plain = byte < 0x80 && byte != '"';

				name[at] = byte;
				escape_char(name + at, 1, piece);
				plain &= piece[0] == (char)byte && !piece[1];
				assert_int_equal(escape_copy(to, name, len), plain);
				name[at] = 'a';
			}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shell),
		cmocka_unit_test(test_copies_plain_names),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_length_bounds_the_name),
		cmocka_unit_test(test_cuts_at_whole_characters),
		cmocka_unit_test(test_random_bytes_come_back),
		cmocka_unit_test(test_columns_and_fit),
		cmocka_unit_test(test_say_is_one_escaped_line),
		cmocka_unit_test(test_say_cuts_long_lines),
		cmocka_unit_test(test_errno_is_kept),
		cmocka_unit_test(test_progress_is_cleared_before_a_line),
		cmocka_unit_test(test_progress_is_cut_where_no_terminal_tells),
		cmocka_unit_test(test_progress_is_cut_to_the_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
