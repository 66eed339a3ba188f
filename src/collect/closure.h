/* Closure: the kernel's own counters of a CPU (/proc/interrupts, /proc/softirqs, the sampler's
 * context switches) against the records that were traced, over exactly the same window.
 *
 * A counter and a record of one interrupt do not change at the same instant, so a reading counts
 * only when nothing happened on the CPU from its begin to its end: the record sequences, which the
 * probes share, say so. Reading these files sends no IPI.
 */
#ifndef CULPRIT_CLOSURE_H
#define CULPRIT_CLOSURE_H

#include <stdbool.h>
#include <stdint.h>
#include "collect/sampler.h"
#include "model/view.h"
#include "state.h"

struct closure;

struct closure *closure_new(unsigned cpu, int sampler); /* NULL: out of memory */
void closure_free(struct closure *c);

/* Reads the counters between two interrupts: the first call begins, the second ends the window.
 * *cursors: the record sequences at that time. Returns false when the CPU is too busy. */
bool closure_read(struct closure *c, const struct cpu_state *state, cursors_t *cursors);

/* Counts a record of the window. */
void closure_count(struct closure *c, const struct record *r);

/* Writes the rows that counted anything to run->closure (allocated; the view owns it). actions:
 * returns how many handlers share an IRQ. */
void closure_compare(struct closure *c, struct cpu *run,
		     unsigned (*actions)(void *ctx, uint32_t irq), void *ctx);

#endif
