/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/user_packed.h"

#ifdef CULPRIT_LIBLZMA

#include <dlfcn.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LIBRARY "liblzma.so.5"

static lzma_ret (*unpack)(uint64_t *memory, uint32_t flags, const lzma_allocator *allocator,
			  const uint8_t *in, size_t *in_at, size_t in_len, uint8_t *out,
			  size_t *out_at, size_t out_len);

void packed_load(void)
{
	void *library = unpack ? NULL : dlopen(LIBRARY, RTLD_NOW);
	void *call = library ? dlsym(library, "lzma_stream_buffer_decode") : NULL;

	if (call)
		memcpy(&unpack, &call, sizeof(call));
}

struct bytes {
	const uint8_t *at;
	size_t len;
};

static bool read_bytes(void *ctx, uint64_t at, void *to, size_t len)
{
	const struct bytes *b = ctx;

	if (at > b->len || len > b->len - at)
		return false;
	memcpy(to, b->at + at, len);
	return true;
}

bool packed_add(struct elf *e)
{
	size_t packed_len, packed_at = 0;
	uint8_t *packed = unpack ? elf_packed(e, &packed_len) : NULL, *room;
	uint64_t memory = PACKED_MEMORY;
	struct bytes all = {0};
	bool added = false;

	if (!packed)
		return false;
	/* Memory is taken only as far as this is filled. */
	room = mmap(NULL, PACKED_UNPACKED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (room != MAP_FAILED) {
		all.at = room;
		added = unpack(&memory, 0, NULL, packed, &packed_at, packed_len, room, &all.len,
			       PACKED_UNPACKED) == LZMA_OK &&
			elf_add_packed(e, &(struct elf_source){&all, read_bytes});
		munmap(room, PACKED_UNPACKED);
	}
	free(packed);
	return added;
}

#else

void packed_load(void)
{
}

bool packed_add(struct elf *e)
{
	(void)e;
	return false;
}

#endif
