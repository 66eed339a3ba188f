/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scheduling policies. */
#ifndef CULPRIT_POLICY_H
#define CULPRIT_POLICY_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define POLICY_TEXT 64 /* bytes for policy_format */

/* Budget of a thread with SCHED_DEADLINE: time on its CPU in each period. */
struct deadline {
	uint64_t runtime_ns, period_ns;
};

/* True for those that have priorities, and go before all normal threads. */
static inline bool policy_is_real_time(int policy)
{
	return policy == SCHED_FIFO || policy == SCHED_RR;
}

/* True of what policy_format wrote for SCHED_DEADLINE. */
static inline bool policy_text_is_deadline(const char *text)
{
	return !strncmp(text, "SCHED_DEADLINE ", 15);
}

/* Writes "SCHED_OTHER", "SCHED_FIFO 10", "SCHED_DEADLINE 200:1000 us". Returns buf. */
static inline char *policy_format(int policy, int priority, const struct deadline *d, char *buf,
				  size_t len)
{
	const char *name = policy == SCHED_FIFO    ? "SCHED_FIFO"
			   : policy == SCHED_RR    ? "SCHED_RR"
			   : policy == SCHED_BATCH ? "SCHED_BATCH"
			   : policy == SCHED_IDLE  ? "SCHED_IDLE"
						   : "SCHED_OTHER";

	if (policy == SCHED_DEADLINE)
		snprintf(buf, len, "SCHED_DEADLINE %.9g:%.9g us", d->runtime_ns / 1e3,
			 d->period_ns / 1e3);
	else if (policy_is_real_time(policy))
		snprintf(buf, len, "%s %d", name, priority);
	else
		snprintf(buf, len, "%s", name);
	return buf;
}

#endif
