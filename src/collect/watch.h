/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine without samplers: the probes follow threads of the user's, on whatever CPU they are,
 * and this process reads them from the housekeeping CPUs.
 */
#ifndef CULPRIT_COLLECT_WATCH_H
#define CULPRIT_COLLECT_WATCH_H

#include "collect/engine.h"
#include "collect/probes.h"

/* As many as a struct watched gives by number. */
#define WATCH_PROGRAMS (WATCH_IDS + CHOICE_VCPUS)

struct watch_options {
	struct watched threads;
	/* processes whose own reports of lateness are read as well (src/culprit.h); 0: no more */
	int32_t pid[WATCH_PROGRAMS + 1];
	bool ends;                /* when these, and the threads given by number, have gone */
	struct cpus cpus;         /* CPUs on which the threads may run */
	struct cpus later;        /* the same of CPUs that are offline, and may come */
	struct cpus housekeeping; /* for this process; empty: it stays where it is */
	uint64_t threshold_ns;    /* shorter losses are left out */
	enum owner_by by;         /* meaning of rows of threads */
	bool commands;            /* keep command lines of threads and askers */
};

/* True when it ends, and all of them have gone. */
bool watch_is_over(const struct watch_options *o);

extern const struct engine watch_engine;

#endif
