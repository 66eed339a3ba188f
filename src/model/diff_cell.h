/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Part of diff_make: the numbers of one cell, and how two cells differ. The rules are in diff.h. */
#ifndef CULPRIT_DIFF_CELL_H
#define CULPRIT_DIFF_CELL_H

#include "model/diff.h"

/* One recording's sums of a source, or of all hiccups. */
struct tally {
	struct hist net; /* a value for each run of a function */
	uint64_t count;  /* interruptions; hiccups */
	uint64_t hiccups;
	uint64_t lost, lost_ns; /* not recorded */
	struct slices slices;
};

/* A side's sum, ready for comparison. */
struct side_sum {
	struct ratio_sum sum; /* sum whose variance is from chance and scatter */
	double between;       /* variance between the recordings */
	double low, high;     /* least and largest rate of the recordings */
	uint32_t n;           /* recordings */
};

struct sums {
	struct side_sum count, time;
};

/* One tally for each recording of a side, and one of all together. */
struct tallies {
	struct tally one[DIFF_RECORDINGS], all;
	uint32_t n;
};

struct tallies *tallies_new(const struct diff *d, unsigned bits); /* NULL: out of memory */
void tallies_free(struct tallies *t);                             /* NULL is fine */
void tallies_clear(struct tallies *t);
void tally_add(struct tally *t, const struct tally *from);

/* Fills the cell from a side's tallies, all of its recordings together; d knows the bins. */
void cell_fill(const struct diff *d, struct diff_cell *c, const struct tally *t, double seconds);
struct sums cell_weigh(const struct tally *t, const struct diff_side *side); /* t[side->n] */

/* Compares the other sides' cells with the first's: ratios and verdicts. d->total is filled.
 * sources: number of sources compared at the same time; 0: it alone was asked about. */
void cells_compare(const struct diff *d, struct diff_cell *cell, const struct sums *sums,
		   uint32_t sources);

/* Makes the verdict of a cell unclear where what is missing may have made it. Any source has less
 * where hiccups are missing, and one in records (interval) where these are; what is in no record
 * then has more. */
void cell_doubt(const struct diff *d, struct diff_cell *c, uint32_t k, bool interval);

#endif
