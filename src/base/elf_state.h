/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside elf: a file, shared by elf.c and elf_frame.c. */
#ifndef CULPRIT_ELF_STATE_H
#define CULPRIT_ELF_STATE_H

#include "base/elf.h"

#define ELF_SEGMENTS 32 /* loaded ones; more are not looked at */

struct elf_segment {
	uint64_t offset, address, bytes; /* in the file */
};

struct elf_symbol {
	uint64_t address, bytes; /* rows_up_to() */
	const char *name;
};

struct elf_names {
	char *text; /* names of a table; owned */
	struct elf_names *next;
};

struct elf {
	struct elf_source source;
	unsigned machine; /* EM_X86_64, ... */
	struct elf_segment segment[ELF_SEGMENTS];
	unsigned segments;
	uint64_t frames_at; /* address of .eh_frame_hdr; 0: there is none */
	char build[2 * ELF_BUILD_BYTES + 1];
	struct elf_symbol *symbol; /* by address */
	uint32_t symbols;
	struct elf_names *names;
	size_t bytes;
	bool whole;
};

/* Reads at an address. False: it is not in the file. */
bool elf_read(const struct elf *e, uint64_t address, void *to, size_t len);

#endif
