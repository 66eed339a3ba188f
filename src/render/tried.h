/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of trying fixes, as text and JSON (schema culprit.try/1). */
#ifndef CULPRIT_RENDER_TRIED_H
#define CULPRIT_RENDER_TRIED_H

#include <stdio.h>
#include "base/json.h"
#include "model/tried.h"
#include "render/render.h"

#define TRIED_SCHEMA "culprit.try/1"

/* 0 or -errno. */
int render_tried_text(const struct tried *t, const struct render_options *options, FILE *out);
int render_tried_json(const struct tried *t, FILE *out);

/* ---- parts of it ---- */

/* "fixes": [{"cause","title","number","lag_s"}] */
void render_tried_fixes(struct json *j, const struct tried_fix *fix, uint32_t n);
/* "knobs": [{"kind","path","before","fix"}]; all: also those that an earlier try has kept. */
void render_tried_knobs(struct json *j, const struct knobs *knobs, bool all);
/* {"without": {...}, "with": {...}, ... "verdict"} of two cells */
void render_tried_cells(struct json *j, const char *key, const struct diff_cell *c);

#endif
