/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine that follows the user's threads as collect/watch.h does, but lets the probes add up
 * what takes their time: nothing leaves the kernel until somebody looks. A lane is a CPU. */
#ifndef CULPRIT_COLLECT_SUMS_H
#define CULPRIT_COLLECT_SUMS_H

#include "collect/watch.h"

/* Options are a struct watch_options, without a threshold. */
extern const struct engine sums_engine;

#endif
