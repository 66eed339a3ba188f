/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clocks of a guest and of its host by their counters: the scaling and the offset that KVM
 * applies, readings of both sides, and gaps that confirm or refute what follows from these. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "../world/chance.h"
#include "model/align.h"
#include "model/readings.h"

#define US 1000ULL
#define MS 1000000ULL
#define S  1000000000ULL

/* As kvm_read_l1_tsc() computes it (arch/x86/kvm/x86.c: mul_u64_u64_shr and the offset). */
static uint64_t in_guest(const struct counter_rule *r, uint64_t host)
{
	return (uint64_t)((unsigned __int128)host * r->ratio >> r->fraction) + r->offset;
}

/* Ratios as KVM sets them: guest kHz / host kHz, with 48 bits of fraction on Intel (VMX) and 32 on
 * AMD (SVM); and none. */
static const struct counter_rule rules[] = {
	{1, 0, 0},
	{1, -(uint64_t)987654321012345, 0},
	{(uint64_t)(((unsigned __int128)2000000 << 48) / 2893202), 12345, 48},
	{(uint64_t)(((unsigned __int128)3600000 << 48) / 2400000), -(uint64_t)7 * S, 48},
	{(uint64_t)(((unsigned __int128)2000000 << 32) / 2893202), -(uint64_t)55, 32},
	{(uint64_t)(((unsigned __int128)2500000 << 32) / 1250000), 1, 32},
	{1ULL << 48, 1ULL << 63, 48},
};
#define RULES (sizeof(rules) / sizeof(rules[0]))

/* Back from the guest's counter is where it came from, to the ticks that scaling drops. */
static void undoes_what_kvm_does(void **state)
{
	(void)state;
	for (size_t i = 0; i < RULES; i++)
		for (int k = 0; k < 1000; k++) {
			/* up to forty years of 3 GHz */
			uint64_t host = (((uint64_t)below(1U << 31) << 31) ^ below(1U << 31));
			uint64_t back = counter_on_host(&rules[i], in_guest(&rules[i], host));
			double ticks = (double)(1ULL << rules[i].fraction) / (double)rules[i].ratio;

			assert_in_range(host - back, 0, (uint64_t)ticks + 1);
		}
}

static struct {
	double host_ghz, slew; /* slew: NTP's on the guest, in parts */
	struct counter_rule rule;
	uint64_t booted_ns; /* the host's time when the guest's was 0 */
} world;

static uint64_t host_tick(uint64_t host_ns)
{
	return (uint64_t)(world.host_ghz * (double)host_ns);
}

/* The host's time when the guest's clock shows this: it goes slower by `slew` from 50 s on. */
static uint64_t truth(uint64_t guest_ns)
{
	return world.booted_ns + guest_ns +
	       (guest_ns > 50 * S ? (uint64_t)(world.slew * (double)(guest_ns - 50 * S)) : 0);
}

static struct readings guest, host;
static struct align_piece piece[READINGS_MOST];

/* Readings each second, 100 s long. ptp: the guest reads the host's wall clock. */
static void read_all(bool ptp)
{
	guest = host = (struct readings){0};
	for (uint64_t t = 10 * S; t <= 110 * S; t += S) {
		uint64_t there = truth(t) + 500 * MS;

		readings_add(&guest,
			     &(struct reading_of_clocks){
				     t, ptp ? 0 : in_guest(&world.rule, host_tick(truth(t))), 77,
				     ptp ? truth(t) + 1700000000 * S : 0});
		readings_add(&host, &(struct reading_of_clocks){there, host_tick(there),
								there + 1700000000 * S, 0});
	}
}

static uint64_t wrong_by(const struct alignment *a)
{
	uint64_t most = 0;

	for (uint64_t t = 11 * S; t < 109 * S; t += 97 * MS) {
		uint64_t is, ought = truth(t);

		if (!align_host_time(a, t, &is))
			return UINT64_MAX;
		if ((is > ought ? is - ought : ought - is) > most)
			most = is > ought ? is - ought : ought - is;
	}
	return most;
}

static int begin(void **state)
{
	(void)state;
	seed = 88172645463325252ULL;
	world.host_ghz = 2.893202;
	world.slew = 40e-6;
	world.rule = rules[2];
	world.booted_ns = 86400 * S + 123456789;
	return 0;
}

/* A slew of 40 ppm begins between two readings: it is followed within the second or two that they
 * are apart. */
static void follows_the_counter(void **state)
{
	enum readings_by by;

	(void)state;
	for (size_t i = 0; i < RULES; i++) {
		struct alignment a = {.piece = piece};

		world.rule = rules[i];
		/* a counter that begins at 2^63 wraps in no run */
		read_all(false);
		a.npieces = readings_line(&guest, &host, &world.rule, piece, &by);
		assert_int_equal(by, READINGS_COUNTER);
		assert_int_equal(a.npieces, guest.n - 1);
		assert_in_range(guest.n, READINGS_MOST / 2, READINGS_MOST);
		assert_in_range(wrong_by(&a), 0, 40 * US);
		world.slew = 0;
		read_all(false);
		a.npieces = readings_line(&guest, &host, &world.rule, piece, &by);
		assert_in_range(wrong_by(&a), 0, 10); /* whole ticks */
		world.slew = 40e-6;
	}
}

static void follows_the_hosts_clock(void **state)
{
	struct alignment a = {.piece = piece};
	enum readings_by by;

	(void)state;
	world.slew = 0;
	read_all(true);
	a.npieces = readings_line(&guest, &host, NULL, piece, &by);
	assert_int_equal(by, READINGS_PTP);
	assert_in_range(wrong_by(&a), 0, 10);
}

/* A rule that does not belong to these readings, none, or too few of them. */
static void knows_when_it_does_not_know(void **state)
{
	const struct counter_rule wrong = {3, 0, 1};
	enum readings_by by;

	(void)state;
	read_all(false);
	assert_int_equal(readings_line(&guest, &host, &wrong, piece, &by), 0);
	assert_int_equal(by, READINGS_NONE);
	assert_int_equal(readings_line(&guest, &host, &(struct counter_rule){0}, piece, &by), 0);
	assert_int_equal(readings_line(&guest, &host, NULL, piece, &by), 0);
	host.n = 1;
	assert_int_equal(readings_line(&guest, &host, &world.rule, piece, &by), 0);
	host.n = 2;
	guest.n = 1;
	assert_int_equal(readings_line(&guest, &host, &world.rule, piece, &by), 0);
	guest.n = 0;
	assert_int_equal(readings_line(&guest, &host, &world.rule, piece, &by), 0);
}

/* Readings of a day stay within their bound, over all of it. */
static void keeps_all_of_a_long_run(void **state)
{
	struct readings r = {0};

	(void)state;
	for (uint64_t t = S; t < 86400 * S; t += 250 * MS)
		if (readings_due(&r, t))
			assert_true(readings_add(&r, &(struct reading_of_clocks){t, t, t, 0}));
	assert_in_range(r.n, READINGS_MOST / 2, READINGS_MOST);
	assert_int_equal(r.row[0].ns, S);
	assert_true(r.row[r.n - 1].ns > 86400 * S - 2 * r.apart_ns);
	/* none goes back */
	assert_false(readings_add(&r, &(struct reading_of_clocks){S, 90000 * S, S, 0}));
	assert_false(readings_add(&r, &(struct reading_of_clocks){90000 * S, S, S, 0}));
}

/* ---- gaps that confirm a known line ---- */

#define LANES 2
static struct align_gaps in[LANES], on[LANES];
static struct align_lane lane[LANES];
static struct alignment found;

/* `n` gaps of a lane, each `apart` and a part by chance; the host's are later by `late`. */
static void draw(int n, uint64_t apart, uint64_t chance, uint64_t late, bool related)
{
	for (int i = 0; i < LANES; i++) {
		uint64_t t = 20 * S + i * 3 * MS, other = t;

		align_gaps_free(&in[i]);
		align_gaps_free(&on[i]);
		in[i].most = on[i].most = 65536;
		lane[i] = (struct align_lane){&in[i], &on[i]};
		for (int k = 0; k < n; k++) {
			uint64_t length = 100 * US + (chance ? below(50 * US) : 0);

			t += apart + (chance ? below(chance) : 0);
			other += apart + (chance ? below(chance) : 0);
			align_gaps_add(&in[i], t + below(US), length + 2 * US);
			align_gaps_add(&on[i], truth(related ? t : other) + late, length);
		}
	}
}

static enum align_verdict confirm(void)
{
	enum readings_by by;
	uint32_t n = readings_line(&guest, &host, &world.rule, piece, &by);
	uint64_t work = UINT64_MAX;

	align_free(&found);
	assert_int_equal(align_known(lane, LANES, piece, n, &work, &found), 0);
	return found.verdict;
}

/* Periodic noise, which gaps alone fit one period later as well, and few gaps. */
static void needs_little_to_confirm(void **state)
{
	uint64_t work = UINT64_MAX;

	(void)state;
	world.slew = 0;
	read_all(false);
	draw(2000, 10 * MS, 0, 0, true);
	assert_int_equal(confirm(), ALIGN_FOUND);
	assert_int_equal(found.matched, found.gaps);
	assert_in_range(wrong_by(&found), 0, 10);
	align_free(&found);
	assert_int_equal(align(lane, LANES, &work, &found), 0);
	assert_int_equal(found.verdict, ALIGN_AMBIGUOUS);
	draw(10, 20 * MS, 200 * MS, 0, true);
	assert_int_equal(confirm(), ALIGN_FOUND);
	draw(4, 20 * MS, 200 * MS, 0, true);
	assert_int_equal(confirm(), ALIGN_FEW);
}

/* The rule of another guest, and recordings that have nothing in common: 100 of each. */
static void refuses_what_gaps_refute(void **state)
{
	uint32_t refused = 0;

	(void)state;
	world.slew = 0;
	read_all(false);
	for (int i = 0; i < 100; i++) {
		draw(3000, 2 * MS, 20 * MS, 0, false);
		refused += confirm() != ALIGN_FOUND;
		draw(3000, 2 * MS, 20 * MS, 60 * US + below(S), true);
		refused += confirm() != ALIGN_FOUND;
	}
	assert_int_equal(refused, 200);
	align_free(&found);
	for (int i = 0; i < LANES; i++) {
		align_gaps_free(&in[i]);
		align_gaps_free(&on[i]);
	}
}

#define TEST(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(undoes_what_kvm_does),     TEST(follows_the_counter),
		TEST(follows_the_hosts_clock),  TEST(knows_when_it_does_not_know),
		TEST(keeps_all_of_a_long_run),  TEST(needs_little_to_confirm),
		TEST(refuses_what_gaps_refute),
	};

	return cmocka_run_group_tests_name("readings", tests, NULL, NULL);
}
