/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums the hiccups of a CPU by seconds, as the kernel's osnoise tracer does in its periods. */
#ifndef CULPRIT_OWN_PERIOD_H
#define CULPRIT_OWN_PERIOD_H

#include <stdbool.h>
#include <stdint.h>
#include "model/nest.h"
#include "model/osnoise.h"

struct own_period {
	struct osnoise_period sum;
	uint64_t end_ns;  /* CLOCK_MONOTONIC */
	uint64_t left_ns; /* rest of a hiccup that reaches into the next period */
};

void own_period_begin(struct own_period *p, uint64_t started_ns);

/* True, and `done` is one, while there are periods that were over at this time. To be called before
 * own_period_add with the hiccup's start. */
bool own_period_over(struct own_period *p, uint64_t now_ns, struct osnoise_period *done);

/* Adds a hiccup: its time to the periods that it reaches into, all else to that of its start. */
void own_period_add(struct own_period *p, const struct sources *sources, const struct account *a);

/* True, and `done` is the part that was measured of the last period, when all others are taken and
 * it is more than a twentieth of one. What was in less is in no period. */
bool own_period_rest(const struct own_period *p, uint64_t end_ns, struct osnoise_period *done);

#endif
