/* What a workload measured of each of its windows, whatever their length: "latency" of a sleep, "transit" of a message. */
#ifndef CULPRIT_SERIES_H
#define CULPRIT_SERIES_H

#include "base/hist.h"

#define SERIES_MAX  32
#define SERIES_NAME 32
#define SERIES_BITS 7 /* of its histogram: percentiles to 0.8 % */

struct series {
	char name[SERIES_NAME];
	struct hist hist; /* ns */
};

#endif
