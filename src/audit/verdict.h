/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Is this CPU quiet, and if not, what is the first thing to do: one sentence for each CPU,
 * and one for all that are alike. */
#ifndef CULPRIT_VERDICT_H
#define CULPRIT_VERDICT_H

#include "model/view.h"

/* Fills cpu[].verdict from the summary, the sources' causes (advise.h) and the findings, if any. */
void verdict(struct view *v);
/* Fills groups.row[].verdict of CPUs that are alike, from the same. */
void verdict_groups(struct view *v);

#endif
