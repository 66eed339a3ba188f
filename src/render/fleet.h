/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Many recordings in one screen, as text or Markdown. */
#ifndef CULPRIT_RENDER_FLEET_H
#define CULPRIT_RENDER_FLEET_H

#include "model/fleet.h"
#include "render/render.h"

/* unread: number of recordings that could not be read. 0 or -errno. */
int render_fleet(const struct fleet *f, uint32_t unread, const struct render_options *options,
		 bool markdown, FILE *out);

#endif
