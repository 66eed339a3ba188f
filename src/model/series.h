/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A workload's measured values, one for each window of any length: "latency" of a sleep, "transit"
 * of a message. */
#ifndef CULPRIT_SERIES_H
#define CULPRIT_SERIES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/hist.h"
#include "model/course.h"

#define SERIES_MAX  40
#define SERIES_NAME 32
#define SERIES_BITS 7 /* resolution of its histogram: percentiles to 0.8 % */
/* Name that stands for the hiccups, in a workload its outliers, where somebody names a series. */
#define SERIES_HICCUPS "hiccups"

struct series {
	char name[SERIES_NAME];
	struct hist hist;      /* ns */
	struct course course;  /* the same values over time; none in a part of a recording */
	bool fine;             /* values in ps, for operations of few ns */
	uint64_t threshold_ns; /* longer windows of it are hiccups; 0: its values are not windows */
	uint64_t longer, longest_ns; /* number of those, and the longest window of all */
	uint64_t last;               /* the newest value; recordings do not hold it */
	bool open; /* a name and a threshold only: the values come when the window has ended */
};

/* The series to show where one is wanted and none is named: the first with values; NULL: none. */
static inline const struct series *series_first(const struct series *series, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (series[i].hist.count)
			return &series[i];
	return NULL;
}

/* Number of series that have a threshold. */
static inline uint32_t series_thresholds(const struct series *series, uint32_t n)
{
	uint32_t some = 0;

	for (uint32_t i = 0; i < n; i++)
		some += series[i].threshold_ns != 0;
	return some;
}

#endif
