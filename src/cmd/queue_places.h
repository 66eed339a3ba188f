/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --places FILE of queue: which process runs where. The file is a list of properties, as the one of
 * the System Jitter Utility (/tmp/perf-workshop.properties), whose names may stand in front:
 *
 *   # a comment
 *   perf.workshop.affinity.producer=1
 *   affinity.accumulator = 3
 *   journaller.enabled=false
 */
#ifndef CULPRIT_QUEUE_PLACES_H
#define CULPRIT_QUEUE_PLACES_H

#include "collect/queue.h"

enum { PLACE_NOT_GIVEN = -1, PLACE_NONE = -2 };

/* Reads it: CPUs for those that have none yet (PLACE_NOT_GIVEN). 0, or -1 with the reason said. */
int queue_places(const char *path, long cpu[QUEUE_ROLES]);

#endif
