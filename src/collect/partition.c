/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/partition.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/now.h"
#include "base/reap.h"
#include "base/say.h"
#include "base/units.h"
#include "collect/affinity.h"
#include "collect/mounts.h"
#include "collect/partition_state.h"

#define ALONE_WHY "SCHED_DEADLINE on one CPU takes a cpuset partition of its own: "
#define TRY_NS    (10 * NSEC_PER_SEC) /* for a process to run on a CPU */
#define STEP_NS   NSEC_PER_MSEC

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

/* "culprit-deadline.812.40211.3" */
static void name_of(const struct partitions *p, const char *part, char name[96])
{
	snprintf(name, 96, PARTITION_PREFIX "%d.%llu.%s", (int)p->owner, p->start, part);
}

static void name_of_cpu(const struct partitions *p, unsigned cpu, char name[96])
{
	char part[16];

	snprintf(part, sizeof(part), "%u", cpu);
	name_of(p, part, name);
}

/* Advice about an error of the cgroup file system. */
static const char *hint(int err)
{
	if (err == EINVAL || err == EBUSY)
		return ": a CPU of it belongs to another cpuset";
	return err == EACCES || err == EPERM || err == EROFS ? ": run as root, outside containers"
							     : "";
}

/* Writes a file of one of them. 0, or -1 with the reason said. */
static int set(const struct partitions *p, const char *name, const char *file, const char *text)
{
	char path[160];
	int err;

	snprintf(path, sizeof(path), "%s%s%s", name, name[0] ? "/" : "", file);
	err = partition_write(p->dir, path, text);
	if (!err)
		return 0;
	return complain(ALONE_WHY "%s/%s does not take '%s': %s%s", p->root, path, text,
			strerror(-err), hint(-err));
}

int partitions_enter(const struct partitions *p, unsigned cpu)
{
	char name[96], path[PATH_MAX + 128];

	if (!p || !cpus_has(&p->made, cpu))
		return 0;
	name_of_cpu(p, cpu, name);
	/* not p->dir: the samplers have closed what they have inherited */
	snprintf(path, sizeof(path), "%s/%s/cgroup.procs", p->root, name);
	return partition_write(AT_FDCWD, path, "0");
}

/* Finds the hierarchy that has the controller cpuset. */
static void find_root(struct partitions *p)
{
	char text[PARTITION_TEXT];

	if (mounts_find(-1, "cgroup2", NULL, p->root, sizeof(p->root))) {
		p->dir = open(p->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		partition_read(p->dir, "cgroup.controllers", text);
		if (strstr(text, "cpuset"))
			return;
		if (p->dir >= 0)
			close(p->dir);
		p->dir = -1;
	}
	p->first = mounts_find(-1, "cgroup", "cpuset", p->root, sizeof(p->root));
	p->dir = p->first ? open(p->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
}

static int check_root(const struct partitions *p)
{
	if (p->dir < 0)
		return complain(ALONE_WHY "no cgroup file system with the controller cpuset is "
					  "mounted here");
	if (p->first || !faccessat(p->dir, "cpuset.cpus.isolated", F_OK, 0))
		return 0;
	if (!faccessat(p->dir, "cgroup.type", F_OK, 0)) /* the root of all has none */
		return complain(ALONE_WHY "%s shows a part of the machine's cgroups only: run it "
					  "outside containers",
				p->root);
	return complain(ALONE_WHY "to make one, this kernel would take from other threads the CPUs "
				  "that taskset gave them; Linux 6.8 or later does not");
}

/* Says so when one of these CPUs is in a partition that another run has made. */
static int check_others(const struct partitions *p, const struct cpus *cpus)
{
	DIR *dir = opendir(p->root);
	struct partition_name n;
	const char *name;
	unsigned cpu;
	int err = 0;

	while (!err && (name = partition_next(dir, &n))) {
		if (sscanf(n.part, "%u", &cpu) != 1 || !cpus_has(cpus, cpu))
			continue;
		if (partition_start(n.owner) == n.start)
			err = complain("cpu %u: run %d measures it, in a cpuset partition: wait "
				       "for its end, or choose others with -c",
				       cpu, (int)n.owner);
		else
			err = complain("cpu %u is in the cpuset partition %s/%s of a run that has "
				       "ended, and it cannot be removed: end the processes in it, "
				       "and run as root, outside containers",
				       cpu, p->root, name);
	}
	if (dir)
		closedir(dir);
	return err;
}

/* True when one of our runs has enabled the controller. */
static bool control_is_ours(const struct partitions *p)
{
	DIR *dir = opendir(p->root);
	struct partition_name n;
	bool ours = false;

	while (!ours && partition_next(dir, &n))
		ours = !strcmp(n.part, PARTITION_CONTROL);
	if (dir)
		closedir(dir);
	return ours;
}

static int make_directory(const struct partitions *p, const char *name)
{
	if (!mkdirat(p->dir, name, 0755))
		return 0;
	return complain(ALONE_WHY "cannot make %s/%s: %s%s", p->root, name, strerror(errno),
			hint(errno));
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
	char path[160], now[PARTITION_TEXT];

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
	char name[96], cpus[16];

	name_of_cpu(p, cpu, name);
	snprintf(cpus, sizeof(cpus), "%u", cpu);
	cpus_add(&p->made, cpu);
	return p->first ? make_first(p, name, cpus, true) : make_second(p, name, cpus);
}

/* Version 2: gives the groups below the root the controller. Before that, a name says that it has
 * to be taken back. */
static int enable(const struct partitions *p)
{
	char name[96], text[PARTITION_TEXT];

	partition_read(p->dir, "cgroup.subtree_control", text);
	if (strstr(text, "cpuset") && !control_is_ours(p))
		return 0;
	name_of(p, PARTITION_CONTROL, name);
	return make_directory(p, name) || set(p, "", "cgroup.subtree_control", "+cpuset") ? -1 : 0;
}

/* Version 1: stops the load balancer in the root, and has it go on for all other CPUs. */
static int part_rest(const struct partitions *p, const struct cpus *rest)
{
	char name[96], *list = malloc(PARTITION_TEXT);
	int err = -1;

	name_of(p, PARTITION_REST, name);
	if (list)
		err = make_first(p, name, cpus_format(rest, list, PARTITION_TEXT), false) ||
				      set(p, "", "cpuset.sched_load_balance", "0")
			      ? -1
			      : 0;
	free(list);
	return err;
}

/* Ends a process that may never get its CPU: to end it has to run, so elsewhere. */
static void end_elsewhere(const struct partitions *p, unsigned cpu, pid_t pid)
{
	char text[16];
	uint64_t until = now_ns() + NSEC_PER_SEC;

	snprintf(text, sizeof(text), "%d", (int)pid);
	if (cpus_has(&p->made, cpu))
		partition_write(p->dir, "cgroup.procs", text);
	kill_here(pid);
	while (!waitpid(pid, NULL, WNOHANG) && now_ns() < until)
		nanosleep(&(struct timespec){0, STEP_NS}, NULL);
}

/* Waits for one to end. 0 or -errno; -ETIME: it could not run; -ECANCELED: culprit is to stop. */
static int await(const struct partitions *p, unsigned cpu, pid_t pid, const volatile int *stop)
{
	uint64_t until = now_ns() + TRY_NS;
	int status = 0;
	pid_t ended;

	while ((ended = waitpid(pid, &status, WNOHANG)) != pid) {
		if (ended < 0 && errno != EINTR)
			return -errno;
		if (*stop || now_ns() > until) {
			end_elsewhere(p, cpu, pid);
			return *stop ? -ECANCELED : -ETIME;
		}
		nanosleep(&(struct timespec){0, STEP_NS}, NULL);
	}
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
}

/* Tries the policy on this CPU, in a process of its own. As await(). */
static int try_policy(const struct partitions *p, unsigned cpu, const struct deadline *d,
		      const volatile int *stop)
{
	pid_t parent = getpid(), pid = fork();
	int err;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent) /* died before the line above */
			_exit(1);
		err = partitions_enter(p, cpu);
		if (!err && !move_to(cpu)) /* the sampler says why not */
			err = deadline_set(d);
		_exit(-err & 0x7f);
	}
	return pid < 0 ? -errno : await(p, cpu, pid, stop);
}

static int refused(unsigned cpu, int err)
{
	if (err == -ECANCELED)
		return -1;
	if (err == -ETIME)
		return complain("cpu %u: a thread could not run there within %llu s, as on CPUs "
				"that other threads keep busy: end those",
				cpu, (unsigned long long)(TRY_NS / NSEC_PER_SEC));
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
		    const struct deadline *d, const volatile int *stop)
{
	char text[PARTITION_TEXT];
	struct cpus rest = *online;
	int err = 0;

	cpus_sub(&rest, need);
	if (cpus_empty(&rest))
		return complain(ALONE_WHY "that leaves no CPU to all other threads: leave one out "
					  "of those that are measured");
	if (check_root(p) || partitions_guard(p) || (!p->first && enable(p)))
		return -1;
	if (p->first)
		partition_read(p->dir, "cpuset.sched_load_balance", text);
	if (p->first && !strcmp(text, "1") && part_rest(p, &rest))
		return -1;
	for (int cpu = cpus_next(need, 0); cpu >= 0 && !err; cpu = cpus_next(need, cpu + 1))
		err = make_one(p, cpu);
	for (int cpu = cpus_next(need, 0); cpu >= 0 && !err; cpu = cpus_next(need, cpu + 1)) {
		err = try_policy(p, cpu, d, stop);
		err = err ? refused(cpu, err) : 0;
	}
	return err;
}

struct partitions *partitions_make(const struct cpus *cpus, const struct cpus *online,
				   const struct deadline *d, const volatile int *stop)
{
	struct partitions *p = calloc(1, sizeof(*p));
	struct cpus need = {0};
	int err = p ? 0 : complain("out of memory");

	if (!p)
		return NULL;
	p->owner = getpid();
	p->start = partition_start(p->owner);
	find_root(p);
	if (p->dir >= 0) {
		partitions_sweep(p);
		err = check_others(p, cpus);
	}
	for (int cpu = cpus_next(cpus, 0); cpu >= 0 && !err; cpu = cpus_next(cpus, cpu + 1)) {
		err = try_policy(p, cpu, d, stop);
		if (err == -EPERM) /* others are in its root domain, too */
			cpus_add(&need, cpu);
		err = err && err != -EPERM ? refused(cpu, err) : 0;
	}
	if (!err && !cpus_empty(&need))
		err = make_all(p, &need, online, d, stop);
	if (!err)
		return p;
	partitions_end(p);
	return NULL;
}
