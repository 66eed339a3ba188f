/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two groups of hosts compared, as text, Markdown and JSON (schema culprit.groups/1). */
#ifndef CULPRIT_RENDER_FLEET_DIFF_H
#define CULPRIT_RENDER_FLEET_DIFF_H

#include "model/fleet_diff.h"
#include "render/diff.h"

/* unread: number of recordings that could not be read, or were left out. 0 or -errno. */
int render_fleet_diff(const struct fleet_diff *d, uint32_t unread, enum diff_format format,
		      const struct render_options *options, FILE *out);

#endif
