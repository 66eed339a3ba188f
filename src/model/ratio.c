/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The beta distribution's quantile by bisection over the logarithm of its odds, so that neither end
 * loses digits; its probability by the continued fraction (DLMF 8.17.22, evaluated by Lentz's
 * method), which takes about the root of the larger shape steps. */
#include "model/ratio.h"

#include <math.h>
#include <stdbool.h>

#define STEPS_MAX 200000 /* steps of the continued fraction: enough for shapes of 10^9 */
#define TINY      1e-300
#define ODDS_MAX  700.0 /* logarithm: e^700 is still a double */

static double away_from_zero(double x)
{
	return fabs(x) < TINY ? TINY : x;
}

static double fraction(double x, double a, double b)
{
	double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), h = d;

	for (int m = 1; m < STEPS_MAX; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

		d = 1 / away_from_zero(1 + even * d);
		c = away_from_zero(1 + even / c);
		h *= d * c;
		d = 1 / away_from_zero(1 + odd * d);
		c = away_from_zero(1 + odd / c);
		h *= d * c;
		if (fabs(d * c - 1) < 1e-14)
			break;
	}
	return h;
}

static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

/* Probability up to x, for the x with these log odds. constant: the logarithm of the beta
 * function. */
static double beta_up_to(double log_odds, double a, double b, double constant)
{
	double log_x = -log1p(exp(-log_odds)), log_rest = -log1p(exp(log_odds)), x = exp(log_x);
	double density = exp(a * log_x + b * log_rest - constant);

	if (x < (a + 1) / (a + b + 2))
		return density * fraction(x, a, b) / a;
	return 1 - density * fraction(exp(log_rest), b, a) / b;
}

double beta_odds(double p, double a, double b)
{
	double low = -ODDS_MAX, high = ODDS_MAX,
	       constant = log_gamma(a) + log_gamma(b) - log_gamma(a + b);

	if (!(a > 0 && b > 0 && isfinite(a + b))) /* would take all steps, for nothing */
		return NAN;
	while (high - low > 1e-10) {
		double middle = low + (high - low) / 2;
		bool below = beta_up_to(middle, a, b, constant) < p;

		if (below)
			low = middle;
		else
			high = middle;
	}
	return exp(low + (high - low) / 2);
}

/* A gamma variate of this mean and variance. */
struct gamma {
	double shape, scale;
};

static struct gamma gamma_of(double mean, double variance)
{
	return (struct gamma){mean * mean / variance, variance / mean};
}

/* The p-quantile of one variate over another, independent one. */
static double quotient(double p, struct gamma over, struct gamma under)
{
	return beta_odds(p, over.shape, under.shape) * over.scale / under.scale;
}

struct ratio ratio_of(const struct ratio_sum *before, const struct ratio_sum *after, double alpha)
{
	double jump = before->jump > after->jump ? before->jump : after->jump, square = jump * jump;
	double time = before->seconds / after->seconds;
	struct ratio r = {NAN, 0, INFINITY};

	if (before->sum > 0)
		r.value = after->sum / before->sum * time;
	else if (after->sum > 0)
		r.value = INFINITY;
	if (after->sum > 0)
		r.low = time * quotient(alpha / 2, gamma_of(after->sum, after->variance),
					gamma_of(before->sum + jump, before->variance + square));
	if (before->sum > 0)
		r.high = time * quotient(1 - alpha / 2,
					 gamma_of(after->sum + jump, after->variance + square),
					 gamma_of(before->sum, before->variance));
	return r;
}
