/* Where this process runs. */
#ifndef CULPRIT_AFFINITY_H
#define CULPRIT_AFFINITY_H

#include "base/cpus.h"

/* keeps this process on these CPUs, with little delay; 0, or -1 with the reason said */
int stay_on(const struct cpus *set);

/* The kernel lets a process run anywhere when the last CPU that it may run on goes offline. Moves
 * this one back to `set` when it has, or else to any CPUs but `targets`. True: it had. */
bool stay_off(const struct cpus *set, const struct cpus *targets);

#endif
