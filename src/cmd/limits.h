/* Thresholds that a script gates on: --max-hiccup and --max-lost. */
#ifndef CULPRIT_LIMITS_H
#define CULPRIT_LIMITS_H

#include "base/opt.h"
#include "model/view.h"

struct limits {
	uint64_t max_hiccup_ns; /* 0: not given */
	double max_lost;        /* percent of a CPU's time; 0: not given */
};

extern const struct opt limits_opts[]; /* rows of a struct limits */

/* Reports what crosses them in the view, one line each on stderr. Returns EXIT_CROSSED or
 * EXIT_OK. */
int limits_crossed(const struct limits *l, const struct view *v);

#endif
