/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Evenness over a window: counts and sums in slices of equal length. Noise that comes in bursts
 * varies more from one window to the next than its count tells, and a comparison of two windows
 * that does not know this takes a burst for a change. Batch means are the remedy: the scatter of
 * the slices' sums is that of the whole (B. Schmeiser, "Batch size effects in the analysis of
 * simulation output", Operations Research 30 (1982) 556-568, who wants 10 to 30 of them).
 *
 * Memory grows with the slices in which something came: of the sources of a machine with many CPUs
 * most come in a few.
 */
#ifndef CULPRIT_SLICES_H
#define CULPRIT_SLICES_H

#include "model/slots.h"

#define SLICES 32 /* as many as a word has bits */

struct slice {
	uint64_t count, sum;
};

struct slices { /* all zeros: nothing came */
	struct slots slots;
	double squares;   /* sum over the single values */
	uint64_t largest; /* largest single value */
	/* Inside: bit i is set where slice i has a cell; the cells of those slices, or from `room`
	 * SLICES on of all. */
	uint32_t used, room;
	struct slice *cell; /* owned */
};

void slices_free(struct slices *s); /* frees what they hold: nothing came */

/* The slice of a number below SLICES, of which 0 begins at slots.first << slots.log2. */
struct slice slices_at(const struct slices *s, unsigned number);

/* Adds a value at a time in ns; times may come in any order. Out of memory a value has no slice. */
void slices_add(struct slices *s, uint64_t at_ns, uint64_t value);

/* Adds another window's slices of the same clock: values at the same time on two CPUs become
 * one. */
void slices_merge(struct slices *s, const struct slices *from);

/* Variance of the sum over a window, and of the count, from the scatter of the 16 to 32 slices that
 * make [begin_ns, begin_ns + length_ns). Slightly enlarged because they are so few: by as much as
 * Student's t varies more than the normal distribution. 0 when the window is shorter than 16 ms. */
struct slices_scatter {
	double sum, count;
} slices_scatter(const struct slices *s, uint64_t begin_ns, uint64_t length_ns);

#endif
