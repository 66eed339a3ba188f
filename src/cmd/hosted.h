/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run --host-listen: a run in a guest that its host watches meanwhile (watch --to). Its report is
 * that of report --host: the run is recorded in memory, or in the file of -r, and joined at its end
 * with what the host has sent, by a process that has given away all its rights. */
#ifndef CULPRIT_HOSTED_H
#define CULPRIT_HOSTED_H

#include "cmd/channel.h"
#include "cmd/joined.h"
#include "cmd/live.h"

struct hosted_options {
	struct channel_address listen; /* no text: it is not wanted */
	const char *token;
	uint64_t wait_ns; /* 0: as the help says */
};

extern const struct opt hosted_opts[];

/* The row of --token: `field` is the offset of a const char *. */
#define OPT_TOKEN(field, other)                                                                    \
	{                                                                                          \
		0, "token", "FILE",                                                                \
			"the secret that both sides have, in a file of its owner's alone, like "   \
			"32 random bytes in base64: what is sent is encrypted by it",              \
			field, opt_set_string, .needs = other, .why = "is for who is connected"    \
	}

struct hosted;

/* Listens, and makes the live run a recording. Both options and the run outlive it. NULL with the
 * reason said. */
struct hosted *hosted_open(const struct hosted_options *o, struct live *live);

/* Waits until the host records, a signal comes, or patience is over. */
void hosted_await(struct hosted *h);

/* The window is over: tells the host. From here on a signal ends the waiting for its rest. */
void hosted_ended(struct hosted *h);

/* After live_run(), which returned `code`: takes the rest and writes the report. by: enum owner_by.
 * Returns the exit code. */
int hosted_report(struct hosted *h, struct output *o, int by, int code);
void hosted_close(struct hosted *h); /* NULL is allowed */

#endif
