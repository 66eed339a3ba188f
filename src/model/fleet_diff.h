/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differences between two groups of hosts, told from chance.
 *
 * A host is one observation: the share of its observed time that a source took, in all its
 * recordings of the group together. Hosts in both groups are compared with themselves, and others
 * left out; where no host is in both the groups are compared as they are, by how many have the
 * source and by how much it takes where it is: half of the chance goes to each. So hosts must be
 * independent of each other, and nothing else is assumed (rank_test.h). Of the sources that are
 * named as changed at most the share FLEET_DISCOVERY is so by chance, on the average.
 */
#ifndef CULPRIT_FLEET_DIFF_H
#define CULPRIT_FLEET_DIFF_H

#include "model/diff.h"
#include "model/fleet.h"

#define FLEET_DISCOVERY   0.05
#define FLEET_LEAST_HOSTS 6 /* on fewer hosts nothing can be told from chance, nor is it tested */

struct fleet_change {
	const struct fleet_source *source; /* NULL: all lost time */
	double share[2];                   /* mean of the hosts' shares; 0 where it is not */
	uint32_t hosts[2];                 /* number that have it */
	bool tested;
	double p, q; /* chance by itself, and false-discovery rate among all; 1 if not tested */
	/* Same: may be chance. Unclear: more than chance, but the mean tells the other way. */
	enum diff_verdict verdict;
};

/* A property that most recordings of each group have, and how many have it. */
struct fleet_common {
	const char *most[2];
	uint32_t recordings[2];
	bool differs; /* not the same in both groups */
};

struct fleet_diff {
	uint32_t recordings[2]; /* from the hosts that are compared */
	struct fleet_common kernel, blind;
	struct fleet_losses losses[2]; /* losses of these recordings */
	bool threads;                  /* were watched, in place of CPUs; the caller sets it */
	bool pairs;
	uint32_t hosts[2]; /* number compared */
	uint32_t alone;    /* left out, because they are in one group and others are in both */
	uint32_t unknown;  /* left out, because nothing of their loss is known */
	double least;      /* least p that so many hosts can have */
	uint32_t tested;
	struct fleet_change total;   /* by its own chance, of 5 % */
	struct fleet_change *change; /* the changed first, by difference of shares; owned */
	uint32_t nchanges, changed;
	uint32_t others; /* rows "(others)" among the changes, which are not tested */
};

/* first: number of the second group's first recording. The fleet has cells, and is not ranked; it
 * must live as long as d. 0, -ENOMEM, or -EINVAL: some hosts are in both groups, but fewer than
 * FLEET_LEAST_HOSTS of them. */
int fleet_diff_make(struct fleet_diff *d, const struct fleet *f, uint32_t first);
void fleet_diff_free(struct fleet_diff *d);

/* True if hosts of the second group lose more, by more than that, and by more than chance. */
bool fleet_worse_by(const struct fleet_diff *d, double percent);

#endif
