/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/isolation.h"

#include <stdio.h>
#include <string.h>

#define DEPTH     9 /* depth of cgroups */
#define PARTITION "cpuset.cpus.partition"

static bool list_at(const struct facts *f, const char *name, struct cpus *set)
{
	const char *text = facts_text(f, name);
	char why[128];

	cpus_clear(set);
	return text && !cpus_parse(text, set, why, sizeof(why));
}

/* The next partition in the cgroups of all depths; *depth begins with 0. */
static const struct fact *next_partition(const struct facts *f, int *depth, const struct fact *x)
{
	for (; *depth < DEPTH; ++*depth, x = NULL) {
		char glob[64 + 2 * DEPTH];
		size_t n = snprintf(glob, sizeof(glob), "sys/fs/cgroup");

		for (int i = 0; i < *depth; i++)
			n += snprintf(glob + n, sizeof(glob) - n, "/*");
		snprintf(glob + n, sizeof(glob) - n, "/" PARTITION);
		x = facts_next(f, glob, x);
		if (x)
			return x;
	}
	return NULL;
}

/* The CPUs of a partition; false: it is not in force, which the file says as "isolated invalid
 * (why)". */
static bool cpus_of(const struct facts *f, const struct fact *x, struct cpus *its)
{
	char name[FACT_NAME_MAX];

	snprintf(name, sizeof(name), "%.*scpuset.cpus.effective",
		 (int)(strlen(x->name) - strlen(PARTITION)), x->name);
	return !x->err && !strstr(x->text, "invalid") && list_at(f, name, its);
}

/* Kernels before 6.8 have no list of them. */
static void add_partitions(const struct facts *f, struct isolation *out)
{
	const struct fact *x = NULL;
	struct cpus its;
	int depth = 0;

	while ((x = next_partition(f, &depth, x))) {
		out->cpusets_known = true;
		if (!strncmp(x->text, "isolated", 8) && cpus_of(f, x, &its))
			cpus_or(&out->cpusets, &its);
	}
}

bool isolation_cgroup(const struct facts *f, unsigned cpu, char *path, size_t len)
{
	const struct fact *x = NULL;
	struct cpus its;
	int depth = 0;

	path[0] = 0;
	while ((x = next_partition(f, &depth, x))) /* the deepest comes last */
		if (cpus_of(f, x, &its) && cpus_has(&its, cpu))
			snprintf(path, len, "%.*s", (int)(strlen(x->name) - strlen("/" PARTITION)),
				 x->name);
	return path[0];
}

void isolation_of(const struct facts *f, struct isolation *out)
{
	struct cpus unified;

	out->boot_known = list_at(f, "sys/devices/system/cpu/isolated", &out->boot);
	out->cpusets_known = list_at(f, "sys/fs/cgroup/cpuset.cpus.isolated", &out->cpusets);
	out->cpusets_known |= list_at(f, "sys/fs/cgroup/unified/cpuset.cpus.isolated", &unified);
	cpus_or(&out->cpusets, &unified);
	add_partitions(f, out);
	out->all = out->boot;
	cpus_or(&out->all, &out->cpusets);
	list_at(f, "sys/devices/system/cpu/nohz_full", &out->quiet); /* "(null)": none */
	cpus_or(&out->quiet, &out->all);
}
