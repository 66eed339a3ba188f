/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stopped handler: on a guest the host can take the CPU in the middle of an interrupt's handler,
 * and firmware can anywhere. The kernel's clock goes on meanwhile, so the stop counts as the
 * handler's time, though no change to the handler ends it.
 *
 * Applied to interrupts, vectors, softirqs and NMIs, whose runs mostly take the same time, and
 * only with a sign of a stop: a hypervisor, counted SMIs, or other measured CPUs that were away
 * at the same time. Where STOPS_SAMPLES runs or more are known, those count as stopped that took
 * more than eight times what 99 of 100 take, and more than STOPS_LEAST_NS; where STOPS_SOME are
 * known, those of more than 64 times the median and STOPS_SOME_NS, which is beyond any batch
 * that the kernel works off in a softirq before it looks at the time; where fewer are known,
 * those of more than STOPS_FEW_NS, as no handler takes so long by itself. Where SMIs are the
 * only sign and there were fewer than such runs, some took long by themselves, nobody knows
 * which, and none counts. It stays likely, not certain. */
#ifndef CULPRIT_STOPS_H
#define CULPRIT_STOPS_H

#include "model/view.h"

#define STOPS_SAMPLES  200
#define STOPS_LEAST_NS 50000
#define STOPS_SOME     10
#define STOPS_SOME_NS  10000000
#define STOPS_FEW_NS   100000000

/* Fills s->stopped of all sources of this CPU; zeros where nothing was stopped. */
void stops_find(const struct view *v, uint32_t index);

/* Number of gaps outside the kernel that the steal clock does not explain. */
uint64_t stops_gaps(const struct cpu *c);

/* True when SMIs may have taken half of the time of these gaps or more. One SMI stops a CPU once,
 * so that at most as many gaps as SMIs were counted are theirs, and at most the longest. */
bool stops_are_smis(const struct cpu *c);

/* Time of a source without stops: those of all its runs, and the longest run without a stop. */
uint64_t stops_usual_sum(const struct source *s);
uint64_t stops_usual_max(const struct source *s);

#endif
