/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows of an unchanged machine differ by more than chance within them. These tests count how
 * often diff calls that a change, over made windows with such differences and over 220 recorded
 * ones, and check that it still sees real changes. The seeds are fixed: every run has the same
 * windows.
 *
 * The recorded ones (tests/fixtures/diff/unchanged.tsv has their totals): 2 s each, one after the
 * other, of one CPU of a guest with two, nothing changed about it, while compilers, package
 * managers and tests ran there in turn. As 110 pairs, with a look at each row of the comparison:
 *
 *                                      pairs whose total      pairs with a source
 *                                      is better or worse     that is not the same
 *   chance within the windows alone            31                      61
 *   two windows may differ by 3, and
 *   1,000 intervals at least                    1                       3  (the rest are "unclear")
 *   --fail-if-worse 1 exits with 2              0
 *
 *   in turn, recordings a side    comparisons   total better or worse   with a source
 *                 2                   55                0                     0
 *                 3                   36                1                     0
 *                 4                   27                0                     0
 *                 5                   22                0                     0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "model/diff.h"
#include "../world/made.h"

#define LEVEL   0.05
#define WINDOWS 220
#define PARTS   16
#define EACH    8 /* recordings a side, at most */

static const unsigned one_cpu[] = {3};
static struct view view[2 * EACH];
static struct diff d;
static bool real_time; /* the samplers */

/* Probability of `least` or more of n. */
static double binomial_tail(unsigned least, unsigned n, double p)
{
	double sum = 0;

	for (unsigned k = least; k <= n; k++)
		sum += exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) + k * log(p) +
			   (n - k) * log1p(-p));
	return sum;
}

/* Checks that so many wrong ones of n are compatible with the level: chance makes more once in a
 * thousand. */
static void check_rate(const char *what, unsigned wrong, unsigned n)
{
	if (wrong && binomial_tail(wrong, n, LEVEL) < 1e-3)
		fail_msg("%s: %u of %u comparisons of unchanged windows", what, wrong, n);
}

/* view[0 .. 2 each) were made one after the other: A B A B, or all of A first. */
static void compare(unsigned each, bool in_turn, double between)
{
	const struct view *views[2][EACH];
	struct diff_side side[2] = {{views[0], each}, {views[1], each}};

	for (unsigned i = 0; i < 2 * each; i++) {
		snprintf(view[i].run.started, sizeof(view[i].run.started),
			 "2026-01-02T03:04:%02u.000000006Z", i);
		view[i].run.real_time = real_time;
		views[in_turn ? i % 2 : i / each][in_turn ? i / 2 : i % each] = &view[i];
	}
	assert_int_equal(diff_make(&d, side, 2, between), 0);
	assert_int_equal(d.in_turn[1], in_turn && each > 1);
}

static void forget(unsigned each)
{
	diff_free(&d);
	for (unsigned i = 0; i < 2 * each; i++)
		view_free(&view[i]);
}

static bool told(enum diff_verdict v)
{
	return v != DIFF_SAME && v != DIFF_UNCLEAR;
}

static unsigned sources_told(void)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < d.rows; i++)
		n += told(d.row[i].cell[1].verdict);
	return n;
}

static enum diff_verdict verdict_on(const char *name)
{
	for (uint32_t i = 0; i < d.rows; i++)
		if (!strcmp(d.row[i].name, name))
			return d.row[i].cell[1].verdict;
	fail_msg("no row %s", name);
	return DIFF_SAME;
}

static void check_verdict(enum diff_verdict got, enum diff_verdict want)
{
	assert_string_equal(diff_verdict_name(got), diff_verdict_name(want));
}

/* ---- made windows ---- */

/* Jobs that come and go: two seconds of work, and four without, whatever the window's length. */
static void run_jobs(struct view *v, double seconds, double per_s, uint32_t id, const char *name,
		     double mean_ns)
{
	bool on = uniform() < 1.0 / 3;

	for (double at = 0, until; at < seconds; at = until, on = !on) {
		until = at - (on ? 2 : 4) * log(uniform());
		for (double t = at - log(uniform()) / per_s; on && t < until && t < seconds;
		     t -= log(uniform()) / per_s)
			run_add(v, 0, t, SOURCE_THREAD, id, name, NULL,
				1 - mean_ns * log(uniform()));
	}
}

/* Makes one window: the machine's speed and its host drift, jobs come and go; job_ns is the length
 * of a job's intervals. */
static void make_window(struct view *v, double seconds, double drift, double job_ns)
{
	double speed = exp(drift * normal());

	run_init(v, one_cpu, 1, seconds);
	for (double at = 0.001; at < seconds; at += 0.004)
		run_add(v, 0, at, SOURCE_VECTOR, 236, "local_timer", "tick_nohz_handler",
			speed * (2000 + 500 * uniform()));
	run_noise(v, 0, 1000 * exp(drift * normal()), 1, SOURCE_OUTSIDE, 0,
		  "hardware or hypervisor", NULL, speed * 5000);
	run_noise(v, 0, 100 * exp(drift * normal()), 50, SOURCE_SOFTIRQ, 3, "NET_RX", NULL,
		  speed * 8000);
	run_noise(v, 0, 3, 1, SOURCE_THREAD, 800, "kworker/3:1", "vmstat_update", 6000);
	run_jobs(v, seconds, 80, 4000, "cc1", job_ns);
	run_jobs(v, seconds, 300, 4001, "find", 20000);
}

/* Twice the loss of a thing this large: two windows differ by less than diff assumes. */
#define SMALL_NS 80e3
/* More than that: only recordings made in turn tell it from a change. */
#define LARGE_NS 3e6

/* Counts over many comparisons of `each` a side. */
static void count_false(const char *what, unsigned n, unsigned each, double seconds, double drift)
{
	unsigned totals = 0, sources = 0, failed = 0;

	for (unsigned i = 0; i < n; i++) {
		for (unsigned k = 0; k < 2 * each; k++)
			make_window(&view[k], seconds, drift, each > 1 ? LARGE_NS : SMALL_NS);
		compare(each, true, DIFF_BETWEEN);
		totals += told(d.total[1].verdict);
		sources += sources_told() > 0;
		failed += diff_worse_by(&d, 1, 1);
		forget(each);
	}
	check_rate(what, totals, n);
	check_rate(what, sources, n);
	check_rate(what, failed, n);
}

static void test_unchanged(void **state)
{
	(void)state;
	seed = 20260105;
	count_false("a pair, no drift", 200, 1, 2, 0);
	count_false("a pair, with drift", 200, 1, 2, 0.25);
	count_false("a longer pair, with drift", 60, 1, 10, 0.25);
	count_false("two each", 100, 2, 2, 0.25);
	count_false("three each", 100, 3, 2, 0.25);
	count_false("five each", 60, 5, 2, 0.25);
	count_false("five each, with more drift", 60, 5, 2, 0.6);
}

/* ---- recorded windows ---- */

/* Adds `count` hiccups of the same length except the longest, spread over their part of the
 * window. */
static void add_part(struct view *v, double from_s, double length_s, uint64_t count, uint64_t sum,
		     uint64_t longest)
{
	for (uint64_t i = 0; i < count; i++) {
		double at = from_s + length_s * (i + 0.5) / count;

		run_add(v, 0, at, SOURCE_OUTSIDE, 0, "x", NULL,
			i == count / 2 || count < 2 ? longest : (sum - longest) / (count - 1));
	}
}

static bool read_window(FILE *f, struct view *v)
{
	unsigned long long window_ns, count, sum, longest;

	while (fscanf(f, " #%*[^\n]") == 0 && !feof(f)) {
		if (fscanf(f, "%llu", &window_ns) != 1)
			continue;
		run_init(v, one_cpu, 1, window_ns / 1e9);
		for (unsigned i = 0; i < PARTS; i++) {
			if (fscanf(f, "%llu %llu %llu", &count, &sum, &longest) != 3)
				fail_msg("unchanged.tsv is cut off");
			add_part(v, window_ns / 1e9 * i / PARTS, window_ns / 1e9 / PARTS, count,
				 sum, longest);
		}
		return true;
	}
	return false;
}

static unsigned recorded(unsigned each, double between, bool *fails)
{
	FILE *f = fopen("tests/fixtures/diff/unchanged.tsv", "re");
	unsigned n = 0, totals = 0, failed = 0;

	assert_non_null(f);
	for (; n < WINDOWS / (2 * each); n++) {
		for (unsigned k = 0; k < 2 * each; k++)
			assert_true(read_window(f, &view[k]));
		compare(each, true, between);
		totals += told(d.total[1].verdict);
		failed += diff_worse_by(&d, 1, 1);
		forget(each);
	}
	fclose(f);
	*fails = binomial_tail(failed, n, LEVEL) < 1e-3;
	return totals;
}

static void test_recorded(void **state)
{
	bool fails;

	(void)state;
	assert_true(binomial_tail(recorded(1, 1, &fails), 110, LEVEL) <
		    1e-6); /* chance alone does not do */
	assert_true(fails);
	for (unsigned each = 1; each <= 5; each++) {
		unsigned wrong = recorded(each, DIFF_BETWEEN, &fails);

		check_rate("recorded", wrong, WINDOWS / (2 * each));
		assert_false(fails);
	}
}

/* ---- real changes ---- */

/* Adds a source that comes 100 times a second, in the windows of B `times` as often. */
static void make_changed(unsigned each, double seconds, double times)
{
	for (unsigned k = 0; k < 2 * each; k++) {
		make_window(&view[k], seconds, 0.1, SMALL_NS);
		run_noise(&view[k], 0, k % 2 ? 100 * times : 100, 1, SOURCE_IRQ, 24, "eth0", NULL,
			  20000);
	}
}

/* Twice as often, of two hundred in a window: three recordings a side mostly show it, and five
 * nearly always. */
static void test_doubled(void **state)
{
	static const struct {
		unsigned each, least; /* numbers of forty */
	} rows[] = {{3, 24}, {4, 36}, {5, 38}};

	(void)state;
	seed = 20260106;
	for (unsigned r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		unsigned seen = 0;

		for (unsigned i = 0; i < 40; i++) {
			make_changed(rows[r].each, 2, 2);
			compare(rows[r].each, true, DIFF_BETWEEN);
			seen += verdict_on("eth0") == DIFF_WORSE;
			forget(rows[r].each);
		}
		if (seen < rows[r].least)
			fail_msg("%u each: %u of 40 are seen", rows[r].each, seen);
	}
}

/* Number of pairs, of forty, with this verdict. */
static unsigned count_pairs(double seconds, double times, double between, enum diff_verdict verdict)
{
	unsigned seen = 0;

	for (unsigned i = 0; i < 40; i++) {
		make_changed(1, seconds, times);
		compare(1, true, between);
		seen += verdict_on("eth0") == verdict;
		forget(1);
	}
	return seen;
}

/* One recording a side does not show that, and says so; windows that differ by chance alone do, and
 * so does a change larger than assumed. */
static void test_doubled_pair(void **state)
{
	(void)state;
	seed = 20260107;
	assert_true(count_pairs(2, 2, DIFF_BETWEEN, DIFF_UNCLEAR) >= 38);
	assert_true(count_pairs(2, 2, 1.2, DIFF_UNCLEAR) >= 38); /* hundreds may be any program's */
	assert_true(count_pairs(2, 2, 1, DIFF_WORSE) >= 38);
	real_time = true; /* no program's */
	assert_true(count_pairs(2, 2, 1.2, DIFF_WORSE) >= 30);
	real_time = false;
	assert_true(count_pairs(10, 10, DIFF_BETWEEN, DIFF_WORSE) >=
		    38); /* a thousand, and ten thousand */
}

/* Recordings not made in turn show no more than a pair: drift coincides with the change. */
static void test_not_in_turn(void **state)
{
	(void)state;
	seed = 20260108;
	for (unsigned k = 0; k < 8; k++) {
		make_window(&view[k], 2, 0, SMALL_NS);
		run_noise(&view[k], 0, k < 4 ? 100 : 200, 1, SOURCE_IRQ, 24, "eth0", NULL, 20000);
	}
	compare(4, false, DIFF_BETWEEN);
	check_verdict(verdict_on("eth0"), DIFF_UNCLEAR);
	forget(4);
}

/* Gone after thousands of intervals is gone, however little time they took and whatever else
 * drifts. */
static void test_gone(void **state)
{
	enum diff_verdict v;

	(void)state;
	seed = 20260109;
	for (unsigned i = 0; i < 40; i++) {
		make_window(&view[0], 10, 0.25, SMALL_NS);
		make_window(&view[1], 10, 0.25, SMALL_NS);
		run_noise(&view[0], 0, 200, 1, SOURCE_IRQ, 24, "eth0", NULL, 150);
		compare(1, true, DIFF_BETWEEN);
		check_verdict(verdict_on("eth0"), DIFF_GONE);
		diff_free(&d);
		run_noise(&view[1], 0, 0.3, 1, SOURCE_IRQ, 24, "eth0", NULL,
			  150); /* one may be left */
		compare(1, true, DIFF_BETWEEN);
		v = verdict_on("eth0");
		assert_true(v == DIFF_GONE || v == DIFF_BETTER);
		forget(1);
	}
}

/* Ten times the lost time fails a gate that allows half as much again, with one recording a
 * side. */
static void test_gate(void **state)
{
	(void)state;
	seed = 20260110;
	for (unsigned k = 0; k < 2; k++) {
		run_init(&view[k], one_cpu, 1, 10);
		run_noise(&view[k], 0, k ? 5000 : 500, 1, SOURCE_IRQ, 24, "eth0", NULL, 20000);
	}
	compare(1, true, DIFF_BETWEEN);
	assert_true(diff_worse_by(&d, 1, 50));
	assert_false(diff_worse_by(&d, 1, 2000));
	forget(1);
}

/* Differences between the recordings of a side are reported; people read the first of many. */
static void test_unlike(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 4; k++)
		run_init(&view[k], one_cpu, 1, 2);
	strcpy(view[2].host.kernel, "6.12.99");
	strcpy(view[3].host.cmdline, "quiet a b c d e f g h i");
	view[3].cpu[0].threshold_ns = 900;
	compare(2, true, DIFF_BETWEEN);
	assert_string_equal(d.unlike[0], "kernel");
	assert_int_equal(d.unlikes[0], 1);
	assert_int_equal(d.unlike_shown[0], strlen("kernel"));
	assert_int_equal(d.unlikes[1], 10);
	assert_string_equal(d.unlike[1] + d.unlike_shown[1], ", cmdline i, threshold");
	forget(2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unchanged),   cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_doubled),     cmocka_unit_test(test_doubled_pair),
		cmocka_unit_test(test_not_in_turn), cmocka_unit_test(test_gone),
		cmocka_unit_test(test_gate),        cmocka_unit_test(test_unlike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
