/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows that lack a part of their time: CPUs that were offline. view_incomplete() says it. */
#ifndef CULPRIT_INCOMPLETE_H
#define CULPRIT_INCOMPLETE_H

#include <stdbool.h>
#include <stdint.h>

/* Times that a CPU was offline while a run went on that measured it again. */
struct offline {
	uint64_t times, total_ns;
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC: begin of the first, end of the last */
	bool at_most;            /* total_ns may be less: see offline_cut() */
};

/* Adds one; they come in order of time. */
void offline_add(struct offline *o, uint64_t from_ns, uint64_t to_ns);
/* Leaves what lies in [from, to), CLOCK_MONOTONIC; where that cuts several, total_ns is no less. */
void offline_cut(struct offline *o, uint64_t from_ns, uint64_t to_ns);

/* "was offline for 2.00 s, and measured before and after that", of a CPU that was; returns buf. */
#define OFFLINE_SAID 120
char *offline_say(const struct offline *o, char buf[OFFLINE_SAID]);
/* The same of several, "were ... at most", by the one that was so for the longest time. */
char *offline_say_all(const struct offline *longest, char buf[OFFLINE_SAID]);

#endif
