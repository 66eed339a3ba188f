/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cgroups: cpuset partitions that isolate CPUs, and quotas that throttle the tasks on them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/checks.h"

#define CGROUP_DEPTH 9

/* The next fact of this file in the cgroups of all depths; *depth begins with 0. */
static const struct fact *next_cgroup(const struct audit *a, const char *file, int *depth,
				      const struct fact *after)
{
	char glob[256];

	for (; *depth < CGROUP_DEPTH; ++*depth, after = NULL) {
		size_t n = snprintf(glob, sizeof(glob), "sys/fs/cgroup");

		for (int i = 0; i < *depth; i++)
			n += snprintf(glob + n, sizeof(glob) - n, "/*");
		snprintf(glob + n, sizeof(glob) - n, "/%s", file);
		after = facts_next(a->facts, glob, after);
		if (after)
			return after;
	}
	return NULL;
}

void check_partitions(struct audit *a)
{
	struct finding_items bad = {0};
	const struct fact *x = NULL;
	char line[LINE_MAX_TEXT], why[LINE_MAX_TEXT] = "", name[FACT_NAME_MAX];
	struct finding *f;
	int depth = 0;

	while ((x = next_cgroup(a, "cpuset.cpus.partition", &depth, x))) {
		if (x->err || !strstr(x->text, "invalid"))
			continue;
		first_line(x->text, line, sizeof(line));
		if (!bad.count)
			snprintf(why, sizeof(why), "%s", line);
		snprintf(name, sizeof(name), "/%.*s",
			 (int)(strlen(x->name) - strlen("/cpuset.cpus.partition")), x->name);
		if (!finding_items_add(&bad, name, 0))
			a->short_of_memory = true;
	}
	if (!bad.count) {
		found_ok(a, "no invalid cpuset partition");
		return;
	}
	f = bad.count == 1 ? fail(a, "the cpuset partition %s is not in force", bad.row[0].name)
			   : fail(a, "%u cpuset partitions are not in force", bad.count);
	if (!f) {
		finding_items_free(&bad);
		return;
	}
	f->list = bad;
	value(f, bad.count == 1 ? "%s" : "the first: %s", why);
	good(f, "isolated");
	words(f, "make its cpuset.cpus exclusive: no CPU of it in a sibling's, all of it in the "
		 "parent's");
}

static const char *const quota_files[] = {"cpu.max", "cpu.cfs_quota_us"};

/* Threads of the workload that are under a quota. */
struct throttled {
	struct finding_items threads;
	struct text fix, undo;          /* those of all of them */
	char value[LINE_MAX_TEXT + 32]; /* value of the first one's quota */
};

/* x: the quota, in a file of this name. */
static void quota_add(struct audit *a, struct throttled *all, const struct fact *x,
		      const char *file)
{
	char line[LINE_MAX_TEXT];
	struct finding one = {0};

	first_line(x->text, line, sizeof(line));
	if (!all->value[0])
		snprintf(all->value, sizeof(all->value), "%s: %s", file, line);
	write_fix(a, &one, x->name, strcmp(file, "cpu.max") ? "-1" : "max");
	/* Another process may be under it, too. No such command is a part of another one. */
	if (one.fix && !(all->fix.at && strstr(all->fix.at, one.fix))) {
		join_fixes(&all->fix, &all->undo, &one);
		return;
	}
	free(one.fix);
	free(one.undo);
}

/* Adds the quotas that a process is under, those of its cgroups and of all above them; false: there
 * are none. */
static bool quotas_of(struct audit *a, struct throttled *all, unsigned process)
{
	const struct fact *procs = NULL, *x;
	char number[16], name[FACT_NAME_MAX];
	bool some = false;
	int depth = 0;

	snprintf(number, sizeof(number), "%u", process);
	while ((procs = next_cgroup(a, "cgroup.procs", &depth, procs))) {
		const char *end = procs->name + strlen("sys/fs/cgroup");

		if (procs->err || !has_word(procs->text, number))
			continue;
		for (; end; end = strchr(end + 1, '/'))
			for (int i = 0; i < 2; i++) {
				snprintf(name, sizeof(name), "%.*s/%s", (int)(end - procs->name),
					 procs->name, quota_files[i]);
				x = facts_find(a->facts, name);
				if (!x || x->err)
					continue;
				quota_add(a, all, x, quota_files[i]);
				some = true;
			}
	}
	return some;
}

static void throttled_take(struct audit *a, struct throttled *all)
{
	struct task_walk w = {0};
	unsigned process = 0;
	bool under = false;
	char name[160];
	struct task t;

	while (next_task(a, &w, &t)) {
		if ((t.flags & TASK_KTHREAD) || !covers(&a->targets, &t.allowed))
			continue;
		if (t.tgid != process) /* the threads of one follow each other */
			under = quotas_of(a, all, process = t.tgid);
		snprintf(name, sizeof(name), "%.*s [%u]", (int)t.comm_len, t.comm, t.tid);
		if (under && !finding_items_add(&all->threads, name, t.tid))
			a->short_of_memory = true;
	}
}

static void throttled_say(struct audit *a, struct throttled *all)
{
	unsigned n = all->threads.count;
	struct finding *f =
		n == 1 ? fail(a,
			      "%s on %s is under a CPU quota, which throttles it and keeps its "
			      "tick",
			      all->threads.row[0].name, a->whose)
		       : fail(a,
			      "%u threads on %s are under CPU quotas, which throttle them and keep "
			      "their tick",
			      n, a->whose);

	fix_take(f, &all->fix, &all->undo);
	if (!f) {
		finding_items_free(&all->threads);
		return;
	}
	f->list = all->threads;
	value(f, "%s", all->value);
	good(f, "no quota");
}

/* A CFS quota throttles the tasks under it and keeps their tick. It is a failure when a target's
 * own workload is under it. */
void check_quota(struct audit *a)
{
	struct throttled all = {.fix.audit = a, .undo.audit = a};
	struct naming names = {0};

	for (int i = 0; i < 2; i++) {
		const struct fact *x = NULL;
		int depth = 0;

		while ((x = next_cgroup(a, quota_files[i], &depth, x)))
			if (!x->err)
				name_add(&names, x->name + strlen("sys/fs/cgroup"),
					 strlen(x->name) - strlen(quota_files[i]) -
						 strlen("sys/fs/cgroup/"));
	}
	if (names.count)
		throttled_take(a, &all);
	if (all.threads.count)
		throttled_say(a, &all);
	else if (names.count)
		value(info(a,
			   "CPU quotas are in force, on none of the threads that are bound to %s",
			   a->whose),
		      "%s", name_list(&names));
	else
		found_ok(a, "no cgroup has a CPU quota");
}
