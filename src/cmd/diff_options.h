/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of culprit diff, whatever it compares. */
#ifndef CULPRIT_DIFF_OPTIONS_H
#define CULPRIT_DIFF_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/joined.h"
#include "cmd/output.h"

struct diff_options {
	struct output output; /* the format is one of enum diff_format */
	double worse;         /* percent; NAN: not given */
	double between;       /* NAN: not given */
	uint64_t memory;
	bool redact, group;
	struct hosts_given hosts; /* those of guests whose recordings these are */
};

#endif
