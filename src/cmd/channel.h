/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The way on which a host's recording comes to its guest while both are measured: a connection of
 * TCP or of AF_VSOCK, on which every byte is sealed (libsodium's secretstream, XChaCha20-Poly1305)
 * by a key that is made from a token that both sides have, and from a number of each side's that is
 * used once. The token itself never travels. Who does not have it learns from the channel how much
 * is sent and when, and can end it; bytes of theirs never become bytes of the recording.
 *
 *     guest                                host
 *     magic, number               -->
 *                                 <--      number, head of the seal, an empty record
 *     proof: a hash of the key    -->
 *                                 <--      records, each 4 bytes of length and what is sealed
 *     shutdown: it is enough      -->
 *                                 <--      the rest, the last record has the tag FINAL
 */
#ifndef CULPRIT_CHANNEL_H
#define CULPRIT_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/opt.h"

#define CHANNEL_RECORD 32768 /* bytes of a record before it is sealed, at most */

struct channel_address {
	const char *text; /* as the user gave it; NULL: none */
	struct sockaddr_storage at;
	socklen_t len;
};

/* Setters of a struct channel_address: where to listen, "vsock:PORT", "tcp:PORT" (127.0.0.1) or
 * "tcp:ADDRESS:PORT"; and where to connect to, with "vsock:CID:PORT". */
int channel_set_listen(const char *text, void *field, const struct opt *row, char *why,
		       size_t whylen);
int channel_set_to(const char *text, void *field, const struct opt *row, char *why, size_t whylen);

#define TOKEN_MAKE "(umask 077; head -c 32 /dev/urandom | base64 >FILE)" /* a new one */

struct token {
	uint8_t key[32];
};

/* Reads the token from a file of its owner's alone, and prepares the library. 0, or -1 with the
 * reason said. */
int channel_token(const char *path, struct token *token);

/* A socket that listens, or is connected; -1 with the reason said. */
int channel_listen(const struct channel_address *a);
int channel_connect(const struct channel_address *a);

struct channel;

/* One who has come to who listens, and has not shown yet that it has the token. */
struct caller {
	int fd;             /* nonblocking, who listens owns it */
	uint8_t number[32]; /* the greeting's */
	uint8_t said[77];   /* a host says so much first */
	size_t len;
};

enum heard {
	HEARD_PART,     /* more may come */
	HEARD_STRANGER, /* no host, or gone */
	HEARD_HOST,
};

/* Greets one who has come; and takes what it has said meanwhile. Neither waits. False: the greeting
 * did not go away. *c: of HEARD_HOST alone. */
bool channel_greet(struct caller *caller, int fd);
enum heard channel_hear(struct caller *caller, const struct token *token, struct channel **c);

/* The begin of a connection by who calls: the other has the same token, or it is NULL. fd is
 * nonblocking and stays the caller's; deadline_ns: of CLOCK_MONOTONIC, when patience ends. */
struct channel *channel_call(int fd, const struct token *token, uint64_t deadline_ns);
void channel_free(struct channel *c); /* NULL is allowed */

/* Takes the next record, of *len bytes, maybe 0, into CHANNEL_RECORD bytes; *last: there are no
 * more. False: no whole one came until then, or it is not of the other side's. */
bool channel_take(struct channel *c, uint8_t *to, size_t *len, bool *last, uint64_t deadline_ns);

/* Sends one of at most CHANNEL_RECORD bytes. False: it did not go away until then. */
bool channel_put(struct channel *c, const uint8_t *from, size_t len, bool last,
		 uint64_t deadline_ns);

#endif
