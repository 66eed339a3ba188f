/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kinds of recordings: time that CPUs lost, that watched threads lost, and that a workload's
 * windows took are not the same, and not compared with each other. */
#ifndef CULPRIT_DIFF_KIND_H
#define CULPRIT_DIFF_KIND_H

#include "model/view.h"

/* "of run" "of a workload" "of watch" "of watch --sums" */
const char *diff_kind(const struct view *v);

/* False, with the reason said: the recordings are of different kinds. path[n], view[n] */
bool diff_kinds_alike(const char *const *path, const struct view *view, uint32_t n);

#endif
