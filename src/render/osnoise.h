/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report of `culprit osnoise`. */
#ifndef CULPRIT_RENDER_OSNOISE_H
#define CULPRIT_RENDER_OSNOISE_H

#include "model/osnoise.h"
#include "render/render.h"

/* input: name of the text. 0, or nonzero when writing failed. */
int render_osnoise_text(const struct osnoise_reader *r, const char *input,
			const struct render_options *options, FILE *out);
int render_osnoise_json(const struct osnoise_reader *r, const char *input, FILE *out);

/* Indices into r->cpu by rising CPU number; free() it. NULL: out of memory. */
uint32_t *osnoise_cpu_order(const struct osnoise_reader *r);

/* The end of the text: what the numbers leave out, and the lines that were not understood. */
void render_osnoise_notes(const struct osnoise_reader *r, unsigned width, FILE *out);

#endif
