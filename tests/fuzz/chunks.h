/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mutations of recordings, on the contents of chunks: these are unpacked before, and get their
 * lengths and checksums after, and an index tells again of the group of chunks that it stands
 * behind. */
#ifndef CULPRIT_FUZZ_CHUNKS_H
#define CULPRIT_FUZZ_CHUNKS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "recording/format.h"
#include "recording/index.h"
#include "recording/pack.h"

#define INDEXED_LANES 64 /* recordings of more keep a wrong index */

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

static inline uint32_t get32(const uint8_t *at)
{
	return at[0] | at[1] << 8 | at[2] << 16 | (uint32_t)at[3] << 24;
}

static void put32(uint8_t *at, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		at[i] = v >> 8 * i;
}

static void put_chunk_head(uint8_t *at, uint32_t len)
{
	memcpy(at, CHUNK_MARK, 4);
	put32(at + 8, len);
	put32(at + 12, len);
	put32(at + 16, crc32(0, at + CHUNK_HEAD, len));
	put32(at + 20, crc32(0, at, CHUNK_HEAD - 4));
}

/* Copies with chunks uncompressed, as many as fit; skips one that it does not understand. */
static size_t unpack_all(const uint8_t *from, size_t size, uint8_t *to, size_t room)
{
	static struct unpacker *unpacker;
	size_t at = FILE_HEAD, n = FILE_HEAD;

	if (!unpacker)
		unpacker = unpacker_new();
	if (!unpacker || size < FILE_HEAD || room < FILE_HEAD)
		return 0;
	memcpy(to, from, FILE_HEAD);
	while (size - at >= CHUNK_HEAD && room - n >= CHUNK_HEAD) {
		uint32_t stored = get32(from + at + 8), len = get32(from + at + 12);

		if (stored > len || stored > size - at - CHUNK_HEAD || len > room - n - CHUNK_HEAD)
			break;
		memcpy(to + n, from + at, CHUNK_HEAD);
		if (stored == len)
			memcpy(to + n + CHUNK_HEAD, from + at + CHUNK_HEAD, len);
		else if (unpack(unpacker, to + n + CHUNK_HEAD, len, from + at + CHUNK_HEAD, stored))
			break;
		put_chunk_head(to + n, len);
		at += CHUNK_HEAD + stored;
		n += CHUNK_HEAD + len;
	}
	return n;
}

/* Repairs chunks: each mark begins a chunk that lasts to the next one. */
static void repair(uint8_t *data, size_t size)
{
	size_t start = FILE_HEAD;

	if (size < FILE_HEAD)
		return;
	memcpy(data, FILE_MAGIC, 8);
	/* A version that is read stays: with another one the head would be damaged. */
	data[8] = data[8] && data[8] <= FORMAT_MAJOR ? data[8] : FORMAT_MAJOR;
	data[9] = 0;
	while (size - start >= CHUNK_HEAD) {
		size_t end = start + CHUNK_HEAD;

		while (end < size && (size - end < 4 || memcmp(data + end, CHUNK_MARK, 4) != 0))
			end++;
		put_chunk_head(data + start, end - start - CHUNK_HEAD);
		start = end;
	}
}

/* Makes an index tell of so many chunks and bytes. Returns the size of the whole, which may be
 * another by a few bytes. */
static size_t mend_index(uint8_t *data, size_t size, size_t max_size, size_t start, uint32_t chunks,
			 uint64_t raw)
{
	size_t len = get32(data + start + 8), end = start + CHUNK_HEAD + len;
	struct reading in = {data + start + CHUNK_HEAD, data + end, false};
	struct bytes out = {0};
	struct index x;

	if (index_init(&x, INDEXED_LANES))
		abort();
	if (get_index(&in, &x)) {
		x.chunks = chunks;
		x.raw = raw;
		put_index(&out, &x);
	}
	index_free(&x);
	if (out.at && !out.failed && size - len + out.len <= max_size) {
		memmove(data + end - len + out.len, data + end, size - end);
		memcpy(data + end - len, out.at, out.len);
		put_chunk_head(data + start, out.len);
		size += out.len - len;
	}
	free(out.at);
	return size;
}

/* Mends each index; the chunks have been repaired. */
static size_t mend_indexes(uint8_t *data, size_t size, size_t max_size)
{
	uint32_t chunks = 0;
	uint64_t raw = 0;

	for (size_t at = FILE_HEAD; at + CHUNK_HEAD <= size;
	     at += CHUNK_HEAD + get32(data + at + 8)) {
		uint32_t type = get32(data + at + 4);

		if (type == CHUNK_INDEX && chunks)
			size = mend_index(data, size, max_size, at, chunks, raw);
		chunks = type == CHUNK_EVENTS ? chunks + 1 : 0;
		raw = type == CHUNK_EVENTS ? raw + get32(data + at + 8) : 0;
	}
	return size;
}

/* The end of the head's chunk; 0: there is none at the begin. */
static size_t head_end(const uint8_t *data, size_t size)
{
	size_t end = size < FILE_HEAD + CHUNK_HEAD ? 0 : FILE_HEAD + CHUNK_HEAD + get32(data + 24);

	return end && end <= size && get32(data + FILE_HEAD + 4) == CHUNK_HEAD_TYPE ? end : 0;
}

/* Mutates one recording, from some place on; one of sixteen stays damaged. Its head seldom changes:
 * without it nothing is read. Times are differences, so all behind a changed one is moved, and what
 * was like another recording is so no more. */
static size_t mutate_recording(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	uint8_t *unpacked = malloc(max_size);
	size_t n = unpacked ? unpack_all(data, size, unpacked, max_size) : 0;

	if (n > FILE_HEAD) {
		memcpy(data, unpacked, n);
		size = n;
	}
	free(unpacked);
	n = seed >> 4 & 7 ? head_end(data, size) : 0;
	n += n ? (size - n) * (seed >> 16 & 7) / 8 : 0;
	if (n >= max_size)
		n = 0;
	size = n + LLVMFuzzerMutate(data + n, size - n, max_size - n);
	if (seed % 16) {
		repair(data, size);
		size = mend_indexes(data, size, max_size);
	}
	return size;
}

#endif
