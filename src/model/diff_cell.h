/* Part of diff_make: the numbers of one cell, and how two differ. The rules are in diff.h. */
#ifndef CULPRIT_DIFF_CELL_H
#define CULPRIT_DIFF_CELL_H

#include "model/diff.h"

/* What one recording has of a source, or of all hiccups. */
struct tally {
	struct hist net; /* a value for each run of a function */
	uint64_t count;  /* interruptions; hiccups */
	uint64_t hiccups;
	uint64_t lost, lost_ns; /* not recorded */
	struct slices slices;
};

/* A side's sum, ready to be compared. */
struct side_sum {
	struct ratio_sum sum; /* its variance is of chance and scatter */
	double between;       /* variance, as the recordings tell it */
	double low, high;     /* the least and the largest of the recordings' rates */
	uint32_t n;           /* recordings */
};

struct sums {
	struct side_sum count, time;
};

/* One of each recording of a side, and all of them together. */
struct tallies {
	struct tally one[DIFF_RECORDINGS], all;
	uint32_t n;
};

struct tallies *tallies_new(const struct diff *d, unsigned bits); /* NULL: out of memory */
void tallies_free(struct tallies *t);                             /* NULL is fine */
void tallies_clear(struct tallies *t);
void tally_add(struct tally *t, const struct tally *from);

/* Of a side's tallies, all of its recordings together; d knows the bins. */
void cell_fill(const struct diff *d, struct diff_cell *c, const struct tally *t, double seconds);
struct sums cell_weigh(const struct tally *t, const struct diff_side *side); /* t[side->n] */

/* The other sides' cells against the first's: ratios and verdicts. d->total is filled. sources: so
 * many are looked at together. */
void cells_compare(const struct diff *d, struct diff_cell *cell, const struct sums *sums,
		   uint32_t sources);

#endif
