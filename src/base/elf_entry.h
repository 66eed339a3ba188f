/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries of .eh_frame: what a file says of a function's frames. For elf_frame.c. */
#ifndef CULPRIT_ELF_ENTRY_H
#define CULPRIT_ELF_ENTRY_H

#include "base/elf_state.h"

#define ELF_ENTRY_MOST 4096 /* bytes of an entry; larger ones are not looked at */

/* Bytes that are read one after the other; behind their end `bad`. */
struct elf_bytes {
	const uint8_t *at, *end;
	uint64_t address; /* `at` is there in the file */
	bool bad;
};

/* An entry of .eh_frame: of a function, with the one that several share. */
struct elf_entry {
	uint8_t shared[ELF_ENTRY_MOST], own[ELF_ENTRY_MOST];
	struct elf_bytes common, code; /* instructions */
	uint64_t begin, bytes;
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_register;
	uint8_t encoding;
	bool sized, signal;
};

/* Finds the entry of the function at an address. False: there is none that can be read. */
bool elf_entry(const struct elf *e, uint64_t address, struct elf_entry *t);

/* The next bytes as a number; 0 behind the end. */
uint64_t elf_get(struct elf_bytes *r, unsigned n);
uint64_t elf_get_uleb(struct elf_bytes *r);
int64_t elf_get_sleb(struct elf_bytes *r);
void elf_skip(struct elf_bytes *r, uint64_t n);

#endif
