/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPUs that come and go while threads are watched. */
#ifndef CULPRIT_COLLECT_HOTPLUG_H
#define CULPRIT_COLLECT_HOTPLUG_H

#include "collect/watch.h"

struct hotplug {
	struct probes *probes;
	struct run *run; /* the view's: its CPUs, and what is missing */
	struct cpus all,
		online;  /* all that may be watched; those that were online at the last look */
	bool everywhere; /* no thread can go where nothing is watched */
	uint64_t begin_ns, looked_ns;
};

/* When the window has opened; the probes and the run outlive it. */
void hotplug_begin(struct hotplug *h, const struct watch_options *o, struct probes *probes,
		   struct run *run);

/* Call it often: it looks five times a second, or at once with `end`. Says which CPUs have come or
 * gone. Where threads that leave a CPU may go on where nothing is watched, that is what is missing
 * of the window. come: called with each CPU that is watched from now on, and which of the probes'
 * targets it is; may be NULL. */
void hotplug_look(struct hotplug *h, bool end,
		  void (*come)(void *ctx, uint32_t index, unsigned cpu), void *ctx);

#endif
