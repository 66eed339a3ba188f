/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/now.h"
#include "base/say.h"
#include "base/units.h"

#ifdef CULPRIT_SODIUM
#include <sodium.h>

#define MAGIC      "culprit\1" /* with the version of the protocol */
#define MAGIC_LEN  8
#define NUMBER     32
#define PROOF      32
#define LENGTH     4
#define EMPTY      crypto_secretstream_xchacha20poly1305_ABYTES /* a record of no bytes, sealed */
#define SEAL_HEAD  crypto_secretstream_xchacha20poly1305_HEADERBYTES
#define SEALED     (CHANNEL_RECORD + EMPTY)
#define TOKEN_MIN  16
#define TOKEN_MAX  4096
#define NOT_OTHERS "make one with: " TOKEN_MAKE ", and copy it to the other side"

_Static_assert(sizeof(((struct caller *)0)->said) == NUMBER + SEAL_HEAD + LENGTH + EMPTY,
	       "what a host says first");

struct channel {
	int fd;
	crypto_secretstream_xchacha20poly1305_state state;
	uint8_t sealed[LENGTH + SEALED];
};

/* ---- sockets ---- */

/* Milliseconds until then, rounded up; 0: it is over. */
static int left_ms(uint64_t deadline_ns)
{
	uint64_t now = now_ns();

	return now < deadline_ns ? (deadline_ns - now) / NSEC_PER_MSEC + 1 : 0;
}

static bool wait_for(int fd, short events, uint64_t deadline_ns)
{
	struct pollfd p = {.fd = fd, .events = events};
	int ms, n = 0;

	while ((ms = left_ms(deadline_ns)) && (n = poll(&p, 1, ms)) < 0 && errno == EINTR)
		;
	return ms && n > 0;
}

static bool take_bytes(int fd, void *to, size_t len, uint64_t deadline_ns)
{
	for (size_t n = 0; n < len;) {
		ssize_t got = recv(fd, (char *)to + n, len - n, MSG_DONTWAIT);

		if (got > 0)
			n += got;
		else if (!got || (errno != EAGAIN && errno != EINTR) ||
			 !wait_for(fd, POLLIN, deadline_ns))
			return false;
	}
	return true;
}

static bool put_bytes(int fd, const void *from, size_t len, uint64_t deadline_ns)
{
	for (size_t n = 0; n < len;) {
		ssize_t put =
			send(fd, (const char *)from + n, len - n, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (put > 0)
			n += put;
		else if ((put < 0 && errno != EAGAIN && errno != EINTR) ||
			 !wait_for(fd, POLLOUT, deadline_ns))
			return false;
	}
	return true;
}

/* ---- what is sealed ---- */

int channel_token(const char *path, struct token *token)
{
	uint8_t text[TOKEN_MAX + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st)) {
		int err = errno;

		if (fd >= 0)
			close(fd);
		return complain("--token: cannot read %s: %s; " NOT_OTHERS, path, strerror(err));
	}
	n = S_ISREG(st.st_mode) ? read(fd, text, sizeof(text)) : -1;
	close(fd);
	if (S_ISREG(st.st_mode) && st.st_uid && st.st_uid != geteuid())
		return complain("--token: %s is another user's, who knows what is in it: if that "
				"is you, chown it, or else " NOT_OTHERS,
				path);
	if (S_ISREG(st.st_mode) && st.st_mode & (S_IRWXG | S_IRWXO))
		return complain("--token: others than its owner may use %s: chmod 600 it, or "
				"better " NOT_OTHERS,
				path);
	while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r'))
		n--;
	if (n < TOKEN_MIN || n > TOKEN_MAX)
		return complain("--token: %s is no file of %d to %d bytes: " NOT_OTHERS, path,
				TOKEN_MIN, TOKEN_MAX);
	if (sodium_init() < 0)
		return complain("--token: libsodium finds no random numbers here");
	crypto_generichash(token->key, sizeof(token->key), text, n, NULL, 0);
	sodium_memzero(text, sizeof(text));
	return 0;
}

/* Both sides' numbers, under a token, are a key, and a proof that one has it. */
static void derive(const struct token *token, const uint8_t *guest, const uint8_t *host,
		   uint8_t *key, uint8_t *proof)
{
	uint8_t both[MAGIC_LEN + 2 * NUMBER], made[64];

	memcpy(both, MAGIC, MAGIC_LEN);
	memcpy(both + MAGIC_LEN, guest, NUMBER);
	memcpy(both + MAGIC_LEN + NUMBER, host, NUMBER);
	crypto_generichash(made, sizeof(made), both, sizeof(both), token->key, sizeof(token->key));
	memcpy(key, made, 32);
	memcpy(proof, made + 32, PROOF);
	sodium_memzero(made, sizeof(made));
}

static struct channel *channel_new(int fd)
{
	struct channel *c = calloc(1, sizeof(*c));

	if (c)
		c->fd = fd;
	return c;
}

void channel_free(struct channel *c)
{
	if (c)
		sodium_memzero(c, sizeof(*c));
	free(c);
}

static uint32_t length_of(const struct channel *c)
{
	return c->sealed[0] | c->sealed[1] << 8 | c->sealed[2] << 16 | (uint32_t)c->sealed[3] << 24;
}

/* Opens the record of so many bytes that came. */
static bool unseal(struct channel *c, uint32_t sealed, uint8_t *to, size_t *len, bool *last)
{
	unsigned char tag;
	unsigned long long n;

	if (crypto_secretstream_xchacha20poly1305_pull(&c->state, to, &n, &tag, c->sealed + LENGTH,
						       sealed, c->sealed, LENGTH))
		return false;
	*len = n;
	*last = tag == crypto_secretstream_xchacha20poly1305_TAG_FINAL;
	return true;
}

/* A host begins with its number, the head of its seal, an empty record. */
static bool shows_token(struct channel *c, const struct caller *caller, const struct token *token)
{
	const uint8_t *record = caller->said + NUMBER + SEAL_HEAD;
	uint8_t key[32], proof[PROOF], none[EMPTY];
	bool last, good;
	size_t len;

	derive(token, caller->number, caller->said, key, proof);
	memcpy(c->sealed, record, LENGTH + EMPTY);
	good = length_of(c) == EMPTY &&
	       !crypto_secretstream_xchacha20poly1305_init_pull(&c->state, caller->said + NUMBER,
								key) &&
	       unseal(c, EMPTY, none, &len, &last) && !last &&
	       put_bytes(c->fd, proof, sizeof(proof), 0);
	sodium_memzero(key, sizeof(key));
	return good;
}

static bool call(struct channel *c, const struct token *token, uint64_t deadline_ns)
{
	uint8_t hello[MAGIC_LEN + NUMBER], key[32], proof[PROOF], shown[PROOF];
	uint8_t head[NUMBER + SEAL_HEAD];
	bool good;

	if (!take_bytes(c->fd, hello, sizeof(hello), deadline_ns) ||
	    memcmp(hello, MAGIC, MAGIC_LEN))
		return false;
	randombytes_buf(head, NUMBER);
	derive(token, hello + MAGIC_LEN, head, key, proof);
	crypto_secretstream_xchacha20poly1305_init_push(&c->state, head + NUMBER, key);
	good = put_bytes(c->fd, head, sizeof(head), deadline_ns) &&
	       channel_put(c, NULL, 0, false, deadline_ns) &&
	       take_bytes(c->fd, shown, sizeof(shown), deadline_ns) &&
	       !sodium_memcmp(shown, proof, PROOF);
	sodium_memzero(key, sizeof(key));
	return good;
}

bool channel_greet(struct caller *caller, int fd)
{
	uint8_t hello[MAGIC_LEN + NUMBER];

	caller->fd = fd;
	caller->len = 0;
	randombytes_buf(caller->number, sizeof(caller->number));
	memcpy(hello, MAGIC, MAGIC_LEN);
	memcpy(hello + MAGIC_LEN, caller->number, NUMBER);
	return put_bytes(fd, hello, sizeof(hello), 0);
}

enum heard channel_hear(struct caller *caller, const struct token *token, struct channel **c)
{
	ssize_t got = recv(caller->fd, caller->said + caller->len,
			   sizeof(caller->said) - caller->len, MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return HEARD_PART;
	if (got <= 0)
		return HEARD_STRANGER;
	caller->len += got;
	if (caller->len < sizeof(caller->said))
		return HEARD_PART;
	*c = channel_new(caller->fd);
	if (*c && shows_token(*c, caller, token))
		return HEARD_HOST;
	channel_free(*c);
	return HEARD_STRANGER;
}

struct channel *channel_call(int fd, const struct token *token, uint64_t deadline_ns)
{
	struct channel *c = channel_new(fd);

	if (c && call(c, token, deadline_ns))
		return c;
	channel_free(c);
	return NULL;
}

bool channel_take(struct channel *c, uint8_t *to, size_t *len, bool *last, uint64_t deadline_ns)
{
	uint32_t sealed;

	if (!take_bytes(c->fd, c->sealed, LENGTH, deadline_ns))
		return false;
	sealed = length_of(c);
	return sealed >= EMPTY && sealed <= SEALED &&
	       take_bytes(c->fd, c->sealed + LENGTH, sealed, deadline_ns) &&
	       unseal(c, sealed, to, len, last);
}

bool channel_put(struct channel *c, const uint8_t *from, size_t len, bool last,
		 uint64_t deadline_ns)
{
	size_t sealed = len + EMPTY;

	for (int i = 0; i < LENGTH; i++)
		c->sealed[i] = sealed >> 8 * i;
	crypto_secretstream_xchacha20poly1305_push(
		&c->state, c->sealed + LENGTH, NULL, from, len, c->sealed, LENGTH,
		last ? crypto_secretstream_xchacha20poly1305_TAG_FINAL : 0);
	return put_bytes(c->fd, c->sealed, LENGTH + sealed, deadline_ns);
}
#else
int channel_token(const char *path, struct token *token)
{
	(void)path;
	(void)token;
	return complain("--token: this culprit was built without libsodium: record the host in a "
			"file, and use culprit report guest.rec --host host.rec");
}

bool channel_greet(struct caller *caller, int fd)
{
	(void)caller;
	(void)fd;
	return false;
}

enum heard channel_hear(struct caller *caller, const struct token *token, struct channel **c)
{
	(void)caller;
	(void)token;
	(void)c;
	return HEARD_STRANGER;
}

struct channel *channel_call(int fd, const struct token *token, uint64_t deadline_ns)
{
	(void)fd;
	(void)token;
	(void)deadline_ns;
	return NULL;
}

void channel_free(struct channel *c)
{
	(void)c;
}

bool channel_take(struct channel *c, uint8_t *to, size_t *len, bool *last, uint64_t deadline_ns)
{
	(void)c;
	(void)to;
	(void)len;
	(void)last;
	(void)deadline_ns;
	return false;
}

bool channel_put(struct channel *c, const uint8_t *from, size_t len, bool last,
		 uint64_t deadline_ns)
{
	(void)c;
	(void)from;
	(void)len;
	(void)last;
	(void)deadline_ns;
	return false;
}
#endif
