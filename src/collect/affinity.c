/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/affinity.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/policy.h"
#include "base/say.h"
#include "collect/facts.h"
#include "model/isolation.h"

/* Enters the cgroup whose partition has this CPU. 0 or -errno. */
static int enter_partition(unsigned cpu)
{
	char path[FACT_NAME_MAX], procs[FACT_NAME_MAX + 16];
	struct facts f = {0};
	int fd, err = -EINVAL;

	facts_cpusets(&f, NULL);
	if (isolation_cgroup(&f, cpu, path, sizeof(path))) {
		snprintf(procs, sizeof(procs), "/%s/cgroup.procs", path);
		fd = open(procs, O_WRONLY | O_CLOEXEC);
		err = fd < 0 || write(fd, "0", 1) != 1 ? -errno : 0;
		if (fd >= 0)
			close(fd);
	}
	facts_free(&f);
	return err;
}

bool same_partition(unsigned a, unsigned b)
{
	char of_a[FACT_NAME_MAX], of_b[FACT_NAME_MAX];
	bool in_a, in_b;
	struct facts f = {0};

	facts_cpusets(&f, NULL);
	in_a = isolation_cgroup(&f, a, of_a, sizeof(of_a));
	in_b = isolation_cgroup(&f, b, of_b, sizeof(of_b));
	facts_free(&f);
	return in_a == in_b && (!in_a || !strcmp(of_a, of_b));
}

int move_to(unsigned cpu)
{
	int err = cpus_run_on_one(cpu);

	if (err != -EINVAL)
		return err;
	return enter_partition(cpu) ? err : cpus_run_on_one(cpu);
}

/* True: it was on others than `set`. */
static bool move_back(const struct cpus *set, const struct cpus *targets)
{
	struct cpus now;

	cpus_allowed(&now);
	cpus_sub(&now, set);
	if (cpus_empty(&now))
		return false;
	if (cpus_run_on(set)) {
		cpus_allowed(&now);
		cpus_sub(&now, targets);
		cpus_run_on(&now); /* none is left: it stays where it is */
	}
	return true;
}

void stay_off(struct run *run)
{
	if (!cpus_empty(&run->housekeeping) && move_back(&run->housekeeping, &run->cpus) &&
	    !run->cut_short[0])
		snprintf(run->cut_short, sizeof(run->cut_short),
			 "culprit itself ran on others than its housekeeping CPUs: these were "
			 "offline, or somebody moved it");
}

int stay_on(const struct cpus *set)
{
	char list[256];
	int err = cpus_run_on(set);

	if (err)
		err = complain(
			"cannot move to the housekeeping CPUs %s (%s): choose others with -H",
			cpus_format(set, list, sizeof(list)), strerror(-err));
	/* A late reader loses records, so our own process, which mostly sleeps, gets a better
	 * priority. */
	setpriority(PRIO_PROCESS, 0, -15);
	pages_stay(true);
	return err;
}

void pages_stay(bool stay)
{
	syscall(SYS_set_mempolicy, stay ? MPOL_LOCAL : MPOL_DEFAULT, NULL, 0);
}

/* Priority of the reader: that of threaded interrupts (kernel/irq/manage.c: sched_set_fifo), which
 * programs with a real-time priority usually stay below. */
#define READER_PRIORITY 50

void reader_rise(struct reader_priority *p)
{
	struct sched_param param = {.sched_priority = READER_PRIORITY};
	int now, then;

	p->policy = sched_getscheduler(0);
	now = p->policy & ~SCHED_RESET_ON_FORK;
	if (p->policy < 0 || now == SCHED_DEADLINE || sched_getparam(0, &p->param) ||
	    (policy_is_real_time(now) && p->param.sched_priority >= READER_PRIORITY))
		return;
	/* from SCHED_FIFO back to SCHED_RR needs a right that will have gone */
	then = now == SCHED_RR ? SCHED_RR : SCHED_FIFO;
	p->risen = !sched_setscheduler(0, then | SCHED_RESET_ON_FORK, &param);
}

void reader_sink(struct reader_priority *p)
{
	if (p->risen) /* the flag stays: to take it away needs a right that has gone */
		sched_setscheduler(0, p->policy | SCHED_RESET_ON_FORK, &p->param);
	p->risen = false;
}
