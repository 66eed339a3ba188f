/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses in recordings: the cipher is Speck64/128 as published, addresses of the kernel are
 * gone, and what tells functions apart stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "recording/hide.h"

#define KERNEL UINT64_C(0xffffffff81000000)

/* The vector of the paper's appendix C; its plaintext is no address, so one is led to it. */
static void test_the_published_vector(void **state)
{
	static const uint32_t key[4] = {0x03020100, 0x0b0a0908, 0x13121110, 0x1b1a1918};
	static struct hide h;
	uint32_t x = 0x3b726574, y = 0x7475432d;

	(void)state;
	hide_init(&h, key);
	for (unsigned i = 0; i < HIDE_ROUNDS; i++) {
		x = ((x >> 8 | x << 24) + y) ^ h.key[i];
		y = (y << 3 | y >> 29) ^ x;
	}
	assert_int_equal(x, 0x8c6fa548);
	assert_int_equal(y, 0x454e028b);
}

static void test_addresses_go_and_stay_apart(void **state)
{
	static struct hide h, again;
	uint64_t seen[4096];

	(void)state;
	assert_int_equal(hide_init_random(&h), 0);
	assert_int_equal(hide_init_random(&again), 0);
	for (unsigned i = 0; i < 4096; i++) {
		seen[i] = hide_address(&h, KERNEL + 16 * i);
		assert_int_not_equal(seen[i], KERNEL + 16 * i);
		assert_int_not_equal(seen[i], hide_address(&again, KERNEL + 16 * i));
		for (unsigned k = 0; k < i; k++)
			assert_int_not_equal(seen[i], seen[k]);
	}
	for (unsigned i = 0; i < 4096; i++)
		assert_int_equal(hide_address(&h, KERNEL + 16 * i), seen[i]);
}

static void test_other_numbers_stay(void **state)
{
	struct record r = {.arg = 4711, .callsite = 0, .id = 12, .kind = RECORD_THREAD}, hidden;
	static struct hide h;

	(void)state;
	assert_int_equal(hide_init_random(&h), 0);
	hidden = hide_record(&h, &r);
	assert_memory_equal(&hidden, &r, sizeof(r));
	r.arg = KERNEL;
	r.callsite = KERNEL + 1;
	hidden = hide_record(&h, &r);
	assert_int_equal(hidden.arg, hide_address(&h, KERNEL));
	assert_int_equal(hidden.callsite, hide_address(&h, KERNEL + 1));
	assert_int_equal(hidden.id, 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_published_vector),
		cmocka_unit_test(test_addresses_go_and_stay_apart),
		cmocka_unit_test(test_other_numbers_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
