/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of model/groups.h: all rows of sources of a view, each with the number of its
 * name, and what each CPU lost to each name. */
#ifndef CULPRIT_GROUPS_ROWS_H
#define CULPRIT_GROUPS_ROWS_H

#include "model/diff.h"
#include "model/view.h"

struct group_row {
	const struct source *source;
	uint32_t lane, key;
	char name[DIFF_NAME]; /* group_name() */
};

/* The loss of a CPU to one name. */
struct group_part {
	uint32_t key;
	uint64_t ns, longest_ns;
};

struct group_rows {
	struct group_row *row; /* owned; by key, then by lane */
	size_t n;
	uint32_t keys;
	struct group_part *part; /* owned; by lane, then by key */
	size_t *begin;           /* begin of each lane's rows, and the end behind the last; owned */
};

int group_rows_make(struct group_rows *r, const struct view *v); /* 0 or -ENOMEM: it is empty */
void group_rows_free(struct group_rows *r);

/* Fills what a group says of its CPUs, which are in g->lane[n]. rows: those of the group's CPUs,
 * by key, then by lane. 0 or -ENOMEM. */
int group_fill(struct cpu_group *g, const struct view *v, const struct group_row *const *rows,
	       size_t n);

#endif
