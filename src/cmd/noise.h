/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process that makes known noise on a CPU, and tells afterwards what it did: poke's classes
 * (tools/poke.h). What it switches on ends with it; it undoes the rest itself, also when culprit is
 * killed. */
#ifndef CULPRIT_CMD_NOISE_H
#define CULPRIT_CMD_NOISE_H

#include "model/noise.h"

#define NOISE_RUNS 2

/* One mix of classes in random order. */
struct noise_run {
	const char *classes; /* by comma; NULL: end */
	const char *count;   /* number of each */
	const char *gap;     /* from one to the next, "2ms-4ms" */
};

struct noisy;

/* Starts the process, which waits: call it before a measurement gives rights away. control: the CPU
 * from which noise is made. NULL with the reason said. */
struct noisy *noisy_start(const struct noise_run runs[NOISE_RUNS], unsigned cpu, unsigned control);
void noisy_go(struct noisy *n);
bool noisy_done(struct noisy *n); /* true when it has made all, or has ended before */

/* Reads what was made; for classes that could not be made the reason, in sums[NOISE_CLASSES]. The
 * process has to be done. 0, or -1 with the reason said. Returned noises are valid until
 * noisy_end. */
int noisy_read(struct noisy *n, struct noise_sum *sums, const struct noise **made, uint32_t *count);

/* Ends the process, whatever it is doing, and puts back what it could not: before the next one is
 * started, which would take what it finds for the machine's own. 0, or -1 with the reason said. */
int noisy_stop(struct noisy *n);

/* Stops it and frees all. NULL: nothing. */
void noisy_end(struct noisy *n);

#endif
