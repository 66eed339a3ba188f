/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The workload sleep: the periodic scheduling test, cyclictest's job. Each window lasts from when a
 * sleep was due to when the thread ran. */
#ifndef CULPRIT_SLEEP_H
#define CULPRIT_SLEEP_H

#include "collect/load.h"
#include "collect/workload.h"

struct sleep_options {
	uint64_t interval_ns;
	uint64_t samples;        /* for each CPU; 0: until the window ends */
	bool relative;           /* clock_nanosleep for the interval, not until a time */
	struct load_state *load; /* state of the load of sleep_loaded_workload */
};

/* Both take struct sleep_options. In the second one, sleeps under load are series of their own, and
 * sleeps while it starts are in none. */
extern const struct workload sleep_workload, sleep_loaded_workload;

#endif
