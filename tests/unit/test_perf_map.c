/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of programs that make code: found by address, the last line first, whatever else the
 * file holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/perf_map.h"

/* Bytes come in pieces of `step`. */
static struct perf_map *read_text(const char *text, size_t step)
{
	struct perf_map *m = perf_map_new();

	assert_non_null(m);
	for (size_t at = 0, len = strlen(text); at < len; at += step)
		assert_true(perf_map_add(m, text + at, len - at < step ? len - at : step));
	return m;
}

static void is(struct perf_map *m, uint64_t address, const char *name)
{
	const char *found = perf_map_name(m, address);

	if (!name)
		assert_null(found);
	else
		assert_string_equal(found ? found : "none", name);
}

static void test_lines(void **state)
{
	static const char text[] = "7f0000001000 20 py::main:/srv/a b.py\n"
				   "0x7f0000001020 0x10 LazyCompile:*f x.js:1\n"
				   "7f0000001040 10 \x1b[31m\n";

	(void)state;
	for (size_t step = 1; step < sizeof(text); step++) {
		struct perf_map *m = read_text(text, step);

		is(m, 0x7f0000000fff, NULL);
		is(m, 0x7f0000001000, "py::main:/srv/a b.py");
		is(m, 0x7f000000101f, "py::main:/srv/a b.py");
		is(m, 0x7f0000001020, "LazyCompile:*f x.js:1");
		is(m, 0x7f0000001030, NULL);
		is(m, 0x7f0000001040, "\x1b[31m");
		is(m, UINT64_MAX, NULL);
		perf_map_free(m);
	}
}

/* As programs write them: node --perf-basic-prof, a JVM by jcmd and by its agent, CPython, .NET. */
static void test_programs(void **state)
{
	static const char text[] =
		"19d5b40 11c Builtin:RegExpPrototypeStickyGetter\n"
		"265ef14ebab6 19 JS:~askOften /srv/a b/n.js:6:20\n"
		"7fa8b37c7700 170 JS:^askOften /srv/a b/n.js:6:20\n"
		"265ef14fd000 4a Script:~ /srv/n.js:1:1\n"
		"7fa8b37c8000 400 RegExp:^(\\w+) \\d{3}\n"
		"0x00007f9f8c938c00 0x0000000000007530 StubRoutines (1)\n"
		"0x00007f9f8cec71a0 0x00000000000000c8 void java.lang.Boolean.<clinit>()\n"
		"0x00007f9f8ceced40 0x0000000000000158 boolean a.B.c(java.lang.Class, int)\n"
		"7f9f8d08ef20 1d0 Ljava/lang/String;::hashCode\n"
		"7f12a0001000 c py::<lambda>:/srv/app.py\n"
		"00007F3C1A2B0000 0045 instance void [app] Foo::Bar(int32)[OptimizedTier1]\n";
	struct perf_map *m = read_text(text, 4096);

	(void)state;
	is(m, 0x19d5b40 + 0x11b, "Builtin:RegExpPrototypeStickyGetter");
	is(m, 0x265ef14ebab6, "JS:~askOften /srv/a b/n.js:6:20");
	is(m, 0x265ef14ebab6 + 0x19, NULL);
	is(m, 0x7fa8b37c7700 + 0x16f, "JS:^askOften /srv/a b/n.js:6:20");
	is(m, 0x265ef14fd049, "Script:~ /srv/n.js:1:1");
	is(m, 0x7fa8b37c8001, "RegExp:^(\\w+) \\d{3}");
	is(m, 0x7f9f8c938c00 + 0x752f, "StubRoutines (1)");
	is(m, 0x7f9f8cec71a0, "void java.lang.Boolean.<clinit>()");
	is(m, 0x7f9f8ceced41, "boolean a.B.c(java.lang.Class, int)");
	is(m, 0x7f9f8d08ef21, "Ljava/lang/String;::hashCode");
	is(m, 0x7f12a000100b, "py::<lambda>:/srv/app.py");
	is(m, 0x7f3c1a2b0044, "instance void [app] Foo::Bar(int32)[OptimizedTier1]");
	perf_map_free(m);
}

static void test_overlap(void **state)
{
	static const char text[] = "1000 100 all\n1040 10 in it\n1080 10 at its end\n"
				   "1044 4 anew\n1000 48 over both\n";
	struct perf_map *m = read_text(text, 4096);

	(void)state;
	is(m, 0x1000, "over both");
	is(m, 0x1044, "over both");
	is(m, 0x1047, "over both");
	is(m, 0x1048, "in it");
	is(m, 0x1050, "all");
	is(m, 0x1080, "at its end");
	is(m, 0x10ff, "all");
	perf_map_free(m);
}

static void test_grows(void **state)
{
	struct perf_map *m = read_text("1000 10 one\n2000 10 tw", 4096);

	(void)state;
	is(m, 0x1000, "one");
	is(m, 0x2000, NULL);
	assert_true(perf_map_add(m, "o\n1008 10 three\n", 16));
	is(m, 0x2000, "two");
	is(m, 0x1007, "one");
	is(m, 0x1008, "three"); /* the code was made anew */
	perf_map_free(m);
}

static void test_others(void **state)
{
	static const char text[] = "\n \n1000\n1000 10\n1000 10 \n1000  10 a\ng 10 a\n1000 0 a\n"
				   "ffffffffffffffff 10 a\n11111111111111111 10 a\n-1000 10 a\n"
				   "0x 10 a\n1000,10,a\n1000 10 a";
	struct perf_map *m = read_text(text, 7);

	(void)state;
	for (uint64_t at = 0; at < 0x2000; at++)
		is(m, at, NULL);
	assert_true(perf_map_add(m, "\n", 1));
	is(m, 0x1000, "a"); /* the last has its end now */
	perf_map_free(m);
}

static void test_long_line(void **state)
{
	char *text = calloc(1, 3 * PERF_MAP_LINE);
	struct perf_map *m;

	(void)state;
	assert_non_null(text);
	strcpy(text, "1000 10 ");
	memset(text + 8, 'x', PERF_MAP_LINE);
	strcat(text, "\n2000 10 behind\n");
	m = read_text(text, 100);
	is(m, 0x1000, NULL);
	is(m, 0x2000, "behind");
	perf_map_free(m);
	free(text);
}

/* More lines than stay unsorted, in any order; of two for one place the later counts. */
static void test_many(void **state)
{
	enum { N = 20000 };
	struct perf_map *m = perf_map_new();
	char line[64];

	(void)state;
	assert_non_null(m);
	for (unsigned turn = 0; turn < 2; turn++) {
		for (unsigned i = 0; i < N; i++) {
			unsigned at = i * 7919 % N; /* a prime: each once */
			int len = snprintf(line, sizeof(line), "%x 10 f%u.%u\n", 16 * at, at, turn);

			assert_true(perf_map_add(m, line, len));
		}
		for (unsigned i = 0; i < N; i++) {
			snprintf(line, sizeof(line), "f%u.%u", i, turn);
			is(m, 16 * i + i % 16, line);
		}
	}
	is(m, 16 * N, NULL);
	assert_true(perf_map_bytes(m) < 4 << 20);
	perf_map_free(m);
}

/* However many functions are inside another, or were where it is. */
static void test_over_many(void **state)
{
	struct perf_map *m = perf_map_new();
	char line[64];

	(void)state;
	assert_non_null(m);
	for (unsigned i = 0; i < 5000; i++) {
		const char *form = i < 100    ? "%x 40 old_stub%u\n"
				   : i == 100 ? "0 1900 big_new\n"
					      : "%x 40 other%u\n";

		assert_true(perf_map_add(m, line, snprintf(line, sizeof(line), form, 64 * i, i)));
	}
	for (unsigned at = 0; at < 100 * 64; at++)
		is(m, at, "big_new");
	is(m, 64 * 101, "other101");
	perf_map_free(m);
}

/* As a simple look through all of them finds, at any time. */
static void test_any(void **state)
{
	enum { N = 30000, PLACES = 1024 };
	static char last[PLACES][16];
	struct perf_map *m = perf_map_new();
	uint64_t seed = 1;
	char line[64];

	(void)state;
	assert_non_null(m);
	for (unsigned i = 0; i < N; i++) {
		unsigned at, bytes;
		int len;

		seed = seed * 6364136223846793005U + 1442695040888963407U;
		at = seed >> 54;
		bytes = 1 + ((seed >> 40 & 1023) >> (seed >> 60));
		len = snprintf(line, sizeof(line), "%x %x f%u\n", at, bytes, i);
		assert_true(perf_map_add(m, line, len));
		for (unsigned k = at; k < at + bytes && k < PLACES; k++)
			snprintf(last[k], sizeof(last[k]), "f%u", i);
		for (unsigned k = 0; i % 3000 == 2999 && k < PLACES; k++)
			is(m, k, last[k][0] ? last[k] : NULL);
	}
	perf_map_free(m);
}

static void test_room(void **state)
{
	struct perf_map *m = perf_map_new();
	uint32_t n = 0;

	(void)state;
	assert_non_null(m);
	while (perf_map_add(m, "1000 10 a\n", 10))
		n++;
	assert_int_equal(n, PERF_MAP_LINES);
	is(m, 0x1000, "a");
	perf_map_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),   cmocka_unit_test(test_programs),
		cmocka_unit_test(test_overlap), cmocka_unit_test(test_grows),
		cmocka_unit_test(test_others),  cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_many),    cmocka_unit_test(test_room),
		cmocka_unit_test(test_any),     cmocka_unit_test(test_over_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
