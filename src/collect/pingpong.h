/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The workload pingpong: two processes, each on a CPU of its own, send one message to and fro. Each
 * window lasts from the stamp of a message on the sender's CPU until the receiver has it, and
 * belongs to the receiver's CPU. A long send is a window of the sender's. The two sides are
 * processes, so they use shared memory and primitives that work between processes; or threads of
 * one process, with primitives that are private to it.
 *
 * Each way of sending is a row in pingpong.c's table; pingpong_way.h has the course of a message.
 */
#ifndef CULPRIT_PINGPONG_H
#define CULPRIT_PINGPONG_H

#include "collect/workload.h"

#define PINGPONG_WAYS 13

extern const char *const pingpong_names[PINGPONG_WAYS + 1]; /* NULL-terminated */

struct pingpong_options {
	unsigned cpu[2]; /* CPUs of the side that begins, and of the other */
	uint32_t way[PINGPONG_WAYS];
	uint32_t nways;
	uint64_t messages; /* each way, by each method; or of each pair */
	uint64_t pauses;   /* PAUSEs before each message */
	uint64_t looks;    /* PAUSEs between two looks of spin-pauses */
	bool threads;      /* the workload's copy has them, too */
	/* Shared memory for the time of each message, ns: [way's place][receiver: 0 began, 1 the
	 * other][messages]; NULL: not wanted. 0: never sent. raw_count[way's place][receiver] says
	 * how many came. */
	uint64_t *raw, *raw_count;
	/* Shared memory: all CPUs in pairs, one after another, by the first way: the median time,
	 * ns, at matrix[sender * n + receiver], by the samplers' indices; UINT64_MAX: not measured.
	 * NULL: the two CPUs only. */
	uint64_t *matrix;
};

/* True when its receiver sleeps in the kernel until a message comes. */
bool pingpong_sleeps(uint32_t way);

/* Takes struct pingpong_options; series: the caller sets it to the names of its ways. */
extern const struct workload pingpong_workload;

/* Tests whether this machine can use a way. 0, or -1 with the reason in why; no error of the
 * user's, who cannot change the CPU or the kernel at once. */
int pingpong_can(uint32_t way, char *why, size_t len);

#endif
