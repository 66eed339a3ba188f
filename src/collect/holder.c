/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/holder.h"

#include <ctype.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/policy.h"
#include "collect/thread_stat.h"

#define PF_KTHREAD   0x00200000 /* include/linux/sched.h */
#define PRIORITY_MAX 99

/* The order in which the scheduler lets threads run. */
static unsigned rank(int policy, unsigned priority)
{
	return policy == SCHED_DEADLINE ? PRIORITY_MAX + 1 : priority;
}

/* Reads a thread's file stat. False: it has none, it sleeps, it is elsewhere or our own. */
static bool read_stat(const char *path, unsigned cpu, pid_t own, struct holder *h)
{
	FILE *f = fopen(path, "re");
	struct thread_stat s;
	char text[1024];

	if (!f)
		return false;
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	if (!thread_stat_read(text, &s) || s.state != 'R' || s.cpu != cpu || s.parent == own)
		return false;
	*h = (struct holder){.kernel_thread = s.flags & PF_KTHREAD,
			     .policy = s.policy,
			     .priority = policy_is_real_time(s.policy) ? s.priority : 0};
	snprintf(h->comm, sizeof(h->comm), "%s", s.comm);
	return sscanf(text, "%u", &h->tid) == 1;
}

static bool is_number(const struct dirent *e)
{
	return isdigit((unsigned char)e->d_name[0]);
}

bool holder_find(const char *proc, unsigned cpu, pid_t own, struct holder *h)
{
	DIR *all = opendir(proc), *threads;
	const struct dirent *e, *t;
	struct holder one;
	char path[128];

	*h = (struct holder){.tid = 0};
	while (all && (e = readdir(all))) {
		snprintf(path, sizeof(path), "%.40s/%.20s/task", proc, e->d_name);
		if (!is_number(e) || (pid_t)atoi(e->d_name) == own || !(threads = opendir(path)))
			continue;
		while ((t = readdir(threads))) {
			snprintf(path, sizeof(path), "%.40s/%.20s/task/%.20s/stat", proc, e->d_name,
				 t->d_name);
			if (is_number(t) && read_stat(path, cpu, own, &one) &&
			    (!h->tid ||
			     rank(one.policy, one.priority) > rank(h->policy, h->priority)))
				*h = one;
		}
		closedir(threads);
	}
	if (all)
		closedir(all);
	return h->tid;
}

__attribute__((format(printf, 2, 3))) static void add(char buf[HOLDER_TEXT], const char *fmt, ...)
{
	size_t have = strlen(buf);
	va_list args;

	va_start(args, fmt);
	vsnprintf(buf + have, HOLDER_TEXT - have, fmt, args);
	va_end(args);
}

/* The samplers' rank. */
static unsigned rank_of(const char *own)
{
	unsigned priority = 0;

	if (policy_text_is_deadline(own))
		return rank(SCHED_DEADLINE, 0);
	if (sscanf(own, "SCHED_FIFO %u", &priority) != 1)
		sscanf(own, "SCHED_RR %u", &priority);
	return priority;
}

/* The least priority above the thread's; 0: there is none. */
static unsigned priority_above(const struct holder *h)
{
	if (rank(h->policy, h->priority) >= PRIORITY_MAX)
		return 0;
	return policy_is_real_time(h->policy) ? h->priority + 1 : 10;
}

static void add_remedies(char buf[HOLDER_TEXT], const struct holder *h, const struct cpus *rest,
			 unsigned above)
{
	bool end = !h->kernel_thread, move = end && h->policy != SCHED_DEADLINE;
	char list[64];

	cpus_format(rest, list, sizeof(list));
	move = move && !cpus_empty(rest) && list[strlen(list) - 1] != '.';
	if (end)
		add(buf, "; end it");
	if (move)
		add(buf, ", or move it with taskset -pc %s %u", list, h->tid);
	if (above)
		add(buf, "%s give the samplers a higher priority with -P f:%u", end ? ", or" : ";",
		    above);
}

const char *holder_text(const struct holder *h, unsigned cpu, const char *own,
			const struct cpus *rest, char buf[HOLDER_TEXT])
{
	struct cpus others = *rest;
	char policy[POLICY_TEXT];
	unsigned have = rank_of(own);

	buf[0] = '\0';
	/* One that goes behind the samplers keeps them from nothing. */
	if (!h || rank(h->policy, h->priority) < have) {
		add(buf, "end those");
		if (have < PRIORITY_MAX)
			add(buf, ", or give the samplers a higher priority %s",
			    have ? "than theirs with -P" : "with -P f:10");
		return buf;
	}
	if (h->policy == SCHED_DEADLINE)
		strcpy(policy, "SCHED_DEADLINE");
	else
		policy_format(h->policy, h->priority, NULL, policy, sizeof(policy));
	add(buf, "%s%s%s [%u] with %s is on cpu %u now", h->kernel_thread ? "[" : "", h->comm,
	    h->kernel_thread ? "]" : "", h->tid, policy, cpu);
	cpus_del(&others, cpu);
	add_remedies(buf, h, &others, priority_above(h));
	return buf;
}
