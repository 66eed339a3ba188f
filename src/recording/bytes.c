/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/bytes.h"

#include <stdlib.h>
#include <string.h>

static uint8_t *more(struct bytes *b, size_t len)
{
	if (b->room - b->len < len) {
		size_t room = 2 * b->room + len + 256;
		uint8_t *at = reallocarray(b->at, room, 1);

		if (!at) {
			b->failed = true;
			return NULL;
		}
		b->at = at;
		b->room = room;
	}
	b->len += len;
	return b->at + b->len - len;
}

void put_raw(struct bytes *b, const void *data, size_t len)
{
	uint8_t *to = len ? more(b, len) : NULL;

	if (to)
		memcpy(to, data, len);
}

static void put_fixed(struct bytes *b, uint64_t v, size_t len)
{
	uint8_t *to = more(b, len);

	for (size_t i = 0; to && i < len; i++)
		to[i] = v >> 8 * i;
}

void put_u8(struct bytes *b, uint8_t v)
{
	put_fixed(b, v, 1);
}

void put_u16(struct bytes *b, uint16_t v)
{
	put_fixed(b, v, 2);
}

void put_u32(struct bytes *b, uint32_t v)
{
	put_fixed(b, v, 4);
}

void put_u64(struct bytes *b, uint64_t v)
{
	put_fixed(b, v, 8);
}

void put_number(struct bytes *b, uint64_t v)
{
	uint8_t text[10];
	size_t n = 0;

	for (; v > 0x7f; v >>= 7)
		text[n++] = v | 0x80;
	text[n++] = v;
	put_raw(b, text, n);
}

/* Maps small numbers of both signs to short codes: 0, -1, 1, -2 ... to 0, 1, 2, 3 ... */
void put_signed(struct bytes *b, int64_t v)
{
	put_number(b, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

void put_text(struct bytes *b, const char *text, size_t max)
{
	size_t len = text ? strnlen(text, max) : 0;

	put_number(b, text ? len + 1 : 0);
	put_raw(b, text, len);
}

const uint8_t *get_raw(struct reading *r, size_t len)
{
	const uint8_t *at = r->at;

	if ((size_t)(r->end - r->at) < len) {
		r->bad = true;
		r->at = r->end;
		return NULL;
	}
	r->at += len;
	return at;
}

static uint64_t get_fixed(struct reading *r, size_t len)
{
	const uint8_t *at = get_raw(r, len);
	uint64_t v = 0;

	for (size_t i = 0; at && i < len; i++)
		v |= (uint64_t)at[i] << 8 * i;
	return v;
}

uint8_t get_u8(struct reading *r)
{
	return get_fixed(r, 1);
}

uint16_t get_u16(struct reading *r)
{
	return get_fixed(r, 2);
}

uint32_t get_u32(struct reading *r)
{
	return get_fixed(r, 4);
}

uint64_t get_u64(struct reading *r)
{
	return get_fixed(r, 8);
}

uint64_t get_long_number(struct reading *r)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64 && r->at < r->end; shift += 7) {
		uint8_t byte = *r->at++;

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	r->bad = true;
	r->at = r->end;
	return 0;
}

const char *get_text(struct reading *r, size_t *len)
{
	uint64_t n = get_number(r);
	const uint8_t *at;

	*len = 0;
	if (!n || n - 1 > (size_t)(r->end - r->at)) {
		r->bad |= n != 0;
		return NULL;
	}
	at = get_raw(r, n - 1);
	*len = n - 1;
	return (const char *)at;
}
