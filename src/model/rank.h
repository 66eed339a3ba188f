/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order in which a reader should see several lanes (CPUs, watched threads). Two things matter,
 * and neither may hide the other: how much of its time a lane lost, and its longest gap. So lanes
 * come by turns from two lists, by falling share and by falling longest gap, each lane once: who is
 * among the first k of either list is among the first 2k. */
#ifndef CULPRIT_RANK_H
#define CULPRIT_RANK_H

#include <stdint.h>
#include "model/view.h"

struct rank_of {
	double lost; /* share of its time; below 0: not known */
	uint64_t longest_ns;
};

/* Writes the indices of of[n] to order[n]; those that are equal in both as they came. 0 or
 * -ENOMEM, and then order is 0, 1, 2... */
int rank(const struct rank_of *of, uint32_t n, uint32_t *order);

/* The same for a view's lanes, over its whole window; order has room for v->ncpus. Shares of
 * watched threads are of different times: there the lost time itself stands for the share. */
int rank_lanes(const struct view *v, uint32_t *order);

#endif
