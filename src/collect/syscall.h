/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The workload syscall: the cost of entering the kernel, call by call, beside calls that cost
 * nothing but the CPU. Each window is one call, from before it to after it.
 *
 * A round makes all calls in turn, so drift (frequency, a neighbour) affects all of them alike. In
 * a round some calls of a short kind are timed singly: these are windows, and their outliers get
 * explained. Then comes a batch of some 2 us, between two fenced readings of the counter: its value
 * is the batch's time less that of an empty one, divided by its size. A call longer than the batch
 * is value and window at once.
 */
#ifndef CULPRIT_SYSCALL_H
#define CULPRIT_SYSCALL_H

#include "collect/workload.h"

#define SYSCALL_CALLS 19

struct syscall_options {
	uint64_t rounds;             /* 0: until the window ends */
	uint32_t ncalls;             /* 0: none chosen yet */
	uint8_t call[SYSCALL_CALLS]; /* indexes into syscall_names, each once */
	bool bare;                   /* adds series ncalls + i: call i in a loop, see below */
};

extern const char *const syscall_names[SYSCALL_CALLS + 1]; /* NULL-terminated */

/* Takes struct syscall_options. The user sets its series: the names of the chosen calls, in that
 * order; with `bare` followed by as many again, for the time of a call in a long loop with no timer
 * in it, by CLOCK_MONOTONIC. */
extern const struct workload syscall_workload;

#endif
