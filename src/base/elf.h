/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs and libraries as files: which function is at an address, and how its frame lies on the
 * stack. For 64-bit files of this byte order. The files are other people's: nothing in them is
 * believed, all is read in bounds, and memory is bounded.
 *
 * After the ELF specification, the System V ABI's supplements for x86-64 and arm64, the Linux
 * Standard Base (.eh_frame, .eh_frame_hdr) and DWARF 5, 6.4 (call frame information).
 */
#ifndef CULPRIT_ELF_H
#define CULPRIT_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_BUILD_BYTES  20          /* the most of a build id that is kept */
#define ELF_SYMBOLS_MOST (2U << 20)  /* in one table; a file with more has no names */
#define ELF_NAMES_MOST   (64U << 20) /* bytes of the names of one table, likewise */
#define ELF_PACKED_MOST  (16U << 20)

/* The bytes of a file. */
struct elf_source {
	void *ctx;
	/* Reads `len` bytes at an offset; false: there are not so many. */
	bool (*read)(void *ctx, uint64_t at, void *to, size_t len);
};

struct elf;

/* Reads headers, build id and symbols. The source is read until elf_free. NULL: it is no such file,
 * or memory is out. */
struct elf *elf_new(const struct elf_source *source);
void elf_free(struct elf *e);

/* In hex, at most 2 * ELF_BUILD_BYTES digits; "": it has none. */
const char *elf_build(const struct elf *e);
bool elf_is_whole(const struct elf *e); /* has the symbols that are not for linking, too */
size_t elf_bytes(const struct elf *e);  /* memory that it takes, about */

/* Adds the symbols of the file with debug information. False: that is another program's, by its
 * build id. */
bool elf_add(struct elf *e, const struct elf_source *debug);

/* The bytes of the section .gnu_debugdata, to be freed by the caller: the functions of a stripped
 * program as a file like this one, packed by xz. NULL: it has none, or more than ELF_PACKED_MOST,
 * or memory is out. After "MiniDebugInfo" in the manual of GDB. */
void *elf_packed(const struct elf *e, size_t *len);

/* Adds the symbols of the file that was in there, which leaves out those that are not of functions.
 * False: they cannot be read. */
bool elf_add_packed(struct elf *e, const struct elf_source *unpacked);

/* Finds the address that belongs to an offset in the file. False: it is not loaded. */
bool elf_address(const struct elf *e, uint64_t offset, uint64_t *address);

/* Finds the function at an address; lives as long as `e`. NULL: none is known. */
const char *elf_name(const struct elf *e, uint64_t address);

/* Says where the return address of the function is while it is at `address`, by its unwinding
 * table. */
enum elf_frame {
	ELF_FRAME_UNKNOWN, /* somewhere else, or nobody knows */
	ELF_FRAME_LEAF,    /* some bytes above the stack pointer (arm64: in the link register), and
			      the frame pointer is the caller's */
	ELF_FRAME_RETURN,  /* likewise, and nobody knows the caller's frame pointer */
	ELF_FRAME_POINTER, /* above the caller's frame pointer, to which the frame pointer points */
	ELF_FRAME_LAST,    /* nowhere: nobody called it */
};
/* leaf_at: gets the bytes for ELF_FRAME_LEAF and _RETURN. */
enum elf_frame elf_frame(const struct elf *e, uint64_t address, uint64_t *leaf_at);

#endif
