/* Metrics, in two dialects: OpenMetrics, and the older Prometheus text format, which
 * node_exporter's textfile collector reads. */
#ifndef CULPRIT_RENDER_OPENMETRICS_H
#define CULPRIT_RENDER_OPENMETRICS_H

#include <stdbool.h>
#include <stdio.h>
#include "model/leaders.h"
#include "model/view.h"

/* Writes a run as of now in Prometheus' dialect, after a snapshot and an update of the
 * series. running: it goes on. 0 or -errno. */
int render_textfile(const struct view *view, const struct leaders *leaders, bool running,
		    FILE *out);

#endif
