/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of two groups for differences beyond chance, from ranks alone: nothing is assumed of how
 * values are distributed, only that under no change each order is as likely as any other.
 *
 * Pairs by the signed-rank test, groups by the rank-sum test (F. Wilcoxon, "Individual comparisons
 * by ranking methods", Biometrics Bulletin 1 (1945) 80-83; H. B. Mann and D. R. Whitney, Annals of
 * Mathematical Statistics 18 (1947) 50-60), equal values with the mean of their ranks. Counted out
 * up to RANK_TEST_EXACT values; the normal distribution with a continuity correction beyond, whose
 * tails are heavier than those of such sums: of 60 pairs 1.4 times the chance where that is 5e-4, 6
 * times where it is 2e-7. How many have a value at all: R. A. Fisher's exact
 * test. Many tests: Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", Journal
 * of the Royal Statistical Society B 57 (1995) 289-300.
 *
 * All probabilities are two-sided: of a difference as large, in either direction.
 */
#ifndef CULPRIT_RANK_TEST_H
#define CULPRIT_RANK_TEST_H

#include <stddef.h>
#include <stdint.h>

#define RANK_TEST_EXACT 40

/* side: 1 if the later or second values tend to be larger, -1 if smaller, 0 neither. */
struct rank_test {
	double p; /* from 0 to 1; NAN: out of memory */
	int side;
};

/* Differences, later less earlier; those of 0 tell nothing. */
struct rank_test rank_test_pairs(const double *difference, size_t n);

struct rank_test rank_test_groups(const double *a, size_t na, const double *b, size_t nb);

/* `has_a` of `na` and `has_b` of `nb` have it. */
struct rank_test rank_test_share(size_t has_a, size_t na, size_t has_b, size_t nb);

/* The least p that n pairs, or groups of these sizes, can have. */
double rank_test_least_pairs(size_t n);
double rank_test_least_groups(size_t na, size_t nb);

/* Replaces each p by the least false-discovery rate at which it would be among the discoveries. The
 * rate holds for independent tests and for those that depend positively on each other (Benjamini
 * and Yekutieli, Annals of Statistics 29 (2001) 1165-1188). 0 or -ENOMEM. */
int rank_test_discover(double *p, size_t n);

#endif
