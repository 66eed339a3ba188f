/* The workload pingpong: two processes, each on a CPU of its own, send one message to and fro. Each
 * window lasts from when a message was stamped, on the sender's CPU, to when the receiver had it,
 * and is a window of the receiver's CPU. A send that takes long is one of the sender's. Both run in
 * processes of their own: what they use is shared memory, and primitives that work between
 * processes.
 *
 * A way to tell the other is a row in pingpong.c's table; how the message goes is in
 * pingpong_way.h.
 */
#ifndef CULPRIT_PINGPONG_H
#define CULPRIT_PINGPONG_H

#include "collect/workload.h"

#define PINGPONG_WAYS 13

extern const char *const pingpong_names[PINGPONG_WAYS + 1]; /* NULL-terminated */

struct pingpong_options {
	unsigned cpu[2]; /* the one that begins, and the other */
	uint32_t way[PINGPONG_WAYS];
	uint32_t nways;
	uint64_t messages; /* each way, by each method; or of each pair */
	uint64_t pauses;   /* before each message */
	uint64_t looks;    /* PAUSEs between two looks of spin-pauses */
	/* Shared memory: each message's time, ns, [way's place][receiver: 0 began, 1 the
	 * other][messages]; NULL: not wanted. What was never sent is 0, and how many came is in
	 * raw_count[way's place][receiver]. */
	uint64_t *raw, *raw_count;
	/* Shared memory: all CPUs in pairs, one after another by the first way: the median time,
	 * ns, from matrix[sender * n + receiver], by the samplers' indices; UINT64_MAX: not
	 * measured. NULL: the two CPUs only. */
	uint64_t *matrix;
};

/* Takes struct pingpong_options; series: the caller sets it to the names of its ways. */
extern const struct workload pingpong_workload;

/* 0, or -1 with the reason in why: neither this CPU nor this kernel can be changed by the user at
 * once, so it is no error of his. */
int pingpong_can(uint32_t way, char *why, size_t len);

#endif
