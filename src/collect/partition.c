/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/partition.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/say.h"
#include "collect/affinity.h"
#include "collect/mounts.h"
#include "collect/partition_state.h"

#define ALONE_WHY "SCHED_DEADLINE on one CPU takes a cpuset partition of its own: "

int deadline_set(const struct deadline *d)
{
	/* After linux/sched/types.h, which does not agree with all versions of sched.h. */
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = {.size = sizeof(attr),
		  .policy = SCHED_DEADLINE,
		  .runtime = d->runtime_ns,
		  .deadline = d->period_ns,
		  .period = d->period_ns};

	return syscall(SYS_sched_setattr, 0, &attr, 0) ? -errno : 0;
}

/* "culprit-deadline.812.3" */
static void name_of(const struct partitions *p, unsigned cpu, char name[64])
{
	snprintf(name, 64, PARTITION_PREFIX "%d.%u", (int)p->owner, cpu);
}

/* Writes a file of one of them. 0, or -1 with the reason said. */
static int set(const struct partitions *p, const char *name, const char *file, const char *text)
{
	char path[128];
	int err;

	snprintf(path, sizeof(path), "%s%s%s", name, name[0] ? "/" : "", file);
	err = partition_write(p->dir, path, text);
	if (!err)
		return 0;
	return complain(
		ALONE_WHY "%s/%s does not take '%s': %s%s", p->root, path, text, strerror(-err),
		err == -EINVAL || err == -EBUSY ? ": a CPU of it belongs to another cpuset" : "");
}

int partitions_enter(const struct partitions *p, unsigned cpu)
{
	char name[64], path[PATH_MAX + 96];

	if (!p || !cpus_has(&p->made, cpu))
		return 0;
	name_of(p, cpu, name);
	/* not p->dir: the samplers have closed what they have inherited */
	snprintf(path, sizeof(path), "%s/%s/cgroup.procs", p->root, name);
	return partition_write(AT_FDCWD, path, "0");
}

/* Finds the hierarchy that has the controller cpuset, and what its root says now. */
static int find_root(struct partitions *p)
{
	char text[PARTITION_TEXT];

	if (mounts_find(-1, "cgroup2", NULL, p->root, sizeof(p->root))) {
		p->dir = open(p->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		partition_read(p->dir, "cgroup.controllers", text);
		if (strstr(text, "cpuset")) {
			if (faccessat(p->dir, "cpuset.cpus.isolated", F_OK, 0))
				return complain(ALONE_WHY
						"to make one, this kernel would take from other "
						"threads the CPUs that taskset gave them; Linux "
						"6.8 or later does not");
			partition_read(p->dir, "cgroup.subtree_control", text);
			p->controller = !strstr(text, "cpuset");
			return 0;
		}
		if (p->dir >= 0)
			close(p->dir);
		p->dir = -1;
	}
	p->first = mounts_find(-1, "cgroup", "cpuset", p->root, sizeof(p->root));
	p->dir = p->first ? open(p->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (p->dir < 0)
		return complain(ALONE_WHY "no cgroup file system with the controller cpuset is "
					  "mounted here");
	partition_read(p->dir, "cpuset.sched_load_balance", text);
	p->balance = !strcmp(text, "1");
	return 0;
}

static int make_directory(const struct partitions *p, const char *name)
{
	if (!mkdirat(p->dir, name, 0755))
		return 0;
	return complain(ALONE_WHY "cannot make %s/%s: %s%s", p->root, name, strerror(errno),
			errno == EACCES || errno == EPERM || errno == EROFS
				? ": run as root, outside containers"
				: "");
}

/* Version 1: a cpuset of these CPUs, for which the load balancer goes on. */
static int make_first(const struct partitions *p, const char *name, const char *cpus, bool alone)
{
	char nodes[PARTITION_TEXT];

	partition_read(p->dir, "cpuset.mems", nodes);
	return make_directory(p, name) || set(p, name, "cpuset.cpus", cpus) ||
	       set(p, name, "cpuset.mems", nodes) ||
	       (alone && set(p, name, "cpuset.cpu_exclusive", "1"));
}

static int make_second(const struct partitions *p, const char *name, const char *cpus)
{
	char path[128], now[PARTITION_TEXT];

	if (make_directory(p, name) || set(p, name, "cpuset.cpus", cpus) ||
	    set(p, name, "cpuset.cpus.partition", "root"))
		return -1;
	snprintf(path, sizeof(path), "%s/cpuset.cpus.partition", name);
	partition_read(p->dir, path, now);
	if (!strcmp(now, "root"))
		return 0;
	return complain(ALONE_WHY "cpu %s cannot be one, the kernel says: %s", cpus, now);
}

static int make_one(struct partitions *p, unsigned cpu)
{
	char name[64], cpus[16];

	name_of(p, cpu, name);
	snprintf(cpus, sizeof(cpus), "%u", cpu);
	cpus_add(&p->made, cpu);
	return p->first ? make_first(p, name, cpus, true) : make_second(p, name, cpus);
}

/* Version 1: stops the load balancer in the root, and has it go on for all other CPUs. */
static int part_rest(const struct partitions *p, const struct cpus *rest)
{
	char name[64], *list = malloc(PARTITION_TEXT);
	int err = -1;

	snprintf(name, sizeof(name), PARTITION_PREFIX "%d." PARTITION_REST, (int)p->owner);
	if (list)
		err = make_first(p, name, cpus_format(rest, list, PARTITION_TEXT), false) ||
				      set(p, "", "cpuset.sched_load_balance", "0")
			      ? -1
			      : 0;
	free(list);
	return err;
}

/* Tries the policy on this CPU, in a process of its own. 0 or -errno. */
static int try_policy(const struct partitions *p, unsigned cpu, const struct deadline *d)
{
	int status = 0, err;
	pid_t pid = fork();

	if (!pid) {
		err = partitions_enter(p, cpu);
		if (!err && !move_to(cpu)) /* the sampler says why not */
			err = deadline_set(d);
		_exit(-err & 0x7f);
	}
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
}

static int refused(unsigned cpu, int err)
{
	if (err == -EBUSY)
		return complain("cpu %u has no room for this SCHED_DEADLINE: what it and others "
				"there may run is over the kernel's limit (at most "
				"kernel.sched_rt_runtime_us of sched_rt_period_us, usually 95 %%): "
				"give a shorter runtime or a longer period",
				cpu);
	if (err == -EINVAL)
		return complain("the kernel takes no such SCHED_DEADLINE: the period has to be "
				"between kernel.sched_deadline_period_min_us and _max_us, usually "
				"100us and 4.19s");
	if (err == -EPERM)
		return complain("cpu %u: SCHED_DEADLINE is not permitted: it needs CAP_SYS_NICE "
				"(run with sudo), and a CPU that shares no scheduling domain with "
				"others, as those of isolcpus= do",
				cpu);
	return complain("cpu %u: SCHED_DEADLINE is not possible: %s", cpu, strerror(-err));
}

static int make_all(struct partitions *p, const struct cpus *need, const struct cpus *online,
		    const struct deadline *d)
{
	struct cpus rest = *online;
	int err = 0;

	cpus_sub(&rest, need);
	if (cpus_empty(&rest))
		return complain(ALONE_WHY "that leaves no CPU to all other threads: leave one out "
					  "of those that are measured");
	if (find_root(p))
		return -1;
	if (partitions_sweep(p) && p->first)
		p->balance = true;
	if (partitions_guard(p) ||
	    (p->controller && set(p, "", "cgroup.subtree_control", "+cpuset")) ||
	    (p->first && p->balance && part_rest(p, &rest)))
		return -1;
	for (int cpu = cpus_next(need, 0); cpu >= 0 && !err; cpu = cpus_next(need, cpu + 1))
		err = make_one(p, cpu);
	for (int cpu = cpus_next(need, 0); cpu >= 0 && !err; cpu = cpus_next(need, cpu + 1)) {
		err = try_policy(p, cpu, d);
		err = err ? refused(cpu, err) : 0;
	}
	return err;
}

struct partitions *partitions_make(const struct cpus *cpus, const struct cpus *online,
				   const struct deadline *d)
{
	struct partitions *p = calloc(1, sizeof(*p));
	struct cpus need = {0};
	int err = p ? 0 : complain("out of memory");

	if (!p)
		return NULL;
	p->dir = -1;
	p->owner = getpid();
	for (int cpu = cpus_next(cpus, 0); cpu >= 0 && !err; cpu = cpus_next(cpus, cpu + 1)) {
		err = try_policy(p, cpu, d);
		if (err == -EPERM) /* others are in its root domain, too */
			cpus_add(&need, cpu);
		err = err && err != -EPERM ? refused(cpu, err) : 0;
	}
	if (!err && !cpus_empty(&need))
		err = make_all(p, &need, online, d);
	if (!err)
		return p;
	partitions_end(p);
	return NULL;
}
