/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPUs that are isolated from the scheduler's load balancing: by isolcpus= or by a cpuset
 * partition, made at boot or since. The file in /sys/devices/system/cpu tells of isolcpus= alone:
 * before Linux 7.0 because the two were kept apart, and from 7.0 on, which keeps one mask as of the
 * boot and one as of now, because it shows that of the boot. */
#ifndef CULPRIT_ISOLATION_H
#define CULPRIT_ISOLATION_H

#include <stdbool.h>
#include "base/cpus.h"
#include "model/facts.h"

struct isolation {
	struct cpus boot;    /* by isolcpus= */
	struct cpus cpusets; /* by cpuset partitions that are in force; may be in boot, too */
	struct cpus all;     /* by either */
	struct cpus quiet;   /* these, and those that are nohz_full */
	bool boot_known, cpusets_known;
};

/* Reads facts as the machine has them now (collect/facts.h). */
void isolation_of(const struct facts *f, struct isolation *out);

/* The cgroup whose partition has this CPU, as "sys/fs/cgroup/x": only threads in it may run there.
 * False: none has it. */
bool isolation_cgroup(const struct facts *f, unsigned cpu, char *path, size_t len);

#endif
