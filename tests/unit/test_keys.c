/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys of a terminal, whole, cut short, and such as nobody knows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/keys.h"

static void test_keys(void **state)
{
	static const struct {
		const char *bytes;
		int key;
		size_t taken;
	} rows[] = {
		{"q", 'q', 1},
		{"\xc3\xa9", 0xc3, 1},
		{"\r", '\r', 1},
		{"\033[A", KEY_UP, 3},
		{"\033[Bq", KEY_DOWN, 3},
		{"\033OC", KEY_RIGHT, 3},
		{"\033OD", KEY_LEFT, 3},
		{"\033[H", KEY_HOME, 3},
		{"\033[1~", KEY_HOME, 4},
		{"\033[4~", KEY_END, 4},
		{"\033[5~", KEY_PAGE_UP, 4},
		{"\033[6~x", KEY_PAGE_DOWN, 4},
		{"\033[15~", KEY_OTHER, 5},
		{"\033[1;5A", KEY_UP, 6}, /* with Ctrl */
		{"\033[<0;10;20M", KEY_OTHER, 11},
		{"\033q", KEY_ESCAPE, 1},
		{"\033\033[A", KEY_ESCAPE, 1},
		{"\033", 0, 0},
		{"\033[", 0, 0},
		{"\033[1;", 0, 0},
		{"\033O", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int key = 0;

		assert_int_equal(key_parse(rows[i].bytes, strlen(rows[i].bytes), &key),
				 rows[i].taken);
		assert_int_equal(key, rows[i].key);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
