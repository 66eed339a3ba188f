/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render/parquet_encode.h"

#include <stdlib.h>
#include <string.h>

/* ---- bytes ---- */

void bytes_free(struct bytes *b)
{
	free(b->at);
	*b = (struct bytes){0};
}

/* Room for so many more; NULL: out of memory. */
static uint8_t *bytes_grow(struct bytes *b, size_t len)
{
	if (!b->failed && len > b->room - b->used) {
		size_t room = b->room + (b->room > len ? b->room : len) + 64;
		uint8_t *at = realloc(b->at, room);

		if (at) {
			b->at = at;
			b->room = room;
		} else {
			b->failed = true;
		}
	}
	if (b->failed)
		return NULL;
	b->used += len;
	return b->at + b->used - len;
}

void bytes_put(struct bytes *b, const void *from, size_t len)
{
	uint8_t *at = bytes_grow(b, len);

	if (at && len)
		memcpy(at, from, len);
}

void bytes_u8(struct bytes *b, uint8_t value)
{
	bytes_put(b, &value, 1);
}

static void little(struct bytes *b, uint64_t value, size_t len)
{
	uint8_t *at = bytes_grow(b, len);

	for (size_t i = 0; at && i < len; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

void bytes_le32(struct bytes *b, uint32_t value)
{
	little(b, value, 4);
}

void bytes_le64(struct bytes *b, uint64_t value)
{
	little(b, value, 8);
}

static void varint(struct bytes *b, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		bytes_u8(b, (uint8_t)(value | 0x80));
	bytes_u8(b, (uint8_t)value);
}

static void zigzag(struct bytes *b, int64_t value)
{
	varint(b, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

/* ---- bits ---- */

/* Bits on their way into bytes, the lowest first. */
struct bits {
	struct bytes *to;
	unsigned used; /* bits of `byte` */
	uint8_t byte;
};

static void bits_put(struct bits *b, uint64_t value, unsigned width)
{
	while (width) {
		unsigned more = 8 - b->used < width ? 8 - b->used : width;

		b->byte |= (uint8_t)((value & ((1U << more) - 1)) << b->used);
		value >>= more;
		width -= more;
		b->used += more;
		if (b->used < 8)
			continue;
		bytes_u8(b->to, b->byte);
		b->byte = 0;
		b->used = 0;
	}
}

static void bits_end(struct bits *b)
{
	if (b->used)
		bits_put(b, 0, 8 - b->used);
}

static unsigned width_of(uint64_t most)
{
	return most ? 64 - (unsigned)__builtin_clzll(most) : 0;
}

unsigned encode_width(uint32_t most)
{
	return most ? width_of(most) : 1;
}

void encode_bits(struct bytes *b, const int64_t *values, size_t n)
{
	struct bits bits = {.to = b};

	for (size_t i = 0; i < n; i++)
		bits_put(&bits, values[i] != 0, 1);
	bits_end(&bits);
}

/* ---- runs and packed groups ---- */

#define GROUP      8  /* numbers of a packed group */
#define GROUPS_MAX 63 /* groups behind one header, which is one byte then */

/* Either 8-bit or 32-bit numbers. */
struct numbers {
	const uint8_t *small;
	const uint32_t *large;
	size_t n;
};

static uint32_t number_at(const struct numbers *v, size_t i)
{
	if (i >= v->n)
		return 0; /* fills the last group */
	return v->small ? v->small[i] : v->large[i];
}

static size_t run_from(const struct numbers *v, size_t at)
{
	size_t i = at + 1;

	while (i < v->n && number_at(v, i) == number_at(v, at))
		i++;
	return i - at;
}

static void hybrid(struct bytes *b, const struct numbers *v, unsigned width)
{
	for (size_t at = 0; at < v->n;) {
		size_t run = run_from(v, at), begin = at;
		struct bits bits = {.to = b};

		if (run >= GROUP) {
			varint(b, run << 1);
			little(b, number_at(v, at), (width + 7) / 8);
			at += run;
			continue;
		}
		do
			at += GROUP;
		while (at < v->n && at - begin < GROUPS_MAX * GROUP && run_from(v, at) < GROUP);
		bytes_u8(b, (uint8_t)((at - begin) / GROUP << 1 | 1));
		for (size_t i = begin; i < at; i++)
			bits_put(&bits, number_at(v, i), width);
	}
}

void encode_hybrid(struct bytes *b, const uint32_t *numbers, size_t n, unsigned width)
{
	hybrid(b, &(struct numbers){.large = numbers, .n = n}, width);
}

void encode_levels(struct bytes *b, const uint8_t *levels, size_t n, unsigned width)
{
	size_t begin = b->used;
	struct bytes length = {0};

	bytes_le32(b, 0);
	hybrid(b, &(struct numbers){.small = levels, .n = n}, width);
	if (b->failed)
		return;
	bytes_le32(&length, (uint32_t)(b->used - begin - 4));
	if (length.failed)
		b->failed = true;
	else
		memcpy(b->at + begin, length.at, 4);
	bytes_free(&length);
}

/* ---- differences ---- */

#define BLOCK      128
#define MINIBLOCKS 4
#define MINIBLOCK  (BLOCK / MINIBLOCKS)

/* Differences are taken modulo 2^64, as the format says, so nothing overflows. */
static void delta_block(struct bytes *b, const uint64_t *delta, size_t n)
{
	uint64_t least = delta[0];
	unsigned width[MINIBLOCKS] = {0};
	struct bits bits = {.to = b};

	for (size_t i = 1; i < n; i++)
		if ((int64_t)delta[i] < (int64_t)least)
			least = delta[i];
	for (size_t i = 0; i < n; i++) {
		unsigned w = width_of(delta[i] - least);

		if (w > width[i / MINIBLOCK])
			width[i / MINIBLOCK] = w;
	}
	zigzag(b, (int64_t)least);
	for (size_t m = 0; m < MINIBLOCKS; m++)
		bytes_u8(b, (uint8_t)width[m]);
	for (size_t m = 0; m * MINIBLOCK < n; m++)
		for (size_t i = m * MINIBLOCK; i < (m + 1) * MINIBLOCK; i++)
			bits_put(&bits, i < n ? delta[i] - least : 0, width[m]);
}

void encode_delta(struct bytes *b, const int64_t *values, size_t n)
{
	uint64_t delta[BLOCK];

	varint(b, BLOCK);
	varint(b, MINIBLOCKS);
	varint(b, n);
	zigzag(b, n ? values[0] : 0);
	for (size_t at = 1; at < n;) {
		size_t count = 0;

		for (; count < BLOCK && at < n; at++)
			delta[count++] = (uint64_t)values[at] - (uint64_t)values[at - 1];
		delta_block(b, delta, count);
	}
}

/* ---- Thrift ---- */

static void field(struct thrift *t, int16_t id, enum thrift_type type)
{
	int16_t *last = &t->last[t->depth];

	if (id - *last > 0 && id - *last <= 15) {
		bytes_u8(t->to, (uint8_t)((id - *last) << 4 | type));
	} else {
		bytes_u8(t->to, type);
		zigzag(t->to, id);
	}
	*last = id;
}

void thrift_i32(struct thrift *t, int16_t id, int32_t value)
{
	field(t, id, THRIFT_I32);
	zigzag(t->to, value);
}

void thrift_i64(struct thrift *t, int16_t id, int64_t value)
{
	field(t, id, THRIFT_I64);
	zigzag(t->to, value);
}

void thrift_bool(struct thrift *t, int16_t id, bool value)
{
	field(t, id, value ? THRIFT_TRUE : THRIFT_FALSE);
}

void thrift_binary(struct thrift *t, int16_t id, const void *from, size_t len)
{
	field(t, id, THRIFT_BINARY);
	varint(t->to, len);
	bytes_put(t->to, from, len);
}

void thrift_text(struct thrift *t, int16_t id, const char *text)
{
	thrift_binary(t, id, text, strlen(text));
}

void thrift_struct(struct thrift *t, int16_t id)
{
	field(t, id, THRIFT_STRUCT);
	thrift_element(t);
}

void thrift_list(struct thrift *t, int16_t id, enum thrift_type of, uint32_t n)
{
	field(t, id, THRIFT_LIST);
	if (n < 15) {
		bytes_u8(t->to, (uint8_t)(n << 4 | of));
	} else {
		bytes_u8(t->to, (uint8_t)(0xf0 | of));
		varint(t->to, n);
	}
}

void thrift_element(struct thrift *t)
{
	t->last[++t->depth] = 0;
}

void thrift_element_text(struct thrift *t, const char *text)
{
	varint(t->to, strlen(text));
	bytes_put(t->to, text, strlen(text));
}

void thrift_element_i32(struct thrift *t, int32_t value)
{
	zigzag(t->to, value);
}

void thrift_end(struct thrift *t)
{
	bytes_u8(t->to, 0);
	t->depth--;
}
