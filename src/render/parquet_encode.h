/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The encodings of Parquet that its writer uses, by the format's specification
 * (github.com/apache/parquet-format: Encodings.md, parquet.thrift) and Thrift's compact protocol.
 * All grow a `struct bytes`; out of memory it says `failed`, and further calls do nothing. */
#ifndef CULPRIT_PARQUET_ENCODE_H
#define CULPRIT_PARQUET_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
	uint8_t *at; /* owned */
	size_t used, room;
	bool failed;
};

void bytes_free(struct bytes *b);
void bytes_put(struct bytes *b, const void *from, size_t len);
void bytes_u8(struct bytes *b, uint8_t value);
void bytes_le32(struct bytes *b, uint32_t value);
void bytes_le64(struct bytes *b, uint64_t value);

/* ---- values ---- */

/* RLE and bit-packing by turns: numbers[n] of `width` bits each, 1 to 32. */
void encode_hybrid(struct bytes *b, const uint32_t *numbers, size_t n, unsigned width);
/* The same of bytes, with its length before it in four bytes: levels of a data page. */
void encode_levels(struct bytes *b, const uint8_t *levels, size_t n, unsigned width);
/* DELTA_BINARY_PACKED: good for times that rise, counts, and what is always the same. */
void encode_delta(struct bytes *b, const int64_t *values, size_t n);
/* Booleans: a bit each. */
void encode_bits(struct bytes *b, const int64_t *values, size_t n);

/* Bits that the numbers up to `most` need, at least 1. */
unsigned encode_width(uint32_t most);

/* ---- Thrift's compact protocol ---- */

enum thrift_type {
	THRIFT_TRUE = 1,
	THRIFT_FALSE,
	THRIFT_I32 = 5,
	THRIFT_I64,
	THRIFT_BINARY = 8,
	THRIFT_LIST,
	THRIFT_STRUCT = 12
};

#define THRIFT_DEEP 8 /* structs in structs */

/* Fields of a struct are written in rising order of their ids. */
struct thrift {
	struct bytes *to;
	int16_t last[THRIFT_DEEP]; /* id of the last field of each open struct */
	unsigned depth;
};

void thrift_i32(struct thrift *t, int16_t id, int32_t value);
void thrift_i64(struct thrift *t, int16_t id, int64_t value);
void thrift_bool(struct thrift *t, int16_t id, bool value);
void thrift_binary(struct thrift *t, int16_t id, const void *from, size_t len);
void thrift_text(struct thrift *t, int16_t id, const char *text);
/* Begins a field that is a struct; thrift_end() ends it. */
void thrift_struct(struct thrift *t, int16_t id);
/* Begins a field that is a list: its n elements follow. */
void thrift_list(struct thrift *t, int16_t id, enum thrift_type of, uint32_t n);
/* Elements of a list: a struct, which thrift_end() ends; a text; a number. */
void thrift_element(struct thrift *t);
void thrift_element_text(struct thrift *t, const char *text);
void thrift_element_i32(struct thrift *t, int32_t value);
void thrift_end(struct thrift *t);

#endif
