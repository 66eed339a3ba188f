/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The control groups of systemd's units, by name: folders of the unified hierarchy. */
#ifndef CULPRIT_COLLECT_UNITS_H
#define CULPRIT_COLLECT_UNITS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "choice.h"

/* True for a name that stands for several units: "feed-*". */
bool unit_is_glob(const char *unit);

/* Writes the path of this unit below root, "ssh" or "ssh.service", to found. Several units may have
 * the same name, as those of users' services and containers do: the least deep one counts. False:
 * there is none, and found is "". */
bool unit_find(const char *root, const char *unit, char found[PATH_MAX]);

/* The units that fit a glob, at most `max` of them at a time; all zeros but for `max`: none. */
struct units {
	uint32_t max;
	char path[CHOICE_GROUPS][PATH_MAX]; /* "": the place is free */
	uint32_t left_out; /* units that fitted at the last look, and had no place */
};

/* Looks again: a unit that is gone leaves its place, and new ones take those that are free, as they
 * are found. A group fits whose name has a unit's ending (.service, .scope, .slice, .socket,
 * .mount, .swap), as it is or without .service, where no group above it fits: that one has it. */
void units_look(struct units *u, const char *root, const char *const *globs, uint32_t n);

#endif
