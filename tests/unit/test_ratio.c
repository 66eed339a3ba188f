/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ratios of rates: the bounds are those of the exact binomial test, and intervals cover the truth
 * as often as they say, also where there were few events, of counts and of times. The generator's
 * seed is fixed: the same pairs in every run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>

#include "../world/chance.h"
#include "model/ratio.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PAIRS        1000
#define ALPHA        0.05

static struct ratio_sum count_of(double count, double seconds)
{
	return (struct ratio_sum){count, count, 1, seconds};
}

static void check_near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-6 * fabs(want)))
		fail_msg("got %.9g, want %.9g", got, want);
}

/* Probability of `least` or more of n. */
static double binomial_tail(unsigned least, unsigned n, double p)
{
	double sum = 0;

	for (unsigned k = least; k <= n; k++)
		sum += exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) + k * log(p) +
			   (n - k) * log1p(-p));
	return sum;
}

static void test_beta(void **state)
{
	(void)state;
	assert_true(isnan(beta_odds(0.95, 0.5, NAN)) && isnan(beta_odds(0.95, 0, 1)) &&
		    isnan(beta_odds(0.95, INFINITY, 1)));
	check_near(beta_odds(0.5, 7, 7), 1);
	check_near(beta_odds(0.3, 1, 1), 0.3 / 0.7);
	check_near(beta_odds(0.9, 1, 5), 1 / pow(0.1, 1 / 5.0) - 1);        /* 1 - (1 - x)^5 */
	check_near(beta_odds(0.025, 6, 1), 1 / (pow(0.025, -1 / 6.0) - 1)); /* x^6 */
	check_near(beta_odds(1e-9, 0.5, 0.5),
		   pow(tan(1e-9 * acos(-1) / 2), 2)); /* the arcsine law */
	/* a number so large that it is normal: odds of 1 and 1.96 standard deviations of its
	 * logarithm */
	assert_true(fabs(log(beta_odds(0.975, 1e8, 1e8)) / sqrt(2e-8) - 1.959964) < 1e-3);
}

static void test_counts_are_exact(void **state)
{
	static const unsigned pairs[][2] = {{5, 10}, {1, 1}, {3, 40}, {200, 150}, {1, 9}};

	(void)state;
	for (unsigned i = 0; i < COUNT(pairs); i++) {
		unsigned a = pairs[i][0], b = pairs[i][1];
		struct ratio_sum before = count_of(a, 10), after = count_of(b, 30);
		struct ratio r = ratio_of(&before, &after, ALPHA);

		check_near(r.value, b / 3.0 / a);
		check_near(binomial_tail(b, a + b, 3 * r.low / (1 + 3 * r.low)), ALPHA / 2);
		check_near(1 - binomial_tail(b + 1, a + b, 3 * r.high / (1 + 3 * r.high)),
			   ALPHA / 2);
	}
}

static void test_none(void **state)
{
	struct ratio_sum none = count_of(0, 10), five = count_of(5, 10), six = count_of(6, 10);
	struct ratio r;

	(void)state;
	r = ratio_of(&none, &six, ALPHA);
	assert_true(isinf(r.value) && isinf(r.high));
	check_near(r.low,
		   1 / (pow(ALPHA / 2, -1 / 6.0) - 1)); /* 1.18: six and none is a difference */
	assert_true(r.low > 1);
	r = ratio_of(&none, &five, ALPHA);
	assert_true(r.low < 1); /* five and none is none */
	r = ratio_of(&six, &none, ALPHA);
	assert_true(r.value == 0 && r.low == 0 && r.high < 1);
	r = ratio_of(&none, &none, ALPHA);
	assert_true(isnan(r.value) && r.low == 0 && isinf(r.high));
}

static void test_turned_round(void **state)
{
	struct ratio_sum a = {5e6, 3e11, 200e3, 10}, b = {2e6, 9e10, 150e3, 7};
	struct ratio there = ratio_of(&a, &b, ALPHA), back = ratio_of(&b, &a, ALPHA);

	(void)state;
	check_near(there.value * back.value, 1);
	check_near(there.low * back.high, 1);
	check_near(there.high * back.low, 1);
}

/* ---- how often the truth is covered ---- */

enum lengths { EQUAL, EXPONENTIAL, LOGNORMAL };

static double length(enum lengths lengths)
{
	return lengths == EQUAL         ? 1
	       : lengths == EXPONENTIAL ? -log(uniform())
					: exp(0.7 * normal());
}

/* Events that come by chance, `rate` a second. */
static struct ratio_sum observe(double rate, double seconds, bool times, enum lengths lengths)
{
	struct ratio_sum s = {.jump = times ? 0 : 1, .seconds = seconds};

	for (double at = -log(uniform()) / rate; at < seconds; at -= log(uniform()) / rate) {
		double jump = times ? length(lengths) : 1;

		s.sum += jump;
		s.variance += jump * jump;
		s.jump = jump > s.jump ? jump : s.jump;
	}
	return s;
}

static void check_covers(double expected, double truth, double seconds, bool times,
			 enum lengths lengths)
{
	unsigned covered = 0;

	for (unsigned i = 0; i < PAIRS; i++) {
		struct ratio_sum before = observe(expected, 1, times, lengths);
		struct ratio_sum after = observe(expected * truth, seconds, times, lengths);
		struct ratio r;

		if (before.jump == 0 && after.jump == 0) { /* nothing came: nothing is said */
			covered++;
			continue;
		}
		r = ratio_of(&before, &after, ALPHA);
		covered += r.low <= truth && truth <= r.high;
	}
	if (covered < 0.93 * PAIRS)
		fail_msg("%g expected, ratio %g, %s %d: the truth is in %u of %u intervals",
			 expected, truth, times ? "times" : "counts", lengths, covered, PAIRS);
}

static void test_covers(void **state)
{
	static const double expected[] = {0.5, 2, 5, 20, 100, 1000}, truth[] = {1, 0.3, 2};

	(void)state;
	seed = 88172645463325252ULL;
	for (unsigned e = 0; e < COUNT(expected); e++)
		for (unsigned t = 0; t < COUNT(truth); t++) {
			check_covers(expected[e], truth[t], 1, false, EQUAL);
			check_covers(expected[e], truth[t], 0.5, false, EQUAL);
			check_covers(expected[e], truth[t], 1, true, EQUAL);
			check_covers(expected[e], truth[t], 1, true, EXPONENTIAL);
			check_covers(expected[e], truth[t], 2, true, LOGNORMAL);
		}
}

/* An interval that says nothing would cover, too: of 100 against 200 events it must see the
 * difference nearly always, and be as narrow as the normal distribution's. */
static void test_sees(void **state)
{
	unsigned seen = 0;
	struct ratio_sum a = {1e4, 2e4, 8, 1}, b = a;
	struct ratio r = ratio_of(&a, &b, ALPHA);

	(void)state;
	assert_true(fabs(log(r.high) / (1.96 * sqrt(2 * 2e4) / 1e4) - 1) < 0.05);
	seed = 42;
	for (unsigned i = 0; i < PAIRS; i++) {
		a = observe(100, 1, true, EXPONENTIAL);
		b = observe(200, 1, true, EXPONENTIAL);
		r = ratio_of(&a, &b, ALPHA);
		seen += r.low > 1;
	}
	assert_true(seen > 0.95 * PAIRS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_beta),   cmocka_unit_test(test_counts_are_exact),
		cmocka_unit_test(test_none),   cmocka_unit_test(test_turned_round),
		cmocka_unit_test(test_covers), cmocka_unit_test(test_sees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
