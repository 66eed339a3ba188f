/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A workload's values over time, as bytes: number of series, and for each a section
 * (section.h) with start and width of its slices in ns, their number, and of each slice the count,
 * and where that is not 0 sum and largest of its values. */
#ifndef CULPRIT_RECORDING_COURSE_H
#define CULPRIT_RECORDING_COURSE_H

#include "model/view.h"
#include "recording/bytes.h"

void put_courses(struct bytes *b, const struct cpu *c);

/* Adds the courses to the series of a CPU; a CPU without series leaves them out. r is bad when they
 * are not those of its series' values. */
void get_courses(struct reading *r, struct cpu *c);

#endif
