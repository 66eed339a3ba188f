/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fixes that were tried, with their effect, for people and as JSON (schema culprit.tune/1); in
 * Markdown and HTML also of a single try: a ticket for who has to approve the change. */
#ifndef CULPRIT_RENDER_TUNED_H
#define CULPRIT_RENDER_TUNED_H

#include <stdio.h>
#include "model/tuned.h"
#include "render/sheet.h"

#define TUNED_SCHEMA "culprit.tune/1"

/* 0 or -errno. */
int render_tuned(const struct tuned *t, enum sheet_form form, const struct render_options *options,
		 FILE *out);
int render_tuned_json(const struct tuned *t, FILE *out);

#endif
