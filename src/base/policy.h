/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scheduling policies. */
#ifndef CULPRIT_POLICY_H
#define CULPRIT_POLICY_H

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>

/* True for those that have priorities, and go before all normal threads. */
static inline bool policy_is_real_time(int policy)
{
	return policy == SCHED_FIFO || policy == SCHED_RR;
}

/* Writes "SCHED_OTHER", "SCHED_FIFO 10". Returns buf. */
static inline char *policy_format(int policy, int priority, char *buf, size_t len)
{
	const char *name = policy == SCHED_FIFO    ? "SCHED_FIFO"
			   : policy == SCHED_RR    ? "SCHED_RR"
			   : policy == SCHED_BATCH ? "SCHED_BATCH"
			   : policy == SCHED_IDLE  ? "SCHED_IDLE"
						   : "SCHED_OTHER";

	if (policy_is_real_time(policy))
		snprintf(buf, len, "%s %d", name, priority);
	else
		snprintf(buf, len, "%s", name);
	return buf;
}

#endif
