/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a program, as its debug information, and with what it has packed in itself: no byte
 * beyond them is read, each search for a function and its frame ends, and memory is in proportion
 * to the file. The first byte says from how far on, in 1/256, the addresses that are looked for lie
 * closer together. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../world/part.h"
#include "base/elf.h"
#include "collect/user_packed.h"
#include "count.h"

#define LOOKS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const struct elf *e, uint64_t address)
{
	const char *name = elf_name(e, address);
	uint64_t leaf_at;

	assert(!name || (name[0] && strlen(name) < ELF_NAMES_MOST));
	switch (elf_frame(e, address, &leaf_at)) {
	case ELF_FRAME_UNKNOWN:
		count_run(0, "frame unknown");
		return;
	case ELF_FRAME_LEAF:
		count_run(1, "frame of a leaf");
		return;
	case ELF_FRAME_RETURN:
		count_run(5, "return address alone");
		return;
	case ELF_FRAME_POINTER:
		count_run(2, "frame by pointer");
		return;
	case ELF_FRAME_LAST:
		count_run(3, "last frame");
		return;
	}
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct part whole = {data + 1, size - 1};
	struct elf_source source = {&whole, read_part};
	struct elf *e = size ? elf_new(&source) : NULL;
	bool added;

	if (!e)
		return 0;
	count_run(6, "files");
	added = elf_add(e, &source);
	assert(added == (elf_build(e)[0] != 0));
	assert(strlen(elf_build(e)) <= 2 * ELF_BUILD_BYTES);
	/* Each of both tables twice; a symbol takes no less in the file than here. */
	assert(elf_bytes(e) <= 4096 + 8 * size);
	assert(elf_add_packed(e, &source));
	assert(elf_bytes(e) <= 4096 + 12 * size);
	packed_load();
	if (packed_add(e))
		count_run(4, "functions packed");
	assert(elf_bytes(e) <= 4096 + 12 * size + 2 * (size_t)PACKED_UNPACKED);
	for (uint64_t i = 0; i < LOOKS; i++) {
		uint64_t offset = size * data[0] / 256 + i * 5, address;

		look(e, offset);
		if (elf_address(e, offset, &address))
			look(e, address);
	}
	look(e, UINT64_MAX);
	elf_free(e);
	return 0;
}
