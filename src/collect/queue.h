/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The workload queue: one producer sends messages through a ring in shared memory to consumers that
 * do not know of each other. All of them busy-wait, each on a CPU of its own: the shape of a
 * trading engine. The accumulator adds up its input, the journaller appends it to a file. Transit
 * lasts from a message's stamp until a consumer sees it, and is a window of the consumer's CPU; the
 * part before the consumer had the previous message belongs to that message's window. The time from
 * when a message was due until it is in the ring is a window of the producer's.
 *
 * Each slot names the message that it holds, on the line of the stamp: a message costs one line
 * between two caches, as in the barest loop.
 */
#ifndef CULPRIT_COLLECT_QUEUE_H
#define CULPRIT_COLLECT_QUEUE_H

#include "collect/workload.h"

enum queue_role { QUEUE_PRODUCER, QUEUE_ACCUMULATOR, QUEUE_JOURNALLER, QUEUE_ROLES };

#define QUEUE_NOBODY ~0U

/* An entry of the journal: the message; a line of text with its number, the time when it was
 * published (CLOCK_MONOTONIC, ns) and its transit (ns); or these three as 64-bit words of this
 * machine, and the message. */
enum queue_form { QUEUE_RAW, QUEUE_TEXT, QUEUE_BINARY };
#define QUEUE_LENGTH_MAX (1 << 16) /* bytes of a message */

struct queue_options {
	unsigned cpu[QUEUE_ROLES]; /* QUEUE_NOBODY: nobody has this role */
	uint64_t messages, warmup;
	uint64_t gap_ns;     /* busy between two messages */
	uint64_t length;     /* bytes of a message */
	uint64_t slots;      /* slots of the ring, a power of two */
	char *ring;          /* shared memory, zeros, queue_ring_bytes long */
	const char *payload; /* contents of the messages, piece by piece, over and over */
	size_t payload_len;  /* length of the payload, at least `length` bytes */
	int journal;         /* open for writing; the workload owns it */
	int form;            /* enum queue_form */
};

size_t queue_ring_bytes(const struct queue_options *o);

extern const char *const queue_role_names[QUEUE_ROLES];
extern const struct workload queue_workload; /* takes struct queue_options */

#endif
