/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Saved osnoise output beside a recording (schema culprit.beside/1). */
#ifndef CULPRIT_RENDER_OSNOISE_RATES_H
#define CULPRIT_RENDER_OSNOISE_RATES_H

#include "model/osnoise_rates.h"
#include "render/render.h"

/* theirs, ours: names of the two files. 0 or -errno. */
int render_osnoise_rates_text(const struct osnoise_rates *b, const char *theirs, const char *ours,
			      const struct render_options *options, FILE *out);
int render_osnoise_rates_json(const struct osnoise_rates *b, const char *theirs, const char *ours,
			      FILE *out);

#endif
