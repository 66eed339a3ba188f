/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cgroups: cpuset partitions that isolate CPUs, and quotas that throttle the tasks on them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/checks.h"

#define CGROUP_DEPTH 9

/* The next fact of this file in the cgroups of all depths; *depth begins with 0. */
static const struct fact *next_cgroup(struct audit *a, const char *file, int *depth,
				      const struct fact *after)
{
	char glob[256];

	for (; *depth < CGROUP_DEPTH; ++*depth, after = NULL) {
		size_t n = snprintf(glob, sizeof(glob), "sys/fs/cgroup");

		for (int i = 0; i < *depth; i++)
			n += snprintf(glob + n, sizeof(glob) - n, "/*");
		snprintf(glob + n, sizeof(glob) - n, "/%s", file);
		after = next_of(a, glob, after);
		if (after)
			return after;
	}
	all_kept(a, "sys/fs/cgroup/");
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

struct worker {
	unsigned tgid, tid;
	const char *comm; /* in the facts */
	size_t comm_len;
	/* True in the first thread of a process that is under a quota. */
	bool under;
};

/* All threads of the workload, those of a process one after the other. */
struct workers {
	struct worker *row;
	size_t count, room;
};

static int by_process(const void *a, const void *b)
{
	const struct worker *x = a, *y = b;

	return x->tgid != y->tgid ? (x->tgid > y->tgid) - (x->tgid < y->tgid)
				  : (x->tid > y->tid) - (x->tid < y->tid);
}

static void workers_read(struct audit *a, struct workers *all)
{
	struct task_walk w = {0};
	struct task t;

	while (next_task(a, &w, &t)) {
		if ((t.flags & TASK_KTHREAD) || !cpus_cover(&a->targets, &t.allowed))
			continue;
		if (all->count == all->room) {
			size_t room = all->room ? 2 * all->room : 64;
			struct worker *row = reallocarray(all->row, room, sizeof(*row));

			if (!row) {
				a->short_of_memory = true;
				break;
			}
			all->row = row;
			all->room = room;
		}
		all->row[all->count++] = (struct worker){t.tgid, t.tid, t.comm, t.comm_len, false};
	}
	if (all->count)
		qsort(all->row, all->count, sizeof(*all->row), by_process);
}

/* The first thread of this process; NULL: it has none. */
static struct worker *first_of(const struct workers *all, unsigned tgid)
{
	size_t low = 0, high = all->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (all->row[middle].tgid < tgid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < all->count && all->row[low].tgid == tgid ? &all->row[low] : NULL;
}

static void quota_add(struct audit *a, struct throttled *all, const struct fact *x)
{
	const char *file = strrchr(x->name, '/') + 1;
	struct finding one = {0};
	char line[LINE_MAX_TEXT];

	first_line(x->text, line, sizeof(line));
	if (!all->value[0])
		snprintf(all->value, sizeof(all->value), "%s: %s", file, line);
	write_fix(a, &one, x->name, strcmp(file, "cpu.max") ? "-1" : "max");
	join_fixes(&all->fix, &all->undo, &one);
}

#define QUOTAS_MAX (2 * CGROUP_DEPTH)

/* Finds the quotas of the cgroup with these processes and of all above it. Returns how many. */
static int quotas_of(const struct audit *a, const struct fact *procs,
		     const struct fact *quota[QUOTAS_MAX])
{
	const char *end = procs->name + strlen("sys/fs/cgroup");
	char name[FACT_NAME_MAX];
	int n = 0;

	for (; end; end = strchr(end + 1, '/'))
		for (int i = 0; i < 2 && n < QUOTAS_MAX; i++) {
			snprintf(name, sizeof(name), "%.*s/%s", (int)(end - procs->name),
				 procs->name, quota_files[i]);
			quota[n] = facts_find(a->facts, name);
			n += quota[n] && !quota[n]->err;
		}
	return n;
}

/* Marks those of these processes that are the workload's; false: none is. */
static bool mark(const struct workers *w, const char *procs)
{
	bool some = false;
	char *end;

	for (const char *at = procs; *(at += strspn(at, " \t\n")); at += strcspn(at, " \t\n")) {
		unsigned long process = strtoul(at, &end, 10);
		struct worker *first = first_of(w, process);

		if (!first || first->tgid != process || at + strcspn(at, " \t\n") != end)
			continue;
		first->under = some = true;
	}
	return some;
}

/* Looks at each thread, each process in a cgroup, and each quota once, as there may be many. */
static void throttled_take(struct audit *a, struct throttled *all)
{
	bool *added = calloc(a->facts->count, sizeof(*added)), under = false;
	const struct fact *procs = NULL, *quota[QUOTAS_MAX];
	struct workers w = {0};
	char name[160];
	int depth = 0;

	workers_read(a, &w);
	a->short_of_memory |= !added;
	while (added && (procs = next_cgroup(a, "cgroup.procs", &depth, procs))) {
		int n = procs->err ? 0 : quotas_of(a, procs, quota);

		if (!n || !mark(&w, procs->text))
			continue;
		for (int i = 0; i < n; i++) {
			if (!added[quota[i] - a->facts->row])
				quota_add(a, all, quota[i]);
			added[quota[i] - a->facts->row] = true;
		}
	}
	for (size_t i = 0; i < w.count; i++) {
		const struct worker *t = &w.row[i];

		under = i && t->tgid == t[-1].tgid ? under : t->under;
		snprintf(name, sizeof(name), "%.*s [%u]", (int)t->comm_len, t->comm, t->tid);
		if (under && !finding_items_add(&all->threads, name, t->tid))
			a->short_of_memory = true;
	}
	free(added);
	free(w.row);
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
	fix_take(NULL, &all.fix, &all.undo); /* texts that no finding took */
}
