/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdict on time outside the kernel, by evidence, some of which comes later than the hiccup:
 *
 *   simultaneous  other target CPUs, a quarter of them at least, stopped and went on at the same
 *                 time: no single CPU's interrupt does that
 *   steal         the hypervisor's steal clock of this CPU rose by as much
 *                 (Documentation/virt/kvm/x86/msr.rst), in steps of 10 ms; the longest gaps since
 *                 its last step take it
 *   otherwise     hardware or hypervisor
 *
 * Each CPU keeps its newest few hundred gaps, and the longest of the older, until the steal clock
 * moves; the others are decided before, and all at the end.
 */
#ifndef CULPRIT_OUTSIDE_H
#define CULPRIT_OUTSIDE_H

#include <stdint.h>
#include "model/summary.h"

struct outside;

/* Times when a quarter of the target CPUs, two at least, stopped and went on together. */
struct coincidence {
	uint64_t start_ns, end_ns; /* those of one of them */
	uint32_t cpus;             /* as far as their gaps have come */
};

#define COINCIDENCES 64

struct coincidences {
	struct coincidence ring[COINCIDENCES]; /* the newest of n */
	uint64_t n;
};

/* Each decided gap becomes a row of kind outside in `v`, which outlives this. NULL: out of
 * memory. */
struct outside *outside_new(struct view *v, enum own_word otherwise);
void outside_free(struct outside *o);

/* Adds outside_ns of a hiccup of the CPU with this index. */
void outside_add(struct outside *o, uint32_t index, uint64_t start_ns, uint64_t end_ns,
		 uint64_t outside_ns);

/* Takes a reading of the CPU's steal clock, ns since boot; the first call sets the base. */
void outside_steal(struct outside *o, uint32_t index, uint64_t steal_ns);

/* As of now; valid until outside_free. */
const struct coincidences *outside_coincidences(const struct outside *o);

/* Decides all remaining gaps. */
void outside_finish(struct outside *o);

#endif
