/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of trying fixes, as text and JSON (schema culprit.try/1). */
#ifndef CULPRIT_RENDER_TRIED_H
#define CULPRIT_RENDER_TRIED_H

#include <stdio.h>
#include "model/tried.h"
#include "render/render.h"

#define TRIED_SCHEMA "culprit.try/1"

/* 0 or -errno. */
int render_tried_text(const struct tried *t, const struct render_options *options, FILE *out);
int render_tried_json(const struct tried *t, FILE *out);

#endif
