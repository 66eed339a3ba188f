/* The workload queue: one producer sends messages through a ring in shared memory to consumers that
 * do not know of each other, all of them busy-waiting, each on a CPU of its own: the shape of a
 * trading engine. The accumulator adds up what it gets, the journaller appends it to a file.
 * Transit is from a message's stamp to when a consumer sees it, and is a window of the consumer's
 * CPU; what of it came before the consumer had the message ahead of it is that one's window
 * already. From when a message was due to when it is in the ring is a window of the producer's.
 *
 * Each slot says itself which message it holds, in the line of the stamp: a message costs one line
 * between two caches, as the barest loop.
 */
#ifndef CULPRIT_COLLECT_QUEUE_H
#define CULPRIT_COLLECT_QUEUE_H

#include "collect/workload.h"

enum queue_role { QUEUE_PRODUCER, QUEUE_ACCUMULATOR, QUEUE_JOURNALLER, QUEUE_ROLES };

#define QUEUE_NOBODY ~0U

struct queue_options {
	unsigned cpu[QUEUE_ROLES]; /* QUEUE_NOBODY: none */
	uint64_t messages, warmup;
	uint64_t gap_ns;     /* busy between two messages */
	uint64_t length;     /* of a message, bytes */
	uint64_t slots;      /* of the ring, a power of two */
	char *ring;          /* shared memory, zeros: queue_ring_bytes of it */
	const char *payload; /* what the messages are made of, piece by piece, over and over... */
	size_t payload_len;  /* ...at least `length` */
	int journal;         /* open for writing; becomes the workload's */
};

size_t queue_ring_bytes(const struct queue_options *o);

extern const struct workload queue_workload; /* takes struct queue_options */

#endif
