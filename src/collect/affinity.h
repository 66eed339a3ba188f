/* Where this process runs. */
#ifndef CULPRIT_AFFINITY_H
#define CULPRIT_AFFINITY_H

#include "base/cpus.h"

/* keeps this process on these CPUs, with little delay; 0, or -1 with the reason said */
int stay_on(const struct cpus *set);

#endif
