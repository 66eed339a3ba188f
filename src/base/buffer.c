/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/buffer.h"

void buffer_flush(struct buffer *b)
{
	if (b->used)
		fwrite(b->at, 1, b->used, b->out);
	b->used = 0;
}

void buffer_long(struct buffer *b, const char *text, size_t len)
{
	buffer_flush(b);
	if (len > sizeof(b->at))
		fwrite(text, 1, len, b->out);
	else
		buffer_put(b, text, len);
}

void buffer_u64(struct buffer *b, uint64_t value)
{
	char digit[20], *at = digit + sizeof(digit);

	do
		*--at = '0' + value % 10;
	while (value /= 10);
	buffer_put(b, at, digit + sizeof(digit) - at);
}

void buffer_i64(struct buffer *b, int64_t value)
{
	if (value < 0)
		buffer_char(b, '-');
	buffer_u64(b, value < 0 ? -(uint64_t)value : (uint64_t)value);
}
