/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/buffer.h"

void buffer_flush(struct buffer *b)
{
	if (b->used)
		fwrite_unlocked(b->at, 1, b->used, b->out);
	b->used = 0;
}

void buffer_long(struct buffer *b, const char *text, size_t len)
{
	buffer_flush(b);
	if (len > sizeof(b->at))
		fwrite_unlocked(text, 1, len, b->out);
	else
		buffer_put(b, text, len);
}

/* Two digits at a time, from the last: each division waits for the one before it. */
static char *put_digits(char *end, uint32_t value, unsigned n)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";

	for (; n > 1; n -= 2, value /= 100)
		memcpy(end -= 2, pairs + 2 * (value % 100), 2);
	if (n)
		*--end = '0' + value;
	return end;
}

static unsigned number_of_digits(uint64_t value)
{
	unsigned n = 1;

	for (; value >= 10000; value /= 10000)
		n += 4;
	return n + (value >= 10) + (value >= 100) + (value >= 1000);
}

char *buffer_digits(char *at, uint64_t value)
{
	char *end = at + number_of_digits(value), *to = end;

	for (; value >= 100000000; value /= 100000000)
		to = put_digits(to, value % 100000000, 8);
	put_digits(to, value, to - at);
	return end;
}
