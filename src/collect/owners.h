/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The control groups of this machine by their numbers, and what the container runtimes call those
 * that are theirs (model/owner.h). Read once before the window; groups that are made later are told
 * by a probe, so that also those that are gone again have their names.
 *
 * The number of a group is that of its directory (fs/kernfs: ino_t is the node's id). In which
 * hierarchy: cgroup2 where it has the controllers, else that of the first of pids, memory and cpu
 * that is mounted, as runtimes make their groups in all of them. */
#ifndef CULPRIT_OWNERS_H
#define CULPRIT_OWNERS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/owner.h"
#include "state.h"

struct owners;

struct hierarchy {
	enum owners_in in;
	unsigned id;     /* the kernel's, 0 for cgroup2 */
	char mount[256]; /* below the root */
};

/* Finds the hierarchy below the directory `root`. */
void owners_find(int root, struct hierarchy *h);
const struct hierarchy *owners_hierarchy(void); /* this machine's, found once; static */

/* Reads the groups of the hierarchy; without a hierarchy there are none. root: "/" but in a test;
 * stays open. NULL: out of memory. */
struct owners *owners_new(int root, const struct hierarchy *h);
void owners_free(struct owners *o);

/* A group has come; a later one may have the number of one that is gone. */
void owners_made(struct owners *o, uint32_t number, const char *path);

/* The text that owner_read() takes; NULL: not known. Valid until owners_free. */
const char *owners_text(struct owners *o, uint32_t number);

bool owners_lack(const struct owners *o); /* true: it had no room for one's text */

/* Copies the string of a JSON text that json_find() finds. False: there is none, or it has what no
 * name has. */
bool owners_json(const char *json, const char *const *path, char name[OWNER_NAME]);

#endif
