/* The comparison with the kernel's osnoise tracer, as text and as JSON (schema culprit.compare/1).
 */
#ifndef CULPRIT_RENDER_COMPARE_H
#define CULPRIT_RENDER_COMPARE_H

#include <stdbool.h>
#include <stdio.h>
#include "model/compare.h"
#include "render/render.h"

#define COMPARE_SCHEMA "culprit.compare/1"

/* Results of one CPU. */
struct compared {
	struct compare compare;
	/* osnoise's own sampler counts a gap as HW when no interval was in it. The same rule for
	 * our gaps: with our intervals, and with osnoise's. */
	uint64_t hw, hw_ns, hw_theirs;
	uint64_t intervals_lost; /* the reader was late */
};

/* cpu[view->ncpus]. json: that, else text. 0 or -errno. */
int render_compare(const struct view *view, const struct compared *cpu,
		   const struct render_options *options, bool json, FILE *out);

#endif
