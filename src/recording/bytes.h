/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers and strings as bytes, little-endian; writing fails only without memory, reading never
 * leaves its bounds. */
#ifndef CULPRIT_BYTES_H
#define CULPRIT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
	uint8_t *at; /* owned: free() */
	size_t len, room;
	bool failed; /* memory ran out; later puts are missing */
};

void put_raw(struct bytes *b, const void *data, size_t len);
void put_u8(struct bytes *b, uint8_t v);
void put_u16(struct bytes *b, uint16_t v);
void put_u32(struct bytes *b, uint32_t v);
void put_u64(struct bytes *b, uint64_t v);
void put_number(struct bytes *b, uint64_t v); /* seven bits a byte, the lowest first */
void put_signed(struct bytes *b, int64_t v);
void put_text(struct bytes *b, const char *text,
	      size_t max); /* up to max bytes or NUL; NULL is not "" */

/* Bytes left to read. After a get beyond the end `bad` is set, nothing is left, and all answers are
 * 0. */
struct reading {
	const uint8_t *at, *end;
	bool bad;
};

const uint8_t *get_raw(struct reading *r, size_t len); /* NULL: fewer bytes are left */
uint8_t get_u8(struct reading *r);
uint16_t get_u16(struct reading *r);
uint32_t get_u32(struct reading *r);
uint64_t get_u64(struct reading *r);
uint64_t get_long_number(struct reading *r);

/* Most numbers take one byte. */
static inline uint64_t get_number(struct reading *r)
{
	return r->at < r->end && *r->at < 0x80 ? *r->at++ : get_long_number(r);
}

static inline int64_t get_signed(struct reading *r)
{
	uint64_t v = get_number(r);

	return v >> 1 ^ -(v & 1);
}

/* The bytes of a text, not NUL-terminated, and their number; NULL: the text was NULL, or is bad. */
const char *get_text(struct reading *r, size_t *len);

#endif
