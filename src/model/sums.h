/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums that the probes added up in place of records (culprit watch --sums), as a lane of the view:
 * a CPU with its sources. Single hiccups, who asked and whose time it was are not known. Pure. */
#ifndef CULPRIT_MODEL_SUMS_H
#define CULPRIT_MODEL_SUMS_H

#include "model/names.h"
#include "model/view.h"
#include "sum.h"

/* Copies a row that the probes may be adding to. What it has is consistent as far as sum.h says;
 * runs that end meanwhile may be in some of its numbers only. */
void sum_take(const struct sum *shared, struct sum *copy);

/* Puts the sums of a CPU in place of what the lane had. Its hiccups are then single runs, each with
 * its net time; percentiles are at most as large as they say, and by no more than half. names:
 * NULL, or outlives the view's use. 0 or -ENOMEM. */
int sums_fill(struct view *v, uint32_t lane, const struct sum row[SUM_ROWS],
	      const struct names *names);

#endif
