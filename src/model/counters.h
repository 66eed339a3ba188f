/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Closure: the kernel's own counters of each measured CPU (/proc/interrupts, /proc/softirqs, the
 * sampler's context switches) beside the records that were traced, between two readings.
 *
 * A reading takes as long as the kernel needs to write tables of all its CPUs, and goes on while
 * these CPUs work: what begins meanwhile may or may not be in the numbers. So records are counted
 * twice: those that began between the readings for certain, and those that began during one. The
 * kernel's number must lie between the first count and the sum of both.
 */
#ifndef CULPRIT_COUNTERS_H
#define CULPRIT_COUNTERS_H

#include <stddef.h>
#include <stdint.h>
#include "model/view.h"
#include "record.h"

enum reading { READING_BEGIN, READING_END, READINGS };

struct counters;

/* For these CPUs, ascending; `cpu` must outlive it. NULL: out of memory. */
struct counters *counters_new(const unsigned *cpu, uint32_t n);
void counters_free(struct counters *c);

/* The interrupt that row IPI0 counts, where the IPIs are interrupts with a number. */
void counters_ipis(struct counters *c, int base);

/* A reading's begin and end, CLOCK_MONOTONIC. Set that of READING_BEGIN before the first record, of
 * READING_END before the first that may have begun after it. */
void counters_time(struct counters *c, enum reading when, uint64_t from_ns, uint64_t to_ns);

/* Takes a table of the kernel's: a heading of CPUs, then "label: count count ... text". The prefix
 * stands before its labels. 0 or -ENOMEM. */
int counters_table(struct counters *c, enum reading when, const char *prefix, const char *text,
		   size_t len);

/* Context switches of the ith CPU's sampler: by the kernel, and traced before and after that. */
struct switches {
	uint64_t kernel, traced_before, traced_after;
};
void counters_switches(struct counters *c, enum reading when, uint32_t i, struct switches s);

/* Counts a record of the ith CPU. */
void counters_record(struct counters *c, uint32_t i, const struct record *r);

/* Writes the rows that counted anything to run->closure (allocated; the view owns it). actions:
 * returns how many handlers share an IRQ. lost: records of the ith CPU that are missing. */
void counters_compare(const struct counters *c, uint32_t i, uint64_t lost, struct cpu *run,
		      unsigned (*actions)(void *ctx, uint32_t irq), void *ctx);

#endif
