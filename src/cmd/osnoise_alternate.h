/* SPDX-License-Identifier: GPL-2.0-or-later */
/* culprit osnoise --alternate: the kernel's own workload and culprit's sampler in turn, in
 * osnoise's columns. */
#ifndef CULPRIT_OSNOISE_ALTERNATE_H
#define CULPRIT_OSNOISE_ALTERNATE_H

#include <stdbool.h>
#include <stdio.h>
#include "cmd/measure.h"

/* Runs each twice, for the duration of `m`. Returns an exit code. */
int osnoise_alternate(struct measure *m, bool json, FILE *out);

#endif
