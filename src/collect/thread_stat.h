/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread's file /proc/PID/task/TID/stat. */
#ifndef CULPRIT_THREAD_STAT_H
#define CULPRIT_THREAD_STAT_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct thread_stat {
	const char *comm; /* any bytes; lies in the text */
	char state;
	int parent;
	unsigned flags, cpu, priority, policy; /* cpu: the last one */
};

/* Reads the text, in which it ends the comm. Fields from the third on: 4 is the parent, 9 flags, 39
 * the last CPU, 40 rt_priority, 41 policy (fs/proc/array.c: do_task_stat). False: it is malformed.
 */
static inline bool thread_stat_read(char *text, struct thread_stat *s)
{
	char *open = strchr(text, '('), *close = strrchr(text, ')');

	if (!open || !close || close < open ||
	    sscanf(close + 1,
		   " %c %d %*s %*s %*s %*s %u %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		   "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %u %u %u",
		   &s->state, &s->parent, &s->flags, &s->cpu, &s->priority, &s->policy) != 6)
		return false;
	*close = '\0';
	s->comm = open + 1;
	return true;
}

#endif
