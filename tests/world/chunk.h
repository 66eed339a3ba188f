/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The chunks of a recording, taken apart and put together by a test: see src/recording/format.h. */
#ifndef CULPRIT_TESTS_CHUNK_H
#define CULPRIT_TESTS_CHUNK_H

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "recording/bytes.h"
#include "recording/format.h"
#include "recording/pack.h"

struct chunk {
	uint32_t type;
	size_t start, end; /* in the file */
	uint8_t *payload;  /* uncompressed; owned */
	uint32_t len;
};

/* Writes the chunks of an undamaged file to chunk[max]; returns how many. */
static inline uint32_t chunks_parse(const uint8_t *file, size_t size, struct chunk *chunk,
				    uint32_t max)
{
	struct reading r = {file + FILE_HEAD, file + size, false};
	struct unpacker *unpacker = unpacker_new();
	uint32_t n = 0;

	while (r.at < r.end && n < max) {
		struct chunk *c = &chunk[n++];
		uint32_t stored;

		c->start = r.at - file;
		get_raw(&r, 4);
		c->type = get_u32(&r);
		stored = get_u32(&r);
		c->len = get_u32(&r);
		get_raw(&r, 8);
		c->payload = malloc(c->len + 1);
		if (!unpacker || !c->payload || (size_t)(r.end - r.at) < stored)
			abort();
		if (stored == c->len)
			memcpy(c->payload, r.at, c->len);
		else if (unpack(unpacker, c->payload, c->len, r.at, stored))
			abort();
		get_raw(&r, stored);
		c->end = r.at - file;
	}
	unpacker_free(unpacker);
	return n;
}

static inline void put_file_head(struct bytes *b, uint16_t major, uint16_t minor)
{
	put_raw(b, FILE_MAGIC, 8);
	put_u16(b, major);
	put_u16(b, minor);
	put_u32(b, 0);
}

/* Writes it uncompressed. */
static inline void put_chunk(struct bytes *b, uint32_t type, const void *payload, uint32_t len)
{
	size_t start = b->len;

	put_raw(b, CHUNK_MARK, 4);
	put_u32(b, type);
	put_u32(b, len);
	put_u32(b, len);
	put_u32(b, crc32(0, payload, len));
	put_u32(b, crc32(0, b->at + start, CHUNK_HEAD - 4));
	put_raw(b, payload, len);
}

#endif
