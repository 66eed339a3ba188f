#include "collect/where.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>

#include "base/say.h"

int stay_on(const struct cpus *set)
{
	cpu_set_t *mask = CPU_ALLOC(CPUS_MAX);
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	char list[256];
	int err = 0;

	if (!mask)
		return complain("out of memory");
	CPU_ZERO_S(size, mask);
	for (int cpu = cpus_next(set, 0); cpu >= 0; cpu = cpus_next(set, cpu + 1))
		CPU_SET_S(cpu, size, mask);
	if (sched_setaffinity(0, size, mask))
		err = complain("cannot move to the housekeeping CPUs %s (%s): choose others with -H",
			       cpus_format(set, list, sizeof(list)), strerror(errno));
	CPU_FREE(mask);
	/* A late reader loses records; this is our own process, and it mostly sleeps. */
	setpriority(PRIO_PROCESS, 0, -15);
	return err;
}
