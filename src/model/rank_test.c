/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/rank_test.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Ranks are doubled: the mean of two is a whole number then. */
#define SUM_MAX (RANK_TEST_EXACT * (RANK_TEST_EXACT + 1))

struct ranked {
	double value; /* by which it is ranked */
	uint32_t rank;
	int of; /* the group, or the sign of the difference: 1 or -1 */
};

static const struct rank_test no_memory = {NAN, 0}, nothing = {1, 0};

static int by_value(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

/* Sorts, and gives doubled ranks. Returns the sum of t^3 - t over the sizes t of runs of equal
 * values. */
static double rank(struct ranked *r, size_t n)
{
	double ties = 0;

	qsort(r, n, sizeof(*r), by_value);
	for (size_t i = 0, end; i < n; i = end) {
		double t;

		for (end = i + 1; end < n && r[end].value <= r[i].value; end++)
			;
		for (size_t k = i; k < end; k++)
			r[k].rank = (uint32_t)(i + end + 1); /* mean of i + 1 ... end, twice */
		t = (double)(end - i);
		ties += t * t * t - t;
	}
	return ties;
}

static struct rank_test two_sided(double below, double above)
{
	double p = 2 * fmin(below, above);

	return (struct rank_test){fmin(p, 1), above < below ? 1 : -(above > below)};
}

/* away: from the middle of the distribution, in doubled ranks, whose least step is 1. */
static struct rank_test normal(double away, double variance)
{
	double z = variance > 0 ? fmax(0, fabs(away) - 1) / sqrt(variance) : 0;

	return (struct rank_test){erfc(z / sqrt(2)), away > 0 ? 1 : -(away < 0)};
}

/* The share of ways[] up to and from `sum`. */
static struct rank_test tails(const double *ways, size_t most, size_t sum)
{
	double below = 0, above = 0, all = 0;

	for (size_t s = 0; s <= most; s++) {
		all += ways[s];
		below += s <= sum ? ways[s] : 0;
		above += s >= sum ? ways[s] : 0;
	}
	return two_sided(below / all, above / all);
}

/* ---- pairs ---- */

/* Each rank is a gain as likely as a loss. */
static struct rank_test count_signs(const struct ranked *r, size_t n, size_t gains)
{
	double ways[SUM_MAX + 1] = {1};
	size_t most = 0;

	for (size_t i = 0; i < n; i++) {
		most += r[i].rank;
		for (size_t s = most; s >= r[i].rank; s--)
			ways[s] += ways[s - r[i].rank];
	}
	return tails(ways, most, gains);
}

struct rank_test rank_test_pairs(const double *difference, size_t n)
{
	struct ranked *r = calloc(n + 1, sizeof(*r));
	struct rank_test found;
	double gains = 0, all = 0, squares = 0;
	size_t some = 0;

	if (!r)
		return no_memory;
	for (size_t i = 0; i < n; i++)
		if (difference[i] > 0 || difference[i] < 0)
			r[some++] = (struct ranked){.value = fabs(difference[i]),
						    .of = difference[i] > 0 ? 1 : -1};
	rank(r, some);
	for (size_t i = 0; i < some; i++) {
		gains += r[i].of > 0 ? r[i].rank : 0;
		all += r[i].rank;
		squares += (double)r[i].rank * r[i].rank;
	}
	if (!some)
		found = nothing;
	else if (some <= RANK_TEST_EXACT)
		found = count_signs(r, some, (size_t)gains);
	else
		found = normal(gains - all / 2, squares / 4);
	free(r);
	return found;
}

/* ---- groups ---- */

/* Any nb of all ranks are as likely as any others. */
static struct rank_test count_choices(const struct ranked *r, size_t n, size_t nb, size_t sum)
{
	double(*ways)[SUM_MAX + 1] = calloc(nb + 1, sizeof(*ways));
	struct rank_test found;
	size_t most = 0;

	if (!ways)
		return no_memory;
	ways[0][0] = 1;
	for (size_t i = 0; i < n; i++) {
		most += r[i].rank;
		for (size_t k = nb < i + 1 ? nb : i + 1; k > 0; k--)
			for (size_t s = r[i].rank; s <= most; s++)
				ways[k][s] += ways[k - 1][s - r[i].rank];
	}
	found = tails(ways[nb], most, sum);
	free(ways);
	return found;
}

struct rank_test rank_test_groups(const double *a, size_t na, const double *b, size_t nb)
{
	size_t n = na + nb;
	struct ranked *r = calloc(n + 1, sizeof(*r));
	struct rank_test found;
	double sum = 0, ties, size = (double)n;

	if (!r)
		return no_memory;
	for (size_t i = 0; i < n; i++)
		r[i] = (struct ranked){.value = i < na ? a[i] : b[i - na], .of = i < na ? -1 : 1};
	ties = rank(r, n);
	for (size_t i = 0; i < n; i++)
		sum += r[i].of > 0 ? r[i].rank : 0;
	if (!na || !nb)
		found = nothing;
	else if (n <= RANK_TEST_EXACT)
		found = count_choices(r, n, nb, (size_t)sum);
	else
		found = normal(sum - (double)nb * (size + 1),
			       (double)na * (double)nb / 3 *
				       (size + 1 - ties / (size * (size - 1))));
	free(r);
	return found;
}

/* ---- how many have it ---- */

static double log_choose(size_t n, size_t k)
{
	int sign;

	return lgamma_r((double)n + 1, &sign) - lgamma_r((double)k + 1, &sign) -
	       lgamma_r((double)(n - k) + 1, &sign);
}

struct rank_test rank_test_share(size_t has_a, size_t na, size_t has_b, size_t nb)
{
	size_t has = has_a + has_b, least = has > na ? has - na : 0, most = has < nb ? has : nb;
	double all = log_choose(na + nb, has), below = 0, above = 0;

	for (size_t k = least; k <= most; k++) {
		double p = exp(log_choose(nb, k) + log_choose(na, has - k) - all);

		below += k <= has_b ? p : 0;
		above += k >= has_b ? p : 0;
	}
	return two_sided(below, above);
}

/* ---- what can be found ---- */

double rank_test_least_pairs(size_t n)
{
	return n ? fmin(1, ldexp(1, 1 - (int)(n < 1000 ? n : 1000))) : 1;
}

double rank_test_least_groups(size_t na, size_t nb)
{
	return fmin(1, 2 * exp(-log_choose(na + nb, na)));
}

struct place {
	double p;
	size_t at;
};

static int by_p(const void *a, const void *b)
{
	double x = ((const struct place *)a)->p, y = ((const struct place *)b)->p;

	return (x > y) - (x < y);
}

int rank_test_discover(double *p, size_t n)
{
	struct place *order = calloc(n + 1, sizeof(*order));
	double least = 1;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		order[i] = (struct place){p[i], i};
	qsort(order, n, sizeof(*order), by_p);
	for (size_t i = n; i-- > 0;) {
		least = fmin(least, order[i].p * (double)n / (double)(i + 1));
		p[order[i].at] = least;
	}
	free(order);
	return 0;
}
