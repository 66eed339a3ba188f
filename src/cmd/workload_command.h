/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by commands that measure a workload (collect/workload.h) and report on it: their options,
 * and a live run with a report. */
#ifndef CULPRIT_WORKLOAD_COMMAND_H
#define CULPRIT_WORKLOAD_COMMAND_H

#include "cmd/live.h"
#include "collect/roam.h"

struct workload_command {
	struct measure measure;
	struct output output;
	struct limits limits;
	const char *record, *label;
	bool force;
	uint64_t keeps; /* rights that its report needs (base/confine.h) */
	/* Samplers that are not pinned, but may run on all the CPUs to measure: the number of
	 * them, and their pids when the window has opened (collect/roam.h). 0: none are. */
	uint32_t roaming;
	int32_t pid[ROAM_MAX];
	/* called when the window has opened; NULL: none */
	void (*begun)(struct workload_command *c, const struct view *v);
	int (*report)(struct workload_command *c,
		      /* called instead of live_report, which it may call; NULL: none */
		      struct view *v);
};

/* Rows of option tables: all options of a workload's command (struct workload_command) beside the
 * workload's own; and those for a recording of it, which the table of another struct can include,
 * too.
 */
extern const struct opt workload_command_opts[], workload_record_opts[];

/* Measures the workload and writes the report. Returns the exit code. */
int workload_command_run(struct workload_command *c, const struct workload *workload,
			 const void *workload_options);

#endif
