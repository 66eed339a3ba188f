/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The largest parts: of a CPU's time, of one gap, and time that has no record. */
#ifndef CULPRIT_MOST_H
#define CULPRIT_MOST_H

#include "audit/sentence.h"

/* Finds what took most. Only the usual part of a stopped handler counts: the stop is not the
 * handler's doing (model/stops.h). */
struct most most_of(const struct cpu *c);

/* Finds what took most of a workload's slow windows and is surely not its own; *rest: the time of
 * no source. */
struct most most_of_windows(const struct cpu *c, uint64_t *rest);

/* Finds what took most at once: the longest run of a source. */
struct most longest_of(const struct cpu *c);

/* The same among what is surely not a workload's own. */
struct most longest_of_windows(const struct cpu *c);

/* True where the longest is out of proportion to what took most (model/groups.h). */
bool is_odd(const struct cpu *c, const struct most *longest, const struct most *most);

/* True for time outside the kernel's records, without evidence of its cause, while a share of the
 * records is missing. i: index of the CPU. */
bool may_be_lost(const struct view *v, uint32_t i, const struct source *s);

/* True when the hiccups that were not recorded took more than that, or may have: then nobody knows
 * who took most. */
bool most_unread(const struct cpu *c, const struct most *m);

#endif
