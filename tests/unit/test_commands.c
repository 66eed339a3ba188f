/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command lines of more processes than a machine has: memory has a bound, and what is known stays.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "collect/commands.h"

#define NOBODY (1U << 22 | 1) /* no process can have it */

static void test_bound(void **state)
{
	struct commands *c = commands_new();
	const char *own;

	(void)state;
	assert_non_null(c);
	while (!(own = commands_text(c, getpid(), 1)))
		usleep(1000);
	for (uint32_t i = 2; i <= COMMANDS_MOST; i++)
		assert_null(commands_text(c, NOBODY, i));
	assert_false(commands_lack(c));
	for (uint32_t i = 1; i <= 100; i++)
		assert_null(commands_text(c, getpid(), COMMANDS_MOST + i));
	assert_true(commands_lack(c));
	assert_ptr_equal(commands_text(c, getpid(), 1), own);
	assert_null(commands_text(c, NOBODY, 2));
	commands_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_bound)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
