/* The workload syscall: what entering the kernel costs here, call by call, and beside it what costs
 * nothing but the CPU. Each window is one call, from before it to after it.
 *
 * A round makes all calls in turn, so that what drifts (frequency, a neighbour) drifts for all of
 * them alike. In a round some of a short call are timed singly: these are windows, and their
 * outliers get explained. Then comes a batch of some 2 us, between two fenced readings of the
 * counter: it makes one value, the batch's time less that of an empty one, by its size. A call
 * longer than the batch is value and window at once.
 */
#ifndef CULPRIT_SYSCALL_H
#define CULPRIT_SYSCALL_H

#include "collect/workload.h"

#define SYSCALL_CALLS 16

struct syscall_options {
	uint64_t rounds;             /* 0: until the window ends */
	uint32_t ncalls;             /* 0: none yet */
	uint8_t call[SYSCALL_CALLS]; /* indexes into syscall_names, each once */
	bool bare;                   /* series ncalls + i: call i in a loop, see below */
};

extern const char *const syscall_names[SYSCALL_CALLS + 1]; /* NULL-terminated */

/* Takes struct syscall_options. Its series are the user's to set: the names of the calls chosen, in
 * that order, and with `bare` behind them as many again for the time of a call in a long loop with
 * no timer in it, by CLOCK_MONOTONIC. */
extern const struct workload syscall_workload;

#endif
