/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calls of a user stack as text, and the way to a request that they show. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "model/calls.h"

static const char *const membarrier[] = {"smp_call_function_many_cond", "membarrier_private",
					 "__x64_sys_membarrier", "do_syscall_64"};

static struct asker_row row(const char *function, const char *calls)
{
	return (struct asker_row){
		.who = {.kind = ASKER_THREAD, .function = function, .user = 1, .calls = calls},
		.nframes = 4,
		.frame = membarrier};
}

static void check_way(const char *function, const char *calls, const char *want)
{
	struct asker_row r = row(function, calls);
	char way[CALLS_WAY];

	assert_string_equal(calls_way(&r, way), want);
}

static void test_way(void **state)
{
	struct asker_row no_call = row("futex_wake", "f\tx\t1\t\nmain\tx\t2\t\n");
	char way[CALLS_WAY];

	(void)state;
	/* beyond main is nothing of interest, and the C library's function is the call */
	check_way("membarrier_private",
		  "membarrier\tlibc\t1\t\nstorm\tpoke\t2\t\nmain\tpoke\t3\t\n\tlibc\t4\t\n?\n",
		  "main > storm > membarrier() > membarrier_private");
	/* the line of the innermost call that has one, without its directory */
	check_way("membarrier_private",
		  "membarrier\tlibc\t1\t\nstorm\tpoke\t2\t\ta/b.c:7\nmain\tpoke\t3\t\tc.c:9\n",
		  "main > storm (b.c:7) > membarrier() > membarrier_private");
	check_way("f", "\tx\t1\t\nmain\tx\t3\tff\tc.c:9\n",
		  "main (c.c:9) > x+0x1 > membarrier() > f");
	check_way("__x64_sys_membarrier", "syscall\tlibc\t1\t\nmain\tpoke\t3\t\n",
		  "main > syscall > membarrier()");
	check_way("f", "syscall\t/lib/libc.so.6\t1\t\n?\n", "? > syscall > membarrier() > f");
	check_way("f", "\t/lib/libc.so.6\t1a\t\n\t\t7f00\t\n",
		  "[no file] > libc.so.6+0x1a > "
		  "membarrier() > f");
	check_way("f",
		  "a\tx\t1\t\nb\tx\t1\t\nc\tx\t1\t\nd\tx\t1\t\ne\tx\t1\t\nf\tx\t1\t\ng\tx\t1\t"
		  "\n",
		  "... > f > e > d > c > b > a > membarrier() > f");
	check_way("f", "", "f");
	check_way("f", NULL, "f");
	check_way(NULL, "a\tx\t1\t\n", "a > membarrier()");
	check_way(NULL, NULL, "");
	no_call.nframes = 2;
	assert_string_equal(calls_way(&no_call, way), "main > f > futex_wake");
}

static void same(const struct call *a, const struct call *b)
{
	assert_int_equal(a->gap, b->gap);
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->file, b->file);
	assert_string_equal(a->build, b->build);
	assert_string_equal(a->line, b->line);
	assert_int_equal(a->offset, b->offset);
}

/* A line is read as it was written; what divides fields and lines is in none. */
static void test_lines(void **state)
{
	static const struct call call[] = {{.name = "f",
					    .file = "/a b/c",
					    .offset = 0xfedcba9876543210,
					    .build = "00ff",
					    .line = "/c d/e.c:1"},
					   {.name = "g", .file = "h", .line = "i:2"},
					   {.gap = true},
					   {.offset = 5},
					   {.name = "<\x1b\xff>", .file = "x"}};
	static const struct call strange = {
		.name = "a\tb\nc", .file = "\n\t", .build = "\t", .line = "\t\n"};
	static char text[CALLS_TEXT];
	const char *at = text;
	struct call c;
	size_t len = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(call) / sizeof(call[0]); i++)
		len = calls_add(text, len, &call[i]);
	assert_int_equal(len, strlen(text));
	for (size_t i = 0; i < sizeof(call) / sizeof(call[0]); i++) {
		assert_true(calls_next(&at, &c));
		same(&c, &call[i]);
	}
	assert_false(calls_next(&at, &c));
	at = text;
	calls_add(text, 0, &strange);
	assert_true(calls_next(&at, &c));
	assert_string_equal(c.name, "a?b?c");
	assert_string_equal(c.file, "??");
	assert_false(calls_next(&at, &c));
}

/* As many lines as are kept have room, however long; one more may leave the text as it is. */
static void test_long(void **state)
{
	static char text[CALLS_TEXT];
	const char *at = text;
	struct call c = {.offset = UINT64_MAX};
	size_t len = 0, n = 0;

	(void)state;
	memset(c.name, 'n', sizeof(c.name) - 1);
	memset(c.file, 'f', sizeof(c.file) - 1);
	memset(c.build, 'b', sizeof(c.build) - 1);
	memset(c.line, 'l', sizeof(c.line) - 1);
	for (int i = 0; i < CALLS_MOST; i++) {
		size_t before = len;

		len = calls_add(text, len, &c);
		assert_true(len > before);
	}
	for (int i = 0; i < 2; i++)
		len = calls_add(text, len, &c);
	assert_int_equal(len, strlen(text));
	while (calls_next(&at, &c))
		n++;
	assert_true(n >= CALLS_MOST);
	assert_int_equal(strlen(c.name), 0);
}

/* Lines that calls_add() does not write are read in bounds, and come to an end. */
static void test_forged(void **state)
{
	static const char *const texts[] = {
		"a", "\t",    "\n",    "\t\t\t\t\t\n", "a\tb", "a\tb\tzz\tc\td\n\n",
		"?", "??\t?", "\n\n\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct asker_row r = row("f", texts[i]);
		const char *at = texts[i];
		char way[CALLS_WAY];
		struct call c;
		int n = 0;

		while (calls_next(&at, &c))
			assert_true(++n < 10);
		assert_ptr_equal(at, texts[i] + strlen(texts[i]));
		assert_non_null(strstr(calls_way(&r, way), "f"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_way),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_forged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
