/* Cgroups: cpuset partitions that isolate CPUs, and quotas that throttle the tasks on them. */
#include <stdio.h>
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
	const struct fact *x = NULL;
	int depth = 0, bad = 0;
	char line[LINE_MAX_TEXT];

	while ((x = next_cgroup(a, "cpuset.cpus.partition", &depth, x))) {
		if (x->err || !strstr(x->text, "invalid"))
			continue;
		first_line(x->text, line, sizeof(line));
		struct finding *f =
			fail(a, "the cpuset partition /%.*s is not in force",
			     (int)(strlen(x->name) - strlen("/cpuset.cpus.partition")), x->name);

		value(f, "%s", line);
		good(f, "isolated");
		words(f, "make its cpuset.cpus exclusive: no CPU of it in a sibling's, all of it "
			 "in the parent's");
		bad++;
	}
	if (!bad)
		found_ok(a, "no invalid cpuset partition");
}

/* A CFS quota throttles the tasks under it and keeps their tick. It is a failure when a target's
 * own workload is under it. */
void check_quota(struct audit *a)
{
	static const char *const files[] = {"cpu.max", "cpu.cfs_quota_us"};
	struct naming names = {0};
	char line[LINE_MAX_TEXT], procs[FACT_NAME_MAX];
	int failed = 0;

	for (int i = 0; i < 2; i++) {
		const struct fact *x = NULL;
		int depth = 0;

		while ((x = next_cgroup(a, files[i], &depth, x))) {
			size_t dir = strlen(x->name) - strlen(files[i]);
			struct task_walk w = {0};
			struct task t;
			const char *list;

			if (x->err)
				continue;
			first_line(x->text, line, sizeof(line));
			name_add(&names, x->name + strlen("sys/fs/cgroup"),
				 dir - strlen("sys/fs/cgroup") - 1);
			snprintf(procs, sizeof(procs), "%.*scgroup.procs", (int)dir, x->name);
			list = text_of(a, procs);
			while (list && next_task(a, &w, &t)) {
				char tgid[16];

				snprintf(tgid, sizeof(tgid), "%u", t.tgid);
				if ((t.flags & TASK_KTHREAD) || !covers(&a->targets, &t.allowed) ||
				    !has_word(list, tgid))
					continue;
				struct finding *f = fail(a,
							 "%.*s [%u] on %s is under a CPU quota, "
							 "which throttles it and keeps its tick",
							 (int)t.comm_len, t.comm, t.tid, a->whose);

				value(f, "%s: %s", files[i], line);
				good(f, "no quota");
				write_fix(a, f, x->name, i ? "-1" : "max");
				failed++;
			}
		}
	}
	if (failed)
		return;
	if (names.count)
		value(info(a,
			   "CPU quotas are in force, on none of the threads that are bound to %s",
			   a->whose),
		      "%s", name_list(&names));
	else
		found_ok(a, "no cgroup has a CPU quota");
}
