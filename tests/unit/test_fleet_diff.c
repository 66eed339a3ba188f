/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two groups of hosts: ranks against counting all orders, and how often fleets that nobody has
 * changed, made by chance from a fixed seed, are said to have changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/fleet_diff.h"
#include "model/rank_test.h"
#include "../world/chance.h"

/* ---- ranks ---- */

static double rank_of(const double *value, size_t n, double v)
{
	double below = 0, same = 0;

	for (size_t i = 0; i < n; i++) {
		below += value[i] < v;
		same += value[i] <= v && value[i] >= v;
	}
	return below + (same + 1) / 2;
}

static double twice_the_smaller(unsigned below, unsigned above, unsigned all)
{
	return fmin(1, 2.0 * (below < above ? below : above) / all);
}

/* Few values, so that many are equal. */
static void fill(double *value, size_t n, bool from_zero)
{
	for (size_t i = 0; i < n; i++)
		value[i] = from_zero ? (double)below(6) : (double)below(9) - 4;
}

static void test_pairs(void **state)
{
	(void)state;
	for (int round = 0; round < 200; round++) {
		size_t n = below(10), some = 0;
		double d[10], size[10], seen = 0;
		unsigned less = 0, more = 0;
		struct rank_test t;

		fill(d, n, false);
		for (size_t i = 0; i < n; i++)
			if (d[i] != 0)
				size[some++] = fabs(d[i]);
		for (size_t i = 0; i < n; i++)
			seen += d[i] > 0 ? rank_of(size, some, d[i]) : 0;
		for (unsigned signs = 0; signs < 1U << some; signs++) {
			double sum = 0;

			for (size_t i = 0; i < some; i++)
				sum += signs >> i & 1 ? rank_of(size, some, size[i]) : 0;
			less += sum <= seen;
			more += sum >= seen;
		}
		t = rank_test_pairs(d, n);
		assert_true(fabs(t.p - twice_the_smaller(less, more, 1U << some)) < 1e-12);
		assert_int_equal(t.side, (more < less) - (more > less));
	}
}

static void test_groups(void **state)
{
	(void)state;
	for (int round = 0; round < 200; round++) {
		size_t na = 1 + below(5), nb = 1 + below(5), n = na + nb;
		double v[10], seen = 0;
		unsigned less = 0, more = 0, all = 0;
		struct rank_test t;

		fill(v, n, true);
		for (size_t i = na; i < n; i++)
			seen += rank_of(v, n, v[i]);
		for (unsigned chosen = 0; chosen < 1U << n; chosen++) {
			double sum = 0;

			if ((size_t)__builtin_popcount(chosen) != nb)
				continue;
			for (size_t i = 0; i < n; i++)
				sum += chosen >> i & 1 ? rank_of(v, n, v[i]) : 0;
			all++;
			less += sum <= seen;
			more += sum >= seen;
		}
		t = rank_test_groups(v, na, v + na, nb);
		assert_true(fabs(t.p - twice_the_smaller(less, more, all)) < 1e-12);
		assert_int_equal(t.side, (more < less) - (more > less));
	}
	assert_true(rank_test_groups(NULL, 0, NULL, 0).p >= 1);
}

/* The hypergeometric distribution, by choosing. */
static void test_share(void **state)
{
	(void)state;
	for (unsigned na = 0; na <= 6; na++)
		for (unsigned nb = 0; nb <= 6; nb++)
			for (unsigned a = 0; a <= na; a++)
				for (unsigned b = 0; b <= nb; b++) {
					unsigned less = 0, more = 0, all = 0;

					for (unsigned has = 0; has < 1U << (na + nb); has++) {
						unsigned in_b =
							(unsigned)__builtin_popcount(has >> na);

						if ((unsigned)__builtin_popcount(has) != a + b)
							continue;
						all++;
						less += in_b <= b;
						more += in_b >= b;
					}
					assert_true(fabs(rank_test_share(a, na, b, nb).p -
							 twice_the_smaller(less, more, all)) <
						    1e-9);
				}
}

/* Beyond what is counted out: never far below the truth, which is counted here. */
static void test_many(void **state)
{
	enum { N = 60, MOST = N * (N + 1) / 2 };
	static double ways[MOST + 1];
	double d[N], below = 0;

	(void)state;
	ways[0] = 1;
	for (size_t r = 1; r <= N; r++)
		for (size_t s = MOST; s >= r; s--)
			ways[s] += ways[s - r];
	/* From all losses on the largest becomes a gain, and the next: gains are sums of ranks. */
	for (size_t sum = 0; sum < MOST / 2; sum++) {
		size_t left = sum;
		double truth, p;

		below += ways[sum];
		for (size_t r = N; r > 0; r--) {
			d[r - 1] = left >= r ? (double)r : -(double)r;
			left -= left >= r ? r : 0;
		}
		truth = 2 * below / ldexp(1, N);
		p = rank_test_pairs(d, N).p;
		assert_true(p > 0.9 * truth || p > 0.3);
		if (truth > 2e-4)
			assert_true(p < 1.5 * truth);
	}
}

static void test_discover(void **state)
{
	double p[] = {0.04, 0.001, 0.5, 0.01, 0.02};
	static const double q[] = {0.05, 0.005, 0.5, 0.025, 0.1 / 3};

	(void)state;
	assert_int_equal(rank_test_discover(p, 5), 0);
	for (int i = 0; i < 5; i++)
		assert_true(fabs(p[i] - q[i]) < 1e-12);
	assert_true(rank_test_least_pairs(6) >= 1.0 / 32 && rank_test_least_pairs(6) <= 1.0 / 32);
	assert_true(fabs(rank_test_least_groups(3, 3) - 0.1) < 1e-9);
}

/* ---- fleets ---- */

#define HOSTS   60
#define SOURCES 60
#define SECOND  1000000000ULL

static void add_window(struct fleet *f, uint32_t host)
{
	f->window[f->recordings++] = (struct fleet_window){
		.host = host, .observed_ns = SECOND, .kernel = "6.12", .blind = ""};
}

/* Takes ns of the last recording. */
static void add_ns(struct fleet *f, uint32_t source, double ns)
{
	struct fleet_source *s = &f->source[source];

	s->cell[s->ncells++] = (struct fleet_cell){f->recordings - 1, (uint64_t)ns};
	f->window[f->recordings - 1].lost_ns += (uint64_t)ns;
}

static void empty(struct fleet *f)
{
	static char names[SOURCES][8];

	assert_int_equal(fleet_init(f), 0);
	f->cells = true;
	f->nhosts = 2 * HOSTS;
	f->window = calloc(2 * HOSTS, sizeof(*f->window));
	assert_non_null(f->window);
	for (uint32_t s = 0; s < SOURCES; s++) {
		snprintf(names[s], sizeof(names[s]), "s%u", s);
		f->source[s].kind = SOURCE_IRQ;
		f->source[s].name = names[s];
		f->source[s].cell = calloc(2 * HOSTS, sizeof(*f->source[s].cell));
		assert_non_null(f->source[s].cell);
	}
	f->nsources = SOURCES;
}

/* A fleet: a host's load is in all its sources, windows of one host are alike, amounts spread over
 * decades, and many sources are on some hosts alone. changed: so many of the first sources take
 * four times as much in the second group; of the others none has changed. Pairs: the same hosts. */
static void draw(struct fleet *f, bool pairs, uint32_t na, uint32_t nb, uint32_t changed)
{
	double load[2 * HOSTS], own[SOURCES];

	empty(f);
	for (uint32_t h = 0; h < 2 * HOSTS; h++)
		load[h] = exp(normal());
	for (uint32_t s = 0; s < SOURCES; s++)
		own[s] = s < changed ? 1 : uniform() * uniform();
	for (uint32_t i = 0; i < na + nb; i++) {
		uint32_t host = pairs && i >= na ? i - na : i;

		add_window(f, host);
		for (uint32_t s = 0; s < SOURCES; s++)
			if (uniform() < own[s])
				add_ns(f, s,
				       1000 * load[host] * exp(1.5 * normal()) *
					       (s < changed && i >= na ? 4 : 1));
	}
}

/* Adds of sources said to have changed those that have not, and of the others those that were
 * found. */
static void judge(const struct fleet *f, uint32_t na, uint32_t changed, double *wrong,
		  double *found)
{
	uint32_t named = 0, right = 0;
	struct fleet_diff d;

	assert_int_equal(fleet_diff_make(&d, f, na), 0);
	for (uint32_t i = 0; i < d.nchanges; i++) {
		const struct fleet_change *c = &d.change[i];
		bool is = (uint32_t)(c->source - f->source) < changed;

		assert_int_equal(i < d.changed, c->verdict != DIFF_SAME);
		named += c->verdict != DIFF_SAME;
		right += is && c->verdict == DIFF_WORSE;
	}
	*wrong += named ? (double)(named - right) / named : 0;
	*found += right;
	fleet_diff_free(&d);
}

/* Over fleets the share of wrong ones among those named is 5 % at most; where nothing has changed
 * that is the share of fleets in which anything is named. It was 0.7 to 4.4 % with this seed, which
 * is fixed; 7 % leaves room for other rounding. */
static void test_unchanged(void **state)
{
	enum { FLEETS = 200 };
	static const struct {
		bool pairs;
		uint32_t na, nb, changed;
		double found; /* share of the changed, at least */
	} cases[] = {
		{true, 40, 40, 0, 0},     {true, 60, 60, 6, 0.85},  {true, 12, 12, 0, 0},
		{false, 30, 30, 0, 0},    {false, 60, 60, 6, 0.75}, {false, 60, 10, 0, 0},
		{false, 10, 60, 12, 0.1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double wrong = 0, found = 0;

		for (int n = 0; n < FLEETS; n++) {
			struct fleet f;

			draw(&f, cases[i].pairs, cases[i].na, cases[i].nb, cases[i].changed);
			judge(&f, cases[i].na, cases[i].changed, &wrong, &found);
			fleet_free(&f);
		}
		assert_true(wrong / FLEETS <= 0.07);
		assert_true(found >= cases[i].found * FLEETS * cases[i].changed);
	}
}

/* The hosts that are compared, and what is said of a source of one group. */
static void test_hosts(void **state)
{
	struct fleet f;
	struct fleet_diff d;

	(void)state;
	empty(&f);
	for (uint32_t i = 0; i < 10; i++) { /* hosts 0 ... 9, and host 0 again */
		add_window(&f, i);
		add_ns(&f, 0, 1000);
	}
	add_window(&f, 0);
	for (uint32_t i = 2; i < 12; i++) { /* hosts 2 ... 11 */
		add_window(&f, i);
		add_ns(&f, 1, 4000);
	}
	add_window(&f, 12);
	f.window[f.recordings - 1].observed_ns = 0;
	f.nhosts = 13;
	assert_int_equal(fleet_diff_make(&d, &f, 11), 0);
	assert_true(d.pairs);
	assert_int_equal(d.recordings[0], 8);
	assert_int_equal(d.recordings[1], 8);
	assert_int_equal(d.hosts[0], 8);
	assert_int_equal(d.hosts[1], 8);
	assert_int_equal(d.alone, 4);
	assert_int_equal(d.unknown, 1);
	assert_false(d.kernel.differs);
	assert_int_equal(d.changed, 2);
	assert_ptr_equal(d.change[0].source, &f.source[1]);
	assert_int_equal(d.change[0].verdict, DIFF_NEW);
	assert_int_equal(d.change[1].verdict, DIFF_GONE);
	assert_true(fabs(d.change[0].share[1] - 4e-6) < 1e-12);
	assert_true(fabs(d.total.share[0] - 1e-6) < 1e-12);
	assert_int_equal(d.total.verdict, DIFF_WORSE);
	assert_true(fleet_worse_by(&d, 299) && !fleet_worse_by(&d, 301));
	fleet_diff_free(&d);
	for (uint32_t i = 2; i < 7; i++) /* most of the first group */
		f.window[i].kernel = "6.1";
	assert_int_equal(fleet_diff_make(&d, &f, 11), 0);
	assert_true(d.kernel.differs && !d.blind.differs);
	assert_string_equal(d.kernel.most[0], "6.1");
	assert_int_equal(d.kernel.recordings[0], 5);
	fleet_diff_free(&d);
	f.recordings = 14; /* hosts 2, 3 and 4 alone are in both */
	assert_int_equal(fleet_diff_make(&d, &f, 11), -EINVAL);
	fleet_diff_free(&d);
	fleet_free(&f);
}

/* Sources that nothing can be told of: pairs are one observation each, and only if they differ. */
static void test_untested(void **state)
{
	struct fleet f;
	struct fleet_diff d;

	(void)state;
	empty(&f);
	f.source[3].others = true;
	for (uint32_t i = 0; i < 24; i++) {
		uint32_t host = i % 12, b = i >= 12;

		add_window(&f, host);
		add_ns(&f, 0, host < 6 ? 1000 + 1000 * b : 0); /* on six hosts */
		add_ns(&f, 1, host < 5 ? 1000 + 1000 * b : 0); /* on five, of each group */
		add_ns(&f, 2, host < 5 ? 1000 + 1000 * b : 1000);
		add_ns(&f, 3, 1000 + 1000 * b);
	}
	assert_int_equal(fleet_diff_make(&d, &f, 12), 0);
	assert_true(d.pairs);
	assert_int_equal(d.nchanges, 4);
	assert_int_equal(d.tested, 1);
	assert_int_equal(d.others, 1);
	for (uint32_t i = 0; i < d.nchanges; i++)
		assert_int_equal(d.change[i].tested, d.change[i].source == &f.source[0]);
	fleet_diff_free(&d);
	fleet_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs),    cmocka_unit_test(test_groups),
		cmocka_unit_test(test_share),    cmocka_unit_test(test_many),
		cmocka_unit_test(test_discover), cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_untested), cmocka_unit_test(test_unchanged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
