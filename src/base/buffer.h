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

void buffer_u64(struct buffer *b, uint64_t value); /* decimal */
void buffer_i64(struct buffer *b, int64_t value);

#endif
