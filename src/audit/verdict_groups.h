/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that say what CPUs, or watched threads, have in common. */
#ifndef CULPRIT_VERDICT_GROUPS_H
#define CULPRIT_VERDICT_GROUPS_H

#include "audit/most.h"
#include "model/groups.h"

struct say {
	struct sentence *out;
	const struct view *v;
	const struct cpu_group *g;
};

/* Says whom the sentence is about: "cpus 4-33,35-63", "threads feed-* (24)". */
void say_lanes(const struct say *s);

/* True when this source of a CPU is what m names; of: its row of the group, NULL where m names
 * several. */
bool say_counts_to(const struct most *m, const struct group_source *of, const struct source *s);

/* Says what it was, and what to do where that is the same on all of them. lane: the CPU that it is
 * most true of. */
void say_most(const struct say *s, uint32_t lane, const struct most *m,
	      const struct group_source *of);

/* Adds how many hiccups of all of them nobody could read; nothing where there are none. */
void say_unread(const struct say *s);

/* Says of a workload how many operations were slow, and why. */
void say_slow(const struct say *s);

/* True when the share that each watched thread lost is known. */
bool say_lost_known(const struct say *s);
/* Says what threads lost, of which it is not. */
void say_threads(const struct say *s);

#endif
