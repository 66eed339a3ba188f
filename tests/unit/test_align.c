/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clocks of a guest and of its host, matched by gaps, drawn and recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../world/chance.h"
#include "model/align_state.h"

#define US      1000ULL
#define MS      1000000ULL
#define S       1000000000ULL
#define LANES   4
#define CASES   100
#define RELATED 40
#define SLEW    150e-6

/* Gaps of both sides, as each sees them. */
static struct align_gaps guest[LANES], host[LANES];
static struct align_lane lane[LANES];
static struct alignment found;

/* The host's clock: its offset, its drift, and the time that the guest was suspended by `after`. */
static struct {
	uint64_t offset_ns;
	double drift;
	uint64_t after_ns, suspended_ns;
	uint64_t slewed_ns; /* from then on it is faster by SLEW, for a second; 0: never */
} clocks;

static int begin(void **state)
{
	(void)state;
	clocks.offset_ns = 5000 * S + 123456789;
	clocks.drift = 0;
	clocks.after_ns = UINT64_MAX;
	clocks.suspended_ns = clocks.slewed_ns = 0;
	for (int i = 0; i < LANES; i++) {
		guest[i] = host[i] = (struct align_gaps){.most = 65536};
		lane[i] = (struct align_lane){&guest[i], &host[i]};
	}
	return 0;
}

static int end(void **state)
{
	(void)state;
	for (int i = 0; i < LANES; i++) {
		align_gaps_free(&guest[i]);
		align_gaps_free(&host[i]);
	}
	align_free(&found);
	return 0;
}

static uint64_t slewed(uint64_t t)
{
	uint64_t since = clocks.slewed_ns && t > clocks.slewed_ns ? t - clocks.slewed_ns : 0;

	return SLEW * (double)(since < S ? since : S);
}

static uint64_t truth(uint64_t t)
{
	return slewed(t) + t + clocks.offset_ns + (int64_t)(clocks.drift * (double)(t - 100 * S)) +
	       (t > clocks.after_ns ? clocks.suspended_ns : 0);
}

/* The guest sees a little more than the host, and both a little late. */
static void both(int i, uint64_t t, uint64_t length)
{
	align_gaps_add(&guest[i], t + below(2 * US), length + 3 * US + below(2 * US));
	align_gaps_add(&host[i], truth(t) + below(2 * US), length);
}

/* Noise as it comes: of any length, at any time. */
static uint64_t some_length(void)
{
	return one_in(4) ? 100 * US + below(3 * MS) : 10 * US + below(90 * US);
}

static uint64_t pause_of(uint64_t mean)
{
	return 2 * MS + (uint64_t)(-log(uniform()) * mean);
}

/* missed: one in so many is not seen by the guest, or by the host, and as many are its own. */
static void random_noise(uint64_t from, uint64_t to, uint64_t mean, unsigned lanes, unsigned missed)
{
	for (unsigned i = 0; i < lanes; i++)
		for (uint64_t t = from + pause_of(mean); t < to; t += 5 * MS + pause_of(mean)) {
			uint64_t length = some_length(), which = missed ? below(missed) : 9;

			if (which == 0)
				align_gaps_add(&guest[i], t, length);
			else if (which == 1)
				align_gaps_add(&host[i], truth(t), length);
			else
				both(i, t, length);
		}
}

static void match(void)
{
	uint64_t work = UINT64_MAX;

	align_free(&found);
	assert_int_equal(align(lane, LANES, &work, &found), 0);
	/* a match has at least four times as much (through_match.c) */
	assert_in_range(UINT64_MAX - work, 0, 100000000);
}

/* The farthest that the found clock is from the true one in [from, to]. */
static uint64_t wrong_by(uint64_t from, uint64_t to)
{
	uint64_t most = 0;

	for (uint64_t t = from; t <= to; t += (to - from) / 1000) {
		uint64_t is, ought = truth(t);

		if (!align_host_time(&found, t, &is))
			return UINT64_MAX;
		if ((is > ought ? is - ought : ought - is) > most)
			most = is > ought ? is - ought : ought - is;
	}
	return most;
}

static void finds_offset_and_drift(void **state)
{
	static const double drift[] = {-39e-6, 0, 12e-6, 210e-6};

	(void)state;
	for (int k = 0; k < 4; k++) {
		end(NULL);
		begin(NULL);
		clocks.drift = drift[k];
		random_noise(100 * S, 160 * S, 100 * MS, 2, 0);
		match();
		assert_int_equal(found.verdict, ALIGN_FOUND);
		assert_in_range(wrong_by(101 * S, 159 * S), 0, 5 * US);
		assert_in_range(found.residual_ns, 0, 5 * US);
		assert_int_equal(found.matched, found.gaps);
	}
}

/* One in ten of the gaps is the guest's alone, one in ten the host's. */
static void bears_missing_gaps(void **state)
{
	(void)state;
	clocks.drift = -39e-6;
	random_noise(100 * S, 400 * S, 200 * MS, LANES, 10);
	match();
	assert_int_equal(found.verdict, ALIGN_FOUND);
	assert_in_range(wrong_by(101 * S, 399 * S), 0, 5 * US);
	assert_in_range(found.matched, found.gaps * 8 / 10, found.gaps * 19 / 20);
}

static void clocks_may_be_hours_apart(void **state)
{
	static const uint64_t apart[] = {90000 * S, -90 * S, -(uint64_t)1, 0};

	(void)state;
	for (int k = 0; k < 4; k++) {
		end(NULL);
		begin(NULL);
		clocks.offset_ns = apart[k];
		random_noise(100 * S, 120 * S, 100 * MS, 1, 0);
		match();
		assert_int_equal(found.verdict, ALIGN_FOUND);
		assert_in_range(wrong_by(101 * S, 119 * S), 0, 5 * US);
	}
}

/* With too little work left nothing is known, and nothing is said. */
static void stops_when_work_is_used_up(void **state)
{
	uint64_t work[] = {1, 100000, 1000000};

	(void)state;
	random_noise(100 * S, 160 * S, 50 * MS, LANES, 0);
	match();
	assert_int_equal(found.verdict, ALIGN_FOUND);
	for (int k = 0; k < 3; k++) {
		align_free(&found);
		assert_int_equal(align(lane, LANES, &work[k], &found), 0);
		assert_int_equal(found.verdict, ALIGN_MUCH);
		assert_int_equal(found.npieces, 0);
		assert_int_equal(work[k], 0);
	}
}

/* The same every 10 ms: it fits as well one period later. */
static void refuses_periodic_noise(void **state)
{
	(void)state;
	for (uint64_t t = 100 * S; t < 120 * S; t += 10 * MS)
		both(0, t, 200 * US);
	match();
	assert_int_equal(found.verdict, ALIGN_AMBIGUOUS);
	assert_int_equal(found.npieces, 0);
	/* a few that are not periodic tell which one it is */
	random_noise(100 * S, 120 * S, 100 * MS, 1, 0);
	match();
	assert_int_equal(found.verdict, ALIGN_FOUND);
	assert_in_range(wrong_by(101 * S, 119 * S), 0, 5 * US);
}

/* While a guest is suspended its clock stands still. */
static void follows_a_suspended_guest(void **state)
{
	uint64_t host_ns;

	(void)state;
	clocks.after_ns = 150 * S;
	clocks.suspended_ns = 20 * S + 7654321;
	clocks.drift = -39e-6;
	random_noise(100 * S, 200 * S, 100 * MS, 2, 10);
	match();
	assert_int_equal(found.verdict, ALIGN_FOUND);
	assert_in_range(wrong_by(101 * S, 149 * S), 0, 5 * US);
	assert_in_range(wrong_by(151 * S, 199 * S), 0, 5 * US);
	/* far beyond the last gap nothing is known */
	assert_false(align_host_time(&found, 300 * S, &host_ns));
}

/* NTP slews the host's clock for a second: where gaps are dense the line follows. */
static void follows_a_slewed_clock(void **state)
{
	(void)state;
	clocks.drift = -39e-6;
	clocks.slewed_ns = 110 * S + 300 * MS;
	random_noise(100 * S, 125 * S, MS, LANES, 20);
	match();
	assert_int_equal(found.verdict, ALIGN_FOUND);
	assert_in_range(wrong_by(100 * S, 125 * S), 0, 25 * US);
	assert_in_range(wrong_by(113 * S, 125 * S), 0, 5 * US);
}

static void refuses_too_few_gaps(void **state)
{
	(void)state;
	match();
	assert_int_equal(found.verdict, ALIGN_FEW);
	both(0, 100 * S, 3 * MS);
	match();
	assert_int_equal(found.verdict, ALIGN_FEW);
	random_noise(101 * S, 102 * S, 100 * MS, 1, 0);
	match();
	assert_int_not_equal(found.verdict, ALIGN_FOUND);
	assert_int_equal(found.npieces, 0);
}

/* Two recordings that have nothing to do with each other, of every kind: sparse, dense, in bursts,
 * periodic on one side or on both. */
static void unrelated(unsigned seed_of)
{
	uint64_t mean = (10 + below(200)) * MS, period = (1 + below(20)) * MS;
	uint64_t seconds = 5 + below(60);

	for (int side = 0; side < 2; side++) {
		struct align_gaps *g = side ? host : guest;

		for (int i = 0; i < 2; i++) {
			uint64_t t = 100 * S + below(S), to = t + seconds * S;

			while (t < to) {
				uint64_t length = some_length();

				if (seed_of % 4 == 1)
					length = 100 * US + below(3 * US);
				align_gaps_add(&g[i], t, length);
				t += seed_of % 4 == 2 ? period + below(2 * US)
				     : seed_of % 4 == 3 && !one_in(20)
					     ? length + 100 * US + below(MS)
					     : length + pause_of(mean);
			}
		}
	}
}

static void refuses_unrelated_recordings(void **state)
{
	unsigned refused = 0;

	(void)state;
	for (unsigned k = 0; k < CASES; k++) {
		end(NULL);
		begin(NULL);
		seed = 0x9e3779b97f4a7c15ULL * (k + 1);
		unrelated(k);
		match();
		refused += found.verdict != ALIGN_FOUND && !found.npieces;
	}
	assert_int_equal(refused, CASES);
}

/* With a relation they are all found, and right. */
static void finds_related_recordings(void **state)
{
	unsigned right = 0;

	(void)state;
	for (unsigned k = 0; k < RELATED; k++) {
		end(NULL);
		begin(NULL);
		seed = 0x9e3779b97f4a7c15ULL * (k + 1);
		clocks.offset_ns = random64() >> 16;
		clocks.drift = (uniform() - 0.5) * 4e-4;
		random_noise(100 * S, (115 + below(60)) * S, (30 + below(70)) * MS, 2, 10);
		match();
		right += found.verdict == ALIGN_FOUND && wrong_by(101 * S, 114 * S) <= 5 * US;
	}
	assert_int_equal(right, RELATED);
}

/* ---- recorded ---- */

/* Gaps of a guest's CPU, of its thread on the host, and of the thread of another CPU of the same
 * guest, for 10 s in which threads, interrupts and softirqs took the host's CPU at random. */
#define GAPS "tests/fixtures/gaps"
static struct align_gaps recorded[3];

static void read_gaps(void)
{
	static const char *const sides[] = {"guest", "host", "other"};
	unsigned long long at, length;
	FILE *f = fopen(GAPS, "re");
	char side[8];

	assert_non_null(f);
	memset(recorded, 0, sizeof(recorded));
	while (fscanf(f, "%7s %llu %llu", side, &at, &length) == 3)
		for (int i = 0; i < 3; i++)
			if (!strcmp(side, sides[i])) {
				recorded[i].most = 65536;
				align_gaps_add(&recorded[i], at, length);
			}
	fclose(f);
}

/* Copies those of [from, to) with another clock. Reversed: time runs backwards. Shuffled: the times
 * between them come in another order. */
static void copy(struct align_gaps *to, const struct align_gaps *g, uint64_t since, uint64_t until,
		 bool reversed, bool shuffled)
{
	uint64_t at = below(1000 * S), *pause = calloc(g->n + 1, sizeof(*pause));
	uint32_t n = 0, first = align_gaps_before(g, since);

	assert_non_null(pause);
	while (first + n < g->n && g->gap[first + n].start_ns < until)
		n++;
	for (uint32_t i = 0; i + 1 < n; i++)
		pause[i] = g->gap[first + i + 1].start_ns - g->gap[first + i].start_ns -
			   g->gap[first + i].length_ns;
	for (uint32_t i = n; shuffled && i > 2; i--) {
		uint32_t k = below(i - 1);
		uint64_t other = pause[k];

		pause[k] = pause[i - 2];
		pause[i - 2] = other;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = reversed ? n - 1 - i : i;
		uint64_t length = g->gap[first + k].length_ns;

		align_gaps_add(to, at, length);
		at += length + (reversed ? (k ? pause[k - 1] : 0) : pause[k]);
	}
	free(pause);
}

static void pair_wrongly(unsigned k)
{
	uint64_t since = below(3 * S), split = (4 + below(3)) * S, until = 11 * S + below(S);

	switch (k % 5) {
	case 0: /* the part before, and the part after */
		copy(&guest[0], &recorded[0], 0, split, false, false);
		copy(&host[0], &recorded[1], split + 2 * S, UINT64_MAX, false, false);
		break;
	case 1:
		copy(&guest[0], &recorded[0], split, UINT64_MAX, false, false);
		copy(&host[0], &recorded[1], 0, split, false, false);
		break;
	case 2: /* backwards */
		copy(&guest[0], &recorded[0], since, until, false, false);
		copy(&host[0], &recorded[1], since, until, true, false);
		break;
	case 3:
		copy(&guest[0], &recorded[0], since, until, false, false);
		copy(&host[0], &recorded[1], since, until, false, true);
		break;
	default: /* another CPU's */
		copy(&guest[0], &recorded[0], since, until, false, false);
		copy(&host[0], &recorded[2], below(3 * S), until, false, false);
	}
}

/* Recorded gaps match, and in a wrong pair, of which there are 100, they never do. */
static void refuses_wrong_pairs(void **state)
{
	unsigned refused = 0, right = 0;

	(void)state;
	read_gaps();
	for (unsigned k = 0; k < CASES; k++) {
		end(NULL);
		begin(NULL);
		seed = 0x9e3779b97f4a7c15ULL * (k + 1);
		pair_wrongly(k);
		match();
		refused += found.verdict != ALIGN_FOUND && !found.npieces;
		end(NULL);
		begin(NULL);
		copy(&guest[0], &recorded[0], below(3 * S), UINT64_MAX, false, false);
		copy(&host[0], &recorded[1], below(3 * S), UINT64_MAX, false, false);
		match();
		right += found.verdict == ALIGN_FOUND;
	}
	for (int i = 0; i < 3; i++)
		align_gaps_free(&recorded[i]);
	assert_int_equal(refused, CASES);
	assert_int_equal(right, CASES);
}

/* With room for few the longest stay, in order. */
static void keeps_the_longest_gaps(void **state)
{
	struct align_gaps g = {.most = 8};

	(void)state;
	for (uint64_t k = 1; k <= 100; k++)
		align_gaps_add(&g, k, k * 37 % 101);
	assert_in_range(g.n, 4, 8);
	for (uint32_t i = 1; i < g.n; i++)
		assert_true(g.gap[i].start_ns > g.gap[i - 1].start_ns);
	for (uint32_t i = 0; i < g.n; i++)
		assert_in_range(g.gap[i].length_ns, 89, 100);
	align_gaps_free(&g);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(follows_a_slewed_clock),       TEST(finds_offset_and_drift),
		TEST(bears_missing_gaps),           TEST(clocks_may_be_hours_apart),
		TEST(stops_when_work_is_used_up),   TEST(refuses_periodic_noise),
		TEST(follows_a_suspended_guest),    TEST(refuses_too_few_gaps),
		TEST(refuses_unrelated_recordings), TEST(finds_related_recordings),
		TEST(keeps_the_longest_gaps),       TEST(refuses_wrong_pairs),
	};

	return cmocka_run_group_tests_name("align", tests, NULL, NULL);
}
