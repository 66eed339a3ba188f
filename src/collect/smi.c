/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/smi.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MSR_EVENTS "/sys/bus/event_source/devices/msr/"

int smi_open(unsigned cpu, bool roams, bool workload)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	unsigned type = 0;
	unsigned long long config = 0;
	FILE *f = fopen(MSR_EVENTS "type", "re");
	bool found = f && fscanf(f, "%u", &type) == 1;
	int fd;

	if (f)
		fclose(f);
	f = found ? fopen(MSR_EVENTS "events/smi", "re") : NULL;
	found = f && fscanf(f, "event=%llx", &config) == 1;
	if (f)
		fclose(f);
	attr.type = type;
	attr.config = config;
	if (!found || roams)
		return -1;
	fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 && !workload)
		fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	return fd;
}

uint64_t smi_read(int event, bool *known)
{
	uint64_t count = 0;

	if (event < 0 || read(event, &count, sizeof(count)) != sizeof(count))
		*known = false;
	return count;
}
