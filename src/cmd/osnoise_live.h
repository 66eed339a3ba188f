/* SPDX-License-Identifier: GPL-2.0-or-later */
/* culprit osnoise without --input: the kernel's tracer and culprit at once, of the same CPUs. */
#ifndef CULPRIT_OSNOISE_LIVE_H
#define CULPRIT_OSNOISE_LIVE_H

#include <stdbool.h>
#include <stdio.h>
#include "cmd/measure.h"

/* Returns an exit code. json: the form of the report, which goes to `out`. */
int osnoise_live(struct measure *m, bool json, FILE *out);

#endif
