/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of culprit clock, as text and as JSON (schema culprit.clock/1). */
#ifndef CULPRIT_RENDER_CLOCK_H
#define CULPRIT_RENDER_CLOCK_H

#include "model/clock.h"
#include "render/render.h"

/* 0 or -errno. */
int render_clock_text(const struct clock_view *v, const struct render_options *options, FILE *out);
int render_clock_json(const struct clock_view *v, FILE *out);

/* Explains in words, by an errno, why a way to read a hardware clock does not work. */
const char *render_phc_error(int error);

#endif
