/* Where this process runs. */
#ifndef CULPRIT_WHERE_H
#define CULPRIT_WHERE_H

#include "base/cpus.h"

int stay_on(const struct cpus
		    *set); /* on these CPUs only, and seldom late; 0, or -1 with the reason said */

#endif
