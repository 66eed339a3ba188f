/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sampler's readings: two clocks at once, with counters of any speed, and the sequences of all
 * levels in one load, in either byte order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <time.h>

#include "base/units.h"
#include "collect/spin.h"

#define ANCHORS 2000

/* A clock that counts ticks of tick_ns; each reading of it takes step_ns. */
static uint64_t clock_is, step_ns = 1, tick_ns = 1, readings;

int clock_gettime(clockid_t clock, struct timespec *t)
{
	uint64_t ns;

	(void)clock;
	clock_is += step_ns;
	readings++;
	ns = clock_is / tick_ns;
	*t = (struct timespec){ns / NSEC_PER_SEC, ns % NSEC_PER_SEC};
	return 0;
}

/* Three readings make an anchor. One that is as exact as can be is found at once, after a first
 * few: also where two readings seem to be no time apart, now and then. */
static void test_slow_counters(void **state)
{
	struct sampler_shm *l = calloc(1, sizeof(*l));

	(void)state;
	assert_non_null(l);
	for (tick_ns = 1; tick_ns <= 100; tick_ns += tick_ns < 16 ? 15 : 12)
		for (step_ns = 3; step_ns < 60; step_ns += 4) {
			uint64_t tick, ns;

			l->anchor_min = UINT64_MAX / 8;
			l->anchor_known = false;
			readings = 0;
			for (int i = 0; i < ANCHORS; i++) {
				uint64_t from = clock_is, apart;

				apart = read_anchor(l, false, &tick, &ns);
				assert_in_range(tick, from / tick_ns, clock_is / tick_ns);
				assert_true(apart <= 2 * (2 * step_ns / tick_ns) + 1);
			}
			assert_true(readings <= 3 * (ANCHORS + ANCHORS / 10));
		}
	free(l);
}

/* A machine that stores the lowest byte first, and one that stores it last. */
static void test_byte_orders(void **state)
{
	const uint32_t cursor[LEVELS] = {0x01020304, 0xfffffffe, 0, 0x80000001};
	_Alignas(16) uint8_t low_first[16], high_first[16];
	cursors_t from_low = 0, from_high = 0;

	(void)state;
	for (int level = 0; level < LEVELS; level++)
		for (int byte = 0; byte < 4; byte++) {
			low_first[4 * level + byte] = cursor[level] >> 8 * byte;
			high_first[4 * level + byte] = cursor[level] >> 8 * (3 - byte);
		}
	for (int i = 15; i >= 0; i--) /* the value of a load of all of them */
		from_low = from_low << 8 | low_first[i];
	for (int i = 0; i < 16; i++)
		from_high = from_high << 8 | high_first[i];
	for (int level = 0; level < LEVELS; level++) {
		assert_int_equal(cursor_at(from_low, level, false), cursor[level]);
		assert_int_equal(cursor_at(from_high, level, true), cursor[level]);
		assert_int_equal(cursor_of(*(const cursors_t *)(const void *)cursor, level),
				 cursor[level]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_slow_counters),
					   cmocka_unit_test(test_byte_orders)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
