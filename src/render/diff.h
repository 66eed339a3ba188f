/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differences between runs, as text, Markdown and JSON (schema culprit.diff/1). */
#ifndef CULPRIT_RENDER_DIFF_H
#define CULPRIT_RENDER_DIFF_H

#include <stdio.h>
#include "base/json.h"
#include "model/diff.h"
#include "render/render.h"

#define DIFF_SCHEMA "culprit.diff/1"

enum diff_format { DIFF_TEXT, DIFF_MARKDOWN, DIFF_JSON };

/* names: those of the files, over all sides in their order. 0 or -errno. */
int render_diff(const struct diff *d, const char *const *names, enum diff_format format,
		const struct render_options *options, FILE *out);

/* ---- for render_diff and its kin ---- */

int render_diff_json(const struct diff *d, const char *const *names, FILE *out);
/* Writes {"value","low","high"} under this key. */
void render_diff_json_ratio(struct json *j, const char *key, const struct ratio *r);
void render_diff_lengths(const struct diff *d, unsigned width, FILE *out);

/* "kworker/3:* > vmstat_update", "irq 36", escaped. Returns buf. */
#define DIFF_WHO 2048
const char *render_diff_who(const struct diff_row *row, char *buf, size_t len);

/* Three digits, or whole when there are more: "0.206" "12.5" "5,301" "<0.001" "inf"; "-" for NAN.
 * Returns buf. */
const char *render_diff_number(double value, char *buf, size_t len);

#endif
