/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run --host-listen: takes the recording that culprit watch --to sends from the host of this guest.
 * A process of its own listens and takes it, without capabilities, off the measured CPUs, and ends
 * with culprit. It takes one recording: of who first shows that it has the token. Who does not is
 * sent away within seconds, and before that when too many have come since. What comes is bounded:
 * in bytes, which lie in memory, and in time without a byte. Nothing of it is read there: what it
 * holds is for recording_open().
 */
#ifndef CULPRIT_RECEIVER_H
#define CULPRIT_RECEIVER_H

#include "base/cpus.h"
#include "cmd/channel.h"

#define RECEIVER_MOST (256 << 20) /* bytes of a recording that are taken */

struct receiver;

enum received {
	RECEIVED_NOTHING, /* nobody with the token came */
	RECEIVED_PART,    /* goes on */
	RECEIVED_WHOLE,   /* the host said that there is no more */
	RECEIVED_BROKE,   /* the host broke off */
	RECEIVED_LEFT,    /* the waiting for its rest was stopped */
	RECEIVED_FULL,    /* larger than what is taken */
};

struct receipt {
	enum received how;
	uint64_t bytes;
	/* CLOCK_MONOTONIC, ns: when the host was recording, and when the last came, or it had shown
	 * the token; 0: never */
	uint64_t begun_ns, last_ns;
	uint32_t refused; /* connections of those who did not show the token */
};

/* housekeeping: where its process runs; empty: anywhere. NULL with the reason said. */
struct receiver *receiver_open(const struct channel_address *at, const struct token *token,
			       const struct cpus *housekeeping);

/* As of now. */
struct receipt receiver_look(const struct receiver *r);

/* Tells the host that it is enough: it sends the rest, and ends. */
void receiver_enough(struct receiver *r);

/* Waits for that, until *stop, or up to a minute where it stops within a record, and ends the
 * process. */
struct receipt receiver_finish(struct receiver *r, const volatile int *stop);

/* Tells what of the host's recording is missing in a run from begun_ns to ended_ns, or "". */
void receipt_lack(const struct receipt *r, uint64_t begun_ns, uint64_t ended_ns, char *text,
		  size_t len);

/* The path at which what came can be read, as long as it is open. */
const char *receiver_path(const struct receiver *r);

void receiver_close(struct receiver *r); /* NULL is allowed */

#endif
