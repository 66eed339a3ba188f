/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the kernel's own counters of all target CPUs at once, just before the window and just after
 * it: model/counters.h compares them with what was traced. Reading these files sends no IPI. */
#ifndef CULPRIT_CLOSURE_H
#define CULPRIT_CLOSURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "model/counters.h"
#include "state.h"

struct closure;

/* For these CPUs, ascending; `cpu` must outlive it. NULL: out of memory. */
struct closure *closure_new(const unsigned *cpu, uint32_t n);
void closure_free(struct closure *c);

/* The sampler of the ith CPU, and what its probes write; `state` must outlive the readings. */
void closure_sampler(struct closure *c, uint32_t i, pid_t sampler, const struct cpu_state *state);

/* Reads all counters; the second reading is the last. Count the records that are read after the
 * first one, until closure_still says that none is missing. */
void closure_read(struct closure *c, enum reading when);

/* True when no interrupt is under way on the ith CPU which the second reading may have counted. */
bool closure_still(const struct closure *c, uint32_t i);

/* False before the first reading, and where the second cannot be compared with it. */
bool closure_ended(const struct closure *c);

/* Counts a record of the ith CPU. */
void closure_count(struct closure *c, uint32_t i, const struct record *r);

/* Writes the rows of the ith CPU to the view, as counters_compare. */
void closure_compare(const struct closure *c, uint32_t i, struct cpu *run,
		     unsigned (*actions)(void *ctx, uint32_t irq), void *ctx);

#endif
