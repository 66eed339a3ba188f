/* SPDX-License-Identifier: GPL-2.0-or-later */
/* FNV-1a (Fowler, Noll, Vo) of 64 bits, for tables in memory and ids that need no secrecy. Begin
 * with HASH_BEGIN and add one thing after the other. */
#ifndef CULPRIT_HASH_H
#define CULPRIT_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_BEGIN 0xcbf29ce484222325ULL

static inline uint64_t hash_byte(uint64_t h, unsigned char byte)
{
	return (h ^ byte) * 0x100000001b3ULL;
}

static inline uint64_t hash_bytes(uint64_t h, const void *bytes, size_t len)
{
	for (const unsigned char *p = bytes, *end = p + len; p < end; p++)
		h = hash_byte(h, *p);
	return h;
}

/* The text without its NUL; NULL is the empty text. */
static inline uint64_t hash_text(uint64_t h, const char *text)
{
	for (const char *p = text; p && *p; p++)
		h = hash_byte(h, *p);
	return h;
}

/* For tables of what strangers choose, that nobody can make up keys of one slot: begin with the
 * one, which is by an address, random where addresses are, and take the slot by the other, which
 * takes the highest bits of a product. */
static inline uint64_t hash_of_strangers(void)
{
	static const char here;

	return HASH_BEGIN ^ ((uintptr_t)&here * 0x9e3779b97f4a7c15ULL);
}

static inline uint32_t hash_slot(uint64_t hash, uint32_t slots)
{
	return (uint32_t)((hash * (hash_of_strangers() | 1) >> 32) * slots >> 32);
}

#endif
