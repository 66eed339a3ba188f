/* One sample of the metrics, for openmetrics.c: begin it, add labels, end it with its value. */
#ifndef CULPRIT_RENDER_METRIC_H
#define CULPRIT_RENDER_METRIC_H

#include <stdio.h>
#include "model/leaders.h"
#include "model/view.h"

struct metrics {
	FILE *out;
	bool strict; /* OpenMetrics, not Prometheus' format */
	bool running;
	bool many; /* several views: samples name their host */
	const struct view *view;
	const struct leaders *leaders; /* of this view */
	bool some;                     /* this sample has a label already */
};

/* Begins a sample, with the labels of its host where there are several views. */
void metric_begin(struct metrics *m, const char *name, const char *suffix);

/* Quotes a value by two rules: the project's for unprintable bytes, then the format's own. */
void metric_label(struct metrics *m, const char *name, const char *value);
void metric_label_u64(struct metrics *m, const char *name, uint64_t value);

/* Ends the sample. seconds: the value is ns. */
void metric_value(struct metrics *m, uint64_t value, bool seconds);

#endif
