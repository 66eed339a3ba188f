/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text on its way to a file, for writers of millions of small pieces: stdio takes ten times as long
 * for each. The owner flushes it before anybody else writes to the file. */
#ifndef CULPRIT_BUFFER_H
#define CULPRIT_BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct buffer {
	FILE *out; /* not owned; ferror() tells of failures */
	size_t used;
	char at[4096];
};

static inline void buffer_init(struct buffer *b, FILE *out)
{
	b->out = out;
	b->used = 0;
}

void buffer_flush(struct buffer *b);
void buffer_long(struct buffer *b, const char *text, size_t len); /* more than there is room for */

/* The place for the next bytes, where so many fit (4096 at most): who writes several pieces there
 * keeps the place in a register. Then buffer_took() says where they end. */
static inline char *buffer_room(struct buffer *b, size_t bytes)
{
	if (sizeof(b->at) - b->used < bytes)
		buffer_flush(b);
	return b->at + b->used;
}

static inline void buffer_took(struct buffer *b, const char *end)
{
	b->used = end - b->at;
}

static inline void buffer_put(struct buffer *b, const char *text, size_t len)
{
	if (len > sizeof(b->at) - b->used) {
		buffer_long(b, text, len);
		return;
	}
	memcpy(b->at + b->used, text, len);
	b->used += len;
}

static inline void buffer_char(struct buffer *b, char c)
{
	if (b->used == sizeof(b->at))
		buffer_flush(b);
	b->at[b->used++] = c;
}

static inline void buffer_text(struct buffer *b, const char *text)
{
	buffer_put(b, text, strlen(text));
}

/* Decimal; returns the end. */
#define BUFFER_NUMBER 20 /* bytes at most, with a sign */
char *buffer_digits(char *at, uint64_t value);

static inline char *buffer_signed(char *at, int64_t value)
{
	if (value < 0)
		*at++ = '-';
	return buffer_digits(at, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

#endif
