/* SPDX-License-Identifier: GPL-2.0-or-later */
/* culprit diff --group: two groups of hosts, of any number of recordings. */
#ifndef CULPRIT_DIFF_GROUPS_H
#define CULPRIT_DIFF_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/diff_options.h"
#include "model/redact.h"

struct diff_groups {
	char **path;           /* all recordings, those of the first group first */
	uint32_t n, first;     /* number of all, and of the first group's */
	struct redact *redact; /* NULL: names are as recorded */
};

/* True if the command line asks for groups. */
bool diff_groups_asked(int argc, char **argv);

/* Parses it. 0; 1: help was printed; -1 with the reason said.
 * g->path is allocated either way, its texts are argv's. */
int diff_groups_arguments(struct diff_groups *g, int argc, char **argv, struct diff_options *o);

/* Returns the command's exit status. */
int diff_groups(const struct diff_groups *g, struct diff_options *o);

#endif
