/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The comparison with the kernel's osnoise tracer, as text and as JSON (schema culprit.pairs/1).
 */
#ifndef CULPRIT_RENDER_OSNOISE_PAIRS_H
#define CULPRIT_RENDER_OSNOISE_PAIRS_H

#include <stdbool.h>
#include <stdio.h>
#include "model/osnoise_pairs.h"
#include "render/render.h"

#define PAIRS_SCHEMA "culprit.pairs/1"

/* Results of one CPU. */
struct paired {
	struct osnoise_pairs pairs;
	/* osnoise's own sampler counts a gap as HW when no interval was in it. The same rule for
	 * our gaps: with our intervals, and with osnoise's. */
	uint64_t hw, hw_ns, hw_theirs;
	uint64_t intervals_lost; /* the reader was late */
};

/* cpu[view->ncpus]. json: that, else text. 0 or -errno. */
int render_osnoise_pairs(const struct view *view, const struct paired *cpu,
			 const struct render_options *options, bool json, FILE *out);

#endif
