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

/* A unit by its name, "ssh" or "ssh.service"; all zeros: never found. */
struct unit {
	char path[PATH_MAX]; /* place where it was found last; "": never */
	bool of_system;      /* the group is in slices alone, as the system's manager puts it */
};

/* Looks for it below root. Several groups may have the name: users' services, containers' and what
 * any of those make. None of them can make a group in slices alone: one that is there counts, the
 * least deep first, and no other after it; without, the least deep of the others until it is gone,
 * or there is one in slices. */
void unit_look(struct unit *u, const char *root, const char *name);

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
