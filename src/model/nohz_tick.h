/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reasons why the tick did not stop: failures of tick_stop on a target CPU, by dependency and by
 * running thread. */
#ifndef CULPRIT_NOHZ_TICK_H
#define CULPRIT_NOHZ_TICK_H

#include <stdbool.h>
#include <stdint.h>
#include "record.h"

/* Later threads share the last row of their comm, or else of their dependency. */
#define NOHZ_TICK_ROWS    32
#define NOHZ_TICK_THREADS 2 /* threads of a comm that have lines of their own; more share one */

struct nohz_tick_row {
	uint32_t dependency; /* bit: include/linux/tick.h, enum tick_dep_bits */
	uint32_t tid;        /* 0: several, or idle */
	char comm[17];
	bool kernel_thread; /* not known of recordings of older versions */
	uint64_t count;
};

struct nohz_ticks {
	struct nohz_tick_row row[NOHZ_TICK_ROWS];
	uint32_t count;
};

/* A line for people. */
struct nohz_tick_line {
	struct nohz_tick_row row; /* count: of all its threads; tid: of one of them */
	uint32_t threads;
	bool more; /* than these threads */
};

void nohz_ticks_add(struct nohz_ticks *t, const struct record *r); /* a RECORD_TICK */

/* Fills the lines in, the most frequent first. Returns their number. */
uint32_t nohz_ticks_lines(const struct nohz_ticks *t, struct nohz_tick_line line[NOHZ_TICK_ROWS]);

/* The dependency that kept the tick most often, whoever ran; 0: none was seen. */
uint32_t nohz_ticks_dependency(const struct nohz_ticks *t);
/* The row of a dependency whose thread it kept the tick for most often; NULL: none. */
const struct nohz_tick_row *nohz_ticks_row(const struct nohz_ticks *t, uint32_t dependency);
/* Number of times that it kept the tick. */
uint64_t nohz_ticks_count(const struct nohz_ticks *t, uint32_t dependency);

/* "POSIX_TIMER", "PERF_EVENTS", "SCHED", "CLOCK_UNSTABLE", "RCU", "RCU_EXP". */
const char *nohz_dependency_name(uint32_t dependency);

#endif
