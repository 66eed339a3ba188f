/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions and frames of this program, by its own file; and files that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../world/part.h"
#include "base/elf.h"

static uint8_t *bytes; /* this program's file */
static size_t len;

static int begin(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	off_t end = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);

	(void)state;
	bytes = end > 0 ? malloc(end) : NULL;
	len = end;
	return bytes && pread(fd, bytes, len, 0) == (ssize_t)len ? 0 : -1;
}

static struct elf *elf_of(struct part *p)
{
	return elf_new(&(struct elf_source){p, read_part});
}

/* ---- functions ---- */

static uint64_t base;

static int find_base(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	base = info->dlpi_addr;
	return 1; /* the program comes first */
}

int told(int n);

__attribute__((noinline)) int told(int n)
{
	return n + (n ? told(n - 1) : 0);
}

static void test_functions(void **state)
{
	struct part whole = {bytes, len};
	struct elf *e = elf_of(&whole);
	uint64_t at, leaf_at;

	(void)state;
	assert_non_null(e);
	assert_true(elf_is_whole(e));
	dl_iterate_phdr(find_base, NULL);
	at = (uint64_t)(uintptr_t)told - base;
	assert_string_equal(elf_name(e, at), "told");
	assert_string_equal(elf_name(e, at + 1), "told");
	assert_string_equal(elf_name(e, (uint64_t)(uintptr_t)test_functions - base),
			    "test_functions");
	assert_null(elf_name(e, 0));
	assert_null(elf_name(e, UINT64_MAX));
	/* Before its first instruction a function has put nothing anywhere. */
	assert_int_equal(elf_frame(e, at, &leaf_at), ELF_FRAME_LEAF);
	assert_int_equal(leaf_at, 0);
	assert_int_equal(elf_frame(e, 0, &leaf_at), ELF_FRAME_UNKNOWN);
	assert_int_equal(elf_frame(e, UINT64_MAX, &leaf_at), ELF_FRAME_UNKNOWN);
	assert_true(strlen(elf_build(e)) <= 2 * ELF_BUILD_BYTES);
	elf_free(e);
}

/* The note with the build id, from its type on, in a copy of this program's file. */
static uint8_t *build_in(uint8_t *copy, const struct elf *e)
{
	static const char note[] = "\x03\0\0\0GNU";
	unsigned first;
	uint8_t *at;

	assert_int_equal(sscanf(elf_build(e), "%2x", &first), 1); /* all linkers in use write one */
	at = memmem(copy, len, note, sizeof(note));
	while (at && at[sizeof(note)] != first)
		at = memmem(at + 1, copy + len - at - 1, note, sizeof(note));
	assert_non_null(at);
	return at;
}

/* Debug information is taken from a file of the same build id only. */
static void test_debug(void **state)
{
	struct part whole = {bytes, len}, other;
	struct elf *e = elf_of(&whole);
	uint8_t *copy = malloc(len), *id;

	(void)state;
	assert_non_null(e);
	assert_non_null(copy);
	assert_true(elf_add(e, &(struct elf_source){&whole, read_part}));
	memcpy(copy, bytes, len);
	id = build_in(copy, e);
	id[8] ^= 1;
	other = (struct part){copy, len};
	assert_false(elf_add(e, &(struct elf_source){&other, read_part}));
	free(copy);
	elf_free(e);
}

/* Notes aligned to 8 bytes: the name's end is, not the name. */
static void test_build_at_8(void **state)
{
	struct part whole = {bytes, len}, other;
	struct elf *e = elf_of(&whole), *same;
	uint8_t *copy = malloc(len), *id;
	Elf64_Ehdr *h;
	Elf64_Phdr *p;

	(void)state;
	assert_non_null(e);
	assert_non_null(copy);
	memcpy(copy, bytes, len);
	id = build_in(copy, e);
	h = (Elf64_Ehdr *)copy;
	p = (Elf64_Phdr *)(copy + h->e_phoff);
	for (unsigned i = 0; i < h->e_phnum; i++)
		p[i].p_type = p[i].p_type == PT_NOTE ? PT_NULL : p[i].p_type;
	p->p_type = PT_NOTE;
	p->p_offset = id - 8 - copy;
	p->p_filesz = 16 + strlen(elf_build(e)) / 2;
	p->p_align = 8;
	other = (struct part){copy, len};
	same = elf_of(&other);
	assert_non_null(same);
	assert_string_equal(elf_build(same), elf_build(e));
	elf_free(same);
	elf_free(e);
	free(copy);
}

static Elf64_Shdr *section_of(uint8_t *file, const char *name)
{
	Elf64_Ehdr *h = (Elf64_Ehdr *)file;
	Elf64_Shdr *s = (Elf64_Shdr *)(file + h->e_shoff);

	for (unsigned i = 0; i < h->e_shnum; i++)
		if (!strcmp((char *)file + s[h->e_shstrndx].sh_offset + s[i].sh_name, name))
			return &s[i];
	return NULL;
}

/* The section is found by its name alone; what was in it are functions of the program, whatever it
 * says of its build. */
static void test_packed(void **state)
{
	static const char name[] = ".gnu_debugdata";
	uint8_t *copy = malloc(len + sizeof(name));
	struct part whole = {bytes, len}, stripped = {copy, len + sizeof(name)};
	Elf64_Shdr *names, *comment;
	struct elf *e = elf_of(&whole);
	char *packed;
	size_t n;

	(void)state;
	assert_non_null(copy);
	assert_null(elf_packed(e, &n));
	elf_free(e);
	memcpy(copy, bytes, len);
	memcpy(copy + len, name, sizeof(name));
	section_of(copy, ".symtab")->sh_type = SHT_NULL;
	comment = section_of(copy, ".comment");
	names = section_of(copy, ".shstrtab");
	names->sh_offset = len - comment->sh_name;
	names->sh_size = comment->sh_name + sizeof(name);
	e = elf_of(&stripped);
	packed = elf_packed(e, &n);
	assert_non_null(packed);
	assert_int_equal(n, comment->sh_size);
	assert_memory_equal(packed, bytes + comment->sh_offset, n);
	free(packed);
	assert_null(elf_name(e, (uint64_t)(uintptr_t)test_packed - base));
	assert_true(elf_add_packed(e, &(struct elf_source){&whole, read_part}));
	assert_string_equal(elf_name(e, (uint64_t)(uintptr_t)test_packed - base), "test_packed");
	assert_false(elf_is_whole(e));
	assert_false(elf_add_packed(e, &(struct elf_source){&(struct part){copy, 8}, read_part}));
	elf_free(e);
	free(copy);
}

/* ---- strange files ---- */

/* A file that ends early is read as far as it goes, or not at all. */
static void test_short(void **state)
{
	(void)state;
	for (size_t n = 0; n < len; n += n < 8192 ? 61 : len / 37) {
		uint8_t *copy = malloc(n ? n : 1); /* a sanitizer sees what is beyond */
		struct part p = {copy, n};
		uint64_t leaf_at;
		struct elf *e;

		assert_non_null(copy);
		memcpy(copy, bytes, n);
		e = elf_of(&p);
		assert_true(n >= 64 || !e);
		if (e) {
			elf_name(e, (uint64_t)(uintptr_t)told - base);
			elf_frame(e, (uint64_t)(uintptr_t)told - base, &leaf_at);
		}
		elf_free(e);
		free(copy);
	}
}

static void test_others(void **state)
{
	static const char *const texts[] = {"", "\177ELF", "#!/bin/sh\n", "!<arch>\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct part p = {(const uint8_t *)texts[i], strlen(texts[i])};

		assert_null(elf_of(&p));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_build_at_8), cmocka_unit_test(test_functions),
		cmocka_unit_test(test_debug),      cmocka_unit_test(test_packed),
		cmocka_unit_test(test_short),      cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
