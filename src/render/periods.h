/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Periods in osnoise's columns, the kernel's and culprit's (schema culprit.periods/1). */
#ifndef CULPRIT_RENDER_PERIODS_H
#define CULPRIT_RENDER_PERIODS_H

#include <stdbool.h>
#include <stdio.h>
#include "model/osnoise.h"
#include "model/view.h"

struct period_line {
	bool ours;      /* culprit's, not the kernel's */
	unsigned round; /* round of the alternation, from 1 */
	unsigned cpu;
	struct osnoise_period period;
};

/* All periods of an alternation. */
struct periods {
	const struct host *host;
	struct period_line *line;
	uint32_t count;
	const char *incomplete; /* reason why some are missing; any bytes; "": none is */
};

/* Writes the lines in their order. 0 or -errno. */
int render_periods(const struct periods *p, bool json, FILE *out);

#endif
