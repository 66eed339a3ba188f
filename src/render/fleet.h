/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Many recordings in one screen, as text or Markdown. */
#ifndef CULPRIT_RENDER_FLEET_H
#define CULPRIT_RENDER_FLEET_H

#include "base/flow.h"
#include "model/fleet.h"
#include "render/render.h"

/* unread: number of recordings that could not be read. 0 or -errno. */
int render_fleet(const struct fleet *f, uint32_t unread, const struct render_options *options,
		 bool markdown, FILE *out);

/* For tables of hosts: a percentage with four decimals, whose points stand below each other.
 * Returns buf. */
const char *host_share(uint64_t part, uint64_t whole, char *buf, size_t len);

/* Begins a line of words, which goes on two columns deeper where the page ends, and in Markdown is
 * a paragraph on one. */
void host_line(struct flow *f, FILE *out, unsigned width, bool markdown);

struct table;
/* Adds the cell of an escaped name, in Markdown a code span. */
void host_name_cell(struct table *t, const char *name, bool markdown);

#endif
