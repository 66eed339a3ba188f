#include "collect/affinity.h"

#include <string.h>
#include <sys/resource.h>

#include "base/say.h"

bool stay_off(const struct cpus *set, const struct cpus *targets)
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
	return err;
}
