/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of openmetrics.c: families, one sample (begin it, add labels, end it with its value),
 * and the samples of the sources. */
#ifndef CULPRIT_RENDER_METRIC_H
#define CULPRIT_RENDER_METRIC_H

#include <stdbool.h>
#include <stdio.h>
#include "model/leaders.h"
#include "model/view.h"
#include "render/openmetrics.h"

#define LIST_BYTES 8192 /* bytes for a list of CPUs */

struct metrics {
	FILE *out;
	enum metrics_per per;
	bool strict; /* OpenMetrics, not Prometheus' format */
	bool running;
	bool many; /* several views: samples name their host */
	const struct view *view;
	const struct leaders *leaders; /* sources that cost this view most */
	bool some;                     /* this sample has a label already */
};

enum type { GAUGE, COUNTER, HISTOGRAM, INFO };

struct family {
	const char *name; /* without _total and _info */
	enum type type;
	bool seconds;
	const char *help;
	void (*write)(struct metrics *m,
		      const struct family *f); /* metrics of one view; NULL: one for each CPU */
	size_t at, known;                      /* place of a CPU's number */
	bool fine;                             /* not where all CPUs are added up */
	bool single;                           /* single hiccups or records, which sums lack */
};

const char *metric_suffix(enum type type); /* "_total" */

/* Begins a sample, with the labels of its host where there are several views. */
void metric_begin(struct metrics *m, const char *name, const char *suffix);

/* Quotes a value by two rules: the project's for unprintable bytes, then the format's own. */
void metric_label(struct metrics *m, const char *name, const char *value);
void metric_label_u64(struct metrics *m, const char *name, uint64_t value);

/* Labels a part (model/leaders.h): a CPU or a watched thread, a group of CPUs, or nothing where
 * all are added up; and what a lane's label is called. */
void metric_lane(struct metrics *m, uint32_t part);
const char *metric_lane_label(const struct metrics *m);

/* Ends the sample. seconds: the value is ns. */
void metric_value(struct metrics *m, uint64_t value, bool seconds);

/* Each writes one number of all sums, which the family names: of the sources, of the series that
 * made room, and of the sources that were merged. */
void metric_sources(struct metrics *m, const struct family *f);
void metric_ended(struct metrics *m, const struct family *f);
void metric_merged(struct metrics *m, const struct family *f);

/* Writes a number of a run that watches threads: `at` is its place in the run. */
void metric_of_watch(struct metrics *m, const struct family *f);

/* Each writes a histogram: of hiccups of each part; of each series that a workload measured; of the
 * interruptions of each kind. */
void metric_hiccups(struct metrics *m, const struct family *f);
void metric_series(struct metrics *m, const struct family *f);
void metric_kinds(struct metrics *m, const struct family *f);

#endif
