/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of culprit selftest, as text and JSON (schema culprit.selftest/1). */
#ifndef CULPRIT_RENDER_SELFTEST_H
#define CULPRIT_RENDER_SELFTEST_H

#include <stdio.h>
#include "model/noise.h"
#include "render/render.h"

#define SELFTEST_SCHEMA "culprit.selftest/1"

/* 0 or -errno. */
int render_selftest_text(const struct selftest *t, const struct render_options *options, FILE *out);
int render_selftest_json(const struct selftest *t, FILE *out);

#endif
