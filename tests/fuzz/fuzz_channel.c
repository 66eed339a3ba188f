/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes that come through the channel between run --host-listen and watch --to: any bytes to who
 * listens and to who calls, and a stream of one who has the token, of which a byte may be changed
 * or the end missing. Nothing crashes, nobody waits, without the token nobody is let in, and what
 * is taken is what was put, up to the first change. All random numbers are the same, so that the
 * test can be either side. */
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/now.h"
#include "cmd/channel.h"
#include "count.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef CULPRIT_SODIUM
#include <sodium.h>

#define MAGIC   "culprit\1"
#define NUMBERS 0x5a /* all bytes of random numbers */
#define PATIENT (now_ns() + 20 * NSEC_PER_SEC)
#define STREAM  65536 /* bytes of a stream, at most */
#define MOST    12288 /* bytes of an input */
#define LEAST   64    /* bytes of a record: so many are in a socket that nobody reads */

enum { TO_GUEST, TO_HOST, SEALED, KINDS };

static struct token token;

static const char *same_name(void)
{
	return "same";
}

static uint32_t same_number(void)
{
	return NUMBERS;
}

static void same_bytes(void *to, size_t len)
{
	memset(to, NUMBERS, len);
}

static void begin(void)
{
	static struct randombytes_implementation same = {
		.implementation_name = same_name, .random = same_number, .buf = same_bytes};

	if (randombytes_set_implementation(&same) || sodium_init() < 0)
		abort();
	memset(token.key, 7, sizeof(token.key));
}

/* One end, to which all that comes has come. */
static int end_with(const void *data, size_t len, int *other)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) ||
	    write(pair[1], data, len) != (ssize_t)len || shutdown(pair[1], SHUT_WR))
		abort();
	*other = pair[1];
	return pair[0];
}

/* A guest's greeting, and its proof. */
static void greet(uint8_t hello[72])
{
	uint8_t both[72], made[64];

	memcpy(both, MAGIC, 8);
	memset(both + 8, NUMBERS, 64);
	crypto_generichash(made, sizeof(made), both, sizeof(both), token.key, sizeof(token.key));
	memcpy(hello, both, 40);
	memcpy(hello + 40, made + 32, 32);
}

/* The stream of one who has the token: records whose lengths the data tell. */
static size_t seal(const uint8_t *data, size_t size, uint8_t *stream, bool last)
{
	uint8_t hello[72];
	struct channel *c;
	int fd, other;
	size_t len;

	greet(hello);
	fd = end_with(hello, sizeof(hello), &other);
	c = channel_call(fd, &token, PATIENT);
	assert(c);
	for (size_t at = 0; at < size;) {
		size_t n = LEAST + 16U * data[at];

		n = n < size - at ? n : size - at;
		assert(channel_put(c, data + at, n, last && at + n == size, PATIENT));
		at += n;
	}
	len = read(other, stream, STREAM);
	channel_free(c);
	close(fd);
	close(other);
	return len;
}

static struct channel *answer(int fd)
{
	struct channel *c = NULL;
	struct caller caller;
	enum heard heard;

	if (!channel_greet(&caller, fd))
		return NULL;
	while ((heard = channel_hear(&caller, &token, &c)) == HEARD_PART)
		;
	return heard == HEARD_HOST ? c : NULL;
}

/* Takes the begin of what was put; all of it where nothing was changed. */
static void take(const uint8_t *stream, size_t len, const uint8_t *data, size_t size, bool whole)
{
	static uint8_t record[CHANNEL_RECORD];
	int other, fd = end_with(stream, len, &other);
	struct channel *c = answer(fd);
	size_t at = 0, n;
	bool last = false;

	assert(c || !whole);
	while (c && !last && channel_take(c, record, &n, &last, PATIENT)) {
		assert(n <= size - at && !memcmp(record, data + at, n));
		at += n;
	}
	assert(!whole || (last && at == size));
	assert(whole || !last);
	count_run(last ? 3 : c ? 2 : 1, last ? "whole" : c ? "a part" : "refused");
	channel_free(c);
	close(fd);
	close(other);
}

/* Bytes 1 to 3 tell the place and how it is changed, 4 whether the rest is missing. */
static void try_sealed(const uint8_t *data, size_t size)
{
	static uint8_t stream[STREAM];
	size_t len, at;
	bool whole;

	if (size < 6)
		return;
	len = seal(data + 5, size - 5, stream, true);
	at = (data[1] | data[2] << 8) % len;
	whole = !data[3] && !(data[4] & 1);
	if (data[4] & 1)
		len = at;
	stream[at] ^= data[3];
	take(stream, len, data + 5, size - 5, whole);
}

static void try_raw(const uint8_t *data, size_t size, bool host)
{
	int other, fd = end_with(data, size, &other);
	struct channel *c = host ? channel_call(fd, &token, PATIENT) : answer(fd);

	assert(!c);
	count_run(host ? 4 : 5, host ? "to the host" : "to the guest");
	close(fd);
	close(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool begun;

	if (!begun)
		begin();
	begun = true;
	if (!size || size > MOST)
		return 0;
	if (data[0] % KINDS == SEALED)
		try_sealed(data, size);
	else
		try_raw(data + 1, size - 1, data[0] % KINDS == TO_HOST);
	return 0;
}
#else /* no channel is built */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	(void)data;
	(void)size;
	count_run(0, "none");
	return 0;
}
#endif
