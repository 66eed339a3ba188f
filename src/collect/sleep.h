/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The workload sleep: the periodic scheduling test, cyclictest's job. Each window lasts from when a
 * sleep was due to when the thread ran. */
#ifndef CULPRIT_SLEEP_H
#define CULPRIT_SLEEP_H

#include "collect/load.h"
#include "collect/workload.h"

struct sleep_options {
	uint64_t interval_ns;
	uint64_t samples; /* for each CPU; 0: until the window ends */
	bool relative;    /* clock_nanosleep for the interval, not until a time */
	/* With a load, sleeps under it are series of their own, and sleeps while it starts are in
	 * none; NULL: none. */
	struct load_state *load;
	bool split; /* each latency in parts as well: needs the probes */
};

/* Takes struct sleep_options; the caller sets its series to those of sleep_series. */
extern const struct workload sleep_workload;
/* The same with a timer of the kernel's own in place of a thread; needs the probes. */
extern const struct workload sleep_kernel_workload;

/* Names the series of these options, and NULL behind them; returns how many. */
#define SLEEP_SERIES 11
uint32_t sleep_series(const struct sleep_options *o, const char *names[SLEEP_SERIES]);

#endif
