// SPDX-License-Identifier: GPL-2.0-or-later
/* Kernel symbols of a made-up kernel. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/symbols.h"

static char paths[2][32];

static struct symbols *made(const char *kallsyms, const char *modules)
{
	const char *text[2] = {kallsyms, modules};
	struct symbols *s;

	for (int i = 0; i < 2; i++) {
		FILE *f;
		int fd;

		strcpy(paths[i], "/tmp/symbols.XXXXXX");
		fd = mkstemp(paths[i]);
		assert_true(fd >= 0);
		f = fdopen(fd, "w");
		fputs(text[i], f);
		fclose(f);
	}
	s = symbols_of(paths[0], paths[1]);
	assert_non_null(s);
	unlink(paths[0]);
	unlink(paths[1]);
	return s;
}

#define KERNEL                                                                                     \
	"ffffffff81000000 T _stext\n"                                                              \
	"ffffffff81000100 t vmstat_update\n"                                                       \
	"ffffffff81000100 t alias\n"                                                               \
	"ffffffff81000180 D data\n"                                                                \
	"ffffffffc0100000 t a_open\t[a]\n"                                                         \
	"ffffffffc0101000 t a_exit\t[a]\n"                                                         \
	"ffffffffc0300000 t bpf_prog_12_x\t[bpf]\n"

static void check(struct symbols *s, uint64_t address, const char *name)
{
	assert_string_equal(symbols_name(s, address), name);
}

static void test_nearest(void **state)
{
	struct symbols *s = made(KERNEL, "a 12288 0 - Live 0xffffffffc0100000\n");

	(void)state;
	assert_false(symbols_hidden(s));
	check(s, 0xffffffff81000104, "vmstat_update");
	check(s, 0xffffffff81000190, "vmstat_update");
	check(s, 0xffffffffc0100010, "a_open [a]");
	check(s, 0xffffffffc0102fff, "a_exit [a]");
	check(s, 0xffffffffc0300040, "bpf_prog_12_x [bpf]");
	assert_int_equal(symbols_address(s, "alias"), 0xffffffff81000100);
	symbols_free(s);
}

/* A module that came later lies behind those that were there: what it runs is none of theirs. */
static void test_a_module_that_came_later(void **state)
{
	struct symbols *s = made(KERNEL, "gone 4096 0 - Live 0xffffffffc0000000 (OE)\n"
					 "a 12288 1 b,c, Live 0xffffffffc0100000\n");

	(void)state;
	check(s, 0xffffffffc0103000, "[unknown 1]");
	check(s, 0xffffffffc0120000, "[unknown 2]");
	check(s, 0xffffffffc0101010, "a_exit [a]");
	check(s, 0xffffffff80ffffff, "[unknown 3]");
	symbols_free(s);
}

/* Programs, and what is built in, have no end that is known: a module that came later is none. */
static void test_behind_a_program(void **state)
{
	struct symbols *s = made("ffffffffc0200000 t bpf_prog_x_sd_fw_egress\t[bpf]\n"
				 "ffffffffc0400000 t kprobe_insn_page\t[__builtin__kprobes]\n",
				 "");

	(void)state;
	check(s, 0xffffffffc02f4abc, "[unknown 1]");
	check(s, 0xffffffffc0201000, "[unknown 2]");
	check(s, 0xffffffffc0401000, "[unknown 3]");
	check(s, 0xffffffffc0200fff, "bpf_prog_x_sd_fw_egress [bpf]");
	check(s, 0xffffffffc0400fff, "kprobe_insn_page [__builtin__kprobes]");
	symbols_free(s);
}

/* A function that ends with a call returns to where the next one begins. */
static void test_callers(void **state)
{
	struct symbols *s = made("ffffffff81000000 T do_group_exit\n"
				 "ffffffff81000100 T next\n",
				 "");

	(void)state;
	assert_string_equal(symbols_caller(s, 0xffffffff81000100, "do_exit"), "do_group_exit");
	assert_string_equal(symbols_caller(s, 0xffffffff81000100, NULL), "do_group_exit");
	assert_string_equal(symbols_caller(s, 0xffffffff81000101, "do_exit"), "next");
	assert_string_equal(symbols_caller(s, 0xffffffff81000100, "asm_exc_page_fault"), "next");
	assert_string_equal(symbols_caller(s, 0xffffffff81000100, "el1h_64_irq"), "next");
	symbols_free(s);
}

/* The kernel does not tell where modules lie: the nearest is taken. */
static void test_modules_hidden(void **state)
{
	struct symbols *s = made(KERNEL, "a 12288 0 - Live 0x0000000000000000\n");

	(void)state;
	check(s, 0xffffffffc0101010, "a_exit [a]");
	symbols_free(s);
}

#define FIRST 0xffffffff81000000
#define MANY  5000

/* The kernel of *ctx calls so far. */
static const char *answer(void *ctx, uint64_t address)
{
	static char text[32];

	++*(int *)ctx;
	if (address < FIRST)
		return NULL;
	snprintf(text, sizeof(text), address & 1 ? "0x%llx" : "f%llu [a]",
		 (unsigned long long)(address & 1 ? address : (address - FIRST) / 16));
	return text;
}

/* However many there are, each is asked for once, and its name stays where it is. */
static void test_asking(void **state)
{
	int calls = 0;
	struct symbols *s = symbols_asking(answer, &calls);
	const char *first;
	char name[32];

	(void)state;
	assert_non_null(s);
	assert_false(symbols_hidden(s));
	first = symbols_name(s, FIRST);
	assert_string_equal(first, "f0 [a]");
	assert_ptr_equal(symbols_name(s, FIRST + 8), first); /* the same function */
	for (int twice = 0; twice < 2; twice++)
		for (uint64_t i = 0; i < MANY; i++) {
			snprintf(name, sizeof(name), "f%d [a]", (int)i);
			check(s, FIRST + 16 * i, name);
		}
	assert_ptr_equal(symbols_name(s, FIRST), first);
	assert_int_equal(calls, MANY + 1);
	check(s, FIRST + 1, "[unknown 1]");
	check(s, FIRST - 8, "[unknown 2]");
	check(s, FIRST + 1, "[unknown 1]");
	check(s, 0, "[unknown 3]");
	assert_int_equal(calls, MANY + 3);
	symbols_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_asking),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_a_module_that_came_later),
		cmocka_unit_test(test_modules_hidden),
		cmocka_unit_test(test_behind_a_program),
		cmocka_unit_test(test_callers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
