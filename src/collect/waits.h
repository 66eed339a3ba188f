/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The watched threads that wait for a CPU when the window ends: these waits are in no record. */
#ifndef CULPRIT_WAITS_H
#define CULPRIT_WAITS_H

#include "collect/probes.h"
#include "collect/ring.h"

struct wait_set;

/* The probes' table, read only; before rights are dropped. NULL with errno set. */
const struct wait_set *waits_map(const struct probes *p);
void waits_unmap(const struct wait_set *table); /* NULL is allowed */

/* Tells of each thread that waited at `end`, CLOCK_MONOTONIC ns, and since when: those that still
 * did when the gate closed, and those whose wait ended between the two, by the records that are
 * left in the rings of the CPUs. Takes these records. A thread is told once, but where records were
 * lost. */
void waits_at_end(const struct wait_set *table, struct rings *const *rings, uint32_t nrings,
		  uint64_t end, void (*tell)(void *ctx, uint32_t tid, uint64_t since_ns),
		  void *ctx);

#endif
