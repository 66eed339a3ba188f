/* Saved osnoise output beside a recording (schema culprit.beside/1). */
#ifndef CULPRIT_RENDER_BESIDE_H
#define CULPRIT_RENDER_BESIDE_H

#include "model/beside.h"
#include "render/render.h"

/* theirs, ours: names of the two files. 0 or -errno. */
int render_beside_text(const struct beside *b, const char *theirs, const char *ours,
		       const struct render_options *options, FILE *out);
int render_beside_json(const struct beside *b, const char *theirs, const char *ours, FILE *out);

#endif
