/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metrics, in two dialects: OpenMetrics, and the older Prometheus text format, which
 * node_exporter's textfile collector reads. */
#ifndef CULPRIT_RENDER_OPENMETRICS_H
#define CULPRIT_RENDER_OPENMETRICS_H

#include <stdbool.h>
#include <stdio.h>
#include "model/leaders.h"
#include "model/view.h"

/* Writes a run as of now in Prometheus' dialect, after a snapshot and an update of the
 * series. host: all CPUs together. running: it goes on. 0 or -errno. */
int render_textfile(const struct view *view, const struct leaders *leaders, bool host, bool running,
		    FILE *out);

/* Unit that has series of its own: a CPU, those that are alike together, all of them together.
 * Watched threads always have their own. */
enum metrics_per { PER_CPU, PER_GROUP, PER_HOST };

/* Begins the series of a view: leaders_init. label: the kind of owner whose name they have;
 * BY_THREAD: none. 0 or -ENOMEM. */
int metrics_leaders(struct leaders *s, const struct view *v, enum metrics_per per,
		    enum owner_by label);

#endif
