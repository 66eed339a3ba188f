/* Part of diff_make: the numbers of one cell, and how two differ. The rules are in diff.h. */
#ifndef CULPRIT_DIFF_CELL_H
#define CULPRIT_DIFF_CELL_H

#include "model/diff.h"

/* What one file has of a source, or of all hiccups. */
struct tally {
	struct hist net; /* a value for each run of a function */
	uint64_t count;  /* interruptions; hiccups */
	uint64_t hiccups;
	uint64_t lost, lost_ns; /* not recorded */
	struct slices slices;
};

/* The same, ready to be compared. */
struct sums {
	struct ratio_sum count, time;
};

void tally_clear(struct tally *t);

/* Of a view's tally, which it observed for so long; d knows the bins. */
void cell_fill(const struct diff *d, struct diff_cell *c, const struct tally *t, double seconds);
struct sums cell_weigh(const struct tally *t, const struct view *v, double seconds);

/* The other files' cells against the first's: ratios and verdicts. d->total is filled. sources: so many are looked at together. */
void cells_compare(const struct diff *d, struct diff_cell *cell, const struct sums *sums, uint32_t sources);

#endif
