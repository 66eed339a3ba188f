/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unwinding tables of both architectures, byte by byte: one function, from 0x1000 on, in a file
 * that has nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "../world/part.h"
#include "base/elf.h"

#define CODE  0x1000 /* the function's address, and bytes */
#define BYTES 0x100
#define TABLE 0x200 /* offset and address of .eh_frame_hdr; the entries are behind it */

/* All functions of a machine begin with these: the CFA, and where the return address is. */
static const uint8_t x86[] = {0x0c, 7, 8, 0x90, 1}, arm64[] = {0x0c, 31, 0};

struct file {
	uint8_t bytes[1024];
	size_t len;
};

static void put(struct file *f, const void *bytes, size_t len)
{
	memcpy(f->bytes + f->len, bytes, len);
	f->len += len;
}

static void put32(struct file *f, uint32_t v)
{
	put(f, &v, sizeof(v));
}

/* An entry with its length before it, padded to 4 bytes by no-operations. */
static void put_entry(struct file *f, const struct file *body)
{
	uint32_t len = (body->len + 3) & ~3U;

	put32(f, len);
	put(f, body->bytes, body->len);
	f->len += len - body->len;
}

static void put_head(struct file *f, unsigned machine)
{
	Elf64_Ehdr h = {.e_machine = machine,
			.e_phoff = sizeof(h),
			.e_phnum = 2,
			.e_phentsize = sizeof(Elf64_Phdr)};
	Elf64_Phdr p[2] = {{.p_type = PT_LOAD, .p_filesz = sizeof(f->bytes)},
			   {.p_type = PT_GNU_EH_FRAME, .p_vaddr = TABLE}};

	memcpy(h.e_ident, ELFMAG, SELFMAG);
	h.e_ident[EI_CLASS] = ELFCLASS64;
	h.e_ident[EI_DATA] = ELFDATA2LSB;
	put(f, &h, sizeof(h));
	put(f, p, sizeof(p));
}

static uint64_t leaf_at;

/* letters: the augmentation, behind 'z' and 'R'. */
static enum elf_frame frame_at(unsigned machine, const char *letters, const uint8_t *code,
			       size_t len, uint64_t address)
{
	bool arm = machine == EM_AARCH64;
	struct file f = {.len = 0}, shared = {.len = 0}, own = {.len = 0};
	struct part p = {f.bytes, sizeof(f.bytes)};
	uint32_t first = TABLE + 20;
	enum elf_frame how;
	struct elf *e;

	put32(&shared, 0);
	put(&shared, "\x01zR", 3);
	put(&shared, letters, strlen(letters) + 1);
	put(&shared, arm ? (uint8_t[]){4, 0x78, 30} : (uint8_t[]){1, 0x78, 16}, 3);
	put(&shared, (uint8_t[]){1, 0x03}, 2); /* addresses of 4 bytes */
	put(&shared, arm ? arm64 : x86, arm ? sizeof(arm64) : sizeof(x86));

	put_head(&f, machine);
	f.len = TABLE;
	put(&f, (uint8_t[]){1, 0x1b, 0x03, 0x3b}, 4);
	put32(&f, 0);
	put32(&f, 1);
	put32(&f, CODE - TABLE);
	put32(&f, first + ((shared.len + 3) & ~3U) + 4 - TABLE);
	put_entry(&f, &shared);
	put32(&own, f.len + 4 - first);
	put32(&own, CODE);
	put32(&own, BYTES);
	put(&own, (uint8_t[]){0}, 1);
	put(&own, code, len);
	put_entry(&f, &own);

	e = elf_new(&(struct elf_source){&p, read_part});
	assert_non_null(e);
	how = elf_frame(e, address, &leaf_at);
	elf_free(e);
	return how;
}

#define FRAME(machine, letters, code, at)                                                          \
	frame_at(machine, letters, code, sizeof(code), CODE + (at))

static void test_x86(void **state)
{
	/* sub $24,%rsp; ... add $24,%rsp */
	static const uint8_t keeps[] = {0x44, 0x0e, 32, 0x50, 0x0e, 8};
	/* push %rbp; mov %rsp,%rbp; ... leave */
	static const uint8_t code[] = {0x41, 0x0e, 16,   0x86, 2, 0x43, 0x0d,
				       6,    0x02, 0x50, 0x0c, 7, 8};

	(void)state;
	assert_int_equal(FRAME(EM_X86_64, "", code, 0), ELF_FRAME_LEAF);
	assert_int_equal(FRAME(EM_X86_64, "", code, 1), ELF_FRAME_RETURN);
	assert_int_equal(leaf_at, 8);
	assert_int_equal(FRAME(EM_X86_64, "", code, 4), ELF_FRAME_POINTER);
	assert_int_equal(FRAME(EM_X86_64, "", code, 0x53), ELF_FRAME_POINTER);
	assert_int_equal(FRAME(EM_X86_64, "", code, BYTES), ELF_FRAME_UNKNOWN);
	assert_int_equal(FRAME(EM_RISCV, "", code, 4), ELF_FRAME_UNKNOWN);
	assert_int_equal(FRAME(EM_X86_64, "", keeps, 0), ELF_FRAME_LEAF);
	assert_int_equal(leaf_at, 0);
	assert_int_equal(FRAME(EM_X86_64, "", keeps, 4), ELF_FRAME_LEAF);
	assert_int_equal(leaf_at, 24);
	assert_int_equal(FRAME(EM_X86_64, "", keeps, 0x14), ELF_FRAME_LEAF);
	assert_int_equal(leaf_at, 0);
}

/* stp x29, x30, [sp, #-32]!; mov x29, sp; ... ldp */
#define SAVES    0x41, 0x0e, 32, 0x9d, 4, 0x9e, 3
#define RESTORES 0x50, 0xdd, 0xde, 0x0e, 0

static void test_arm64(void **state)
{
	static const uint8_t code[] = {SAVES, RESTORES}, last[] = {0x07, 30};

	(void)state;
	assert_int_equal(FRAME(EM_AARCH64, "", code, 0), ELF_FRAME_LEAF);
	assert_int_equal(FRAME(EM_AARCH64, "", code, 4), ELF_FRAME_POINTER);
	assert_int_equal(FRAME(EM_AARCH64, "", code, 0x44), ELF_FRAME_LEAF);
	assert_int_equal(FRAME(EM_AARCH64, "", last, 0), ELF_FRAME_LAST);
}

/* paciasp or pacibsp before, autiasp behind: the return address stays where it was. */
static void test_signed(void **state)
{
	static const uint8_t code[] = {0x41, 0x2d, SAVES, RESTORES, 0x41, 0x2d};
	static const uint8_t by_counter[] = {0x41, 0x2c, SAVES, RESTORES, 0x41, 0x2c};

	(void)state;
	for (int i = 0; i < 3; i++) {
		static const char *const letters[] = {"", "B", "BG"};

		assert_int_equal(FRAME(EM_AARCH64, letters[i], code, 0), ELF_FRAME_LEAF);
		assert_int_equal(FRAME(EM_AARCH64, letters[i], code, 4), ELF_FRAME_LEAF);
		assert_int_equal(FRAME(EM_AARCH64, letters[i], code, 8), ELF_FRAME_POINTER);
		assert_int_equal(FRAME(EM_AARCH64, letters[i], code, 0x48), ELF_FRAME_LEAF);
		assert_int_equal(FRAME(EM_AARCH64, letters[i], code, 0x4c), ELF_FRAME_LEAF);
		assert_int_equal(FRAME(EM_AARCH64, letters[i], by_counter, 8), ELF_FRAME_POINTER);
	}
}

/* Letters and instructions that mean something else, or nothing, on the other machine. */
static void test_unknown(void **state)
{
	static const uint8_t code[] = {0x2d, 0}, no_such[] = {0x3f, 0};

	(void)state;
	assert_int_equal(FRAME(EM_X86_64, "", code, 4), ELF_FRAME_UNKNOWN);
	assert_int_equal(FRAME(EM_X86_64, "B", (uint8_t[]){0}, 0), ELF_FRAME_UNKNOWN);
	assert_int_equal(FRAME(EM_AARCH64, "X", (uint8_t[]){0}, 0), ELF_FRAME_UNKNOWN);
	assert_int_equal(FRAME(EM_AARCH64, "", no_such, 0), ELF_FRAME_UNKNOWN);
	assert_int_equal(FRAME(EM_AARCH64, "S", (uint8_t[]){0}, 0), ELF_FRAME_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86),
		cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_signed),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
