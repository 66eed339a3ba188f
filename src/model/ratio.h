/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The change of a rate: the ratio of two sums, each observed for some time, with its confidence
 * interval.
 *
 * A sum consists of jumps that come by chance: events (each jump is 1) or the time that they took.
 * The interval is Fay's for the ratio of two weighted sums of Poisson counts (M. P. Fay,
 * "Approximate confidence intervals for rate ratios from directly standardized rates with sparse
 * data", Communications in Statistics - Theory and Methods 28 (1999) 2141-2160): each sum is taken
 * as a gamma variate with its mean and variance, the upper bounds with one more jump of the largest
 * size (Fay and Feuer, Statistics in Medicine 16 (1997) 791-801); the ratio of two gammas is a beta
 * variate. Where all jumps are 1 this is, exactly, the conditional binomial test of two Poisson
 * rates with the interval of Clopper and Pearson (Biometrika 26 (1934) 404-413; Przyborowski and
 * Wilenski, Biometrika 31 (1940) 313-323): it covers the truth at least as often as it says,
 * however few the events are. For times it does so as long as the longest event seen is not far
 * from the longest possible; tests/unit/test_ratio.c counts.
 */
#ifndef CULPRIT_RATIO_H
#define CULPRIT_RATIO_H

/* One side, in the unit of the sum: events, or ns. */
struct ratio_sum {
	double sum;
	/* Variance of the sum. For a Poisson count: the count; for a compound Poisson sum: the sum
	 * of the squares of its jumps. */
	double variance;
	/* The largest possible single jump: 1 of a count; better too large than too small. */
	double jump;
	double seconds; /* observed, more than 0 */
};

struct ratio {
	/* (after / its seconds) / (before / its seconds): INFINITY when only before is 0, NAN when
	 * both are. */
	double value;
	double low, high; /* 0 and INFINITY where nothing is known */
};

/* alpha: the chance that the truth is outside, 0.05 for 95 %; half of it on either side. */
struct ratio ratio_of(const struct ratio_sum *before, const struct ratio_sum *after, double alpha);

/* The x for which the beta distribution with shapes a, b > 0 has probability p up to x, as its odds
 * x / (1 - x), 0 < p < 1; NAN for shapes that are none. */
double beta_odds(double p, double a, double b);

#endif
