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

/* Asks until it is known: while others are late no place is free for a number. */
static const char *text_of(struct commands *c, uint32_t number)
{
	const char *own;

	while (!(own = commands_text(c, getpid(), number)))
		usleep(1000);
	return own;
}

static void test_bound(void **state)
{
	struct commands *c = commands_new();
	const char *own;

	(void)state;
	assert_non_null(c);
	own = text_of(c, 1);
	for (uint32_t i = 2; i <= COMMANDS_MOST; i++)
		assert_ptr_equal(text_of(c, i), own);
	assert_false(commands_lack(c));
	for (uint32_t i = 1; i <= 100; i++)
		assert_null(commands_text(c, getpid(), COMMANDS_MOST + i));
	assert_true(commands_lack(c));
	assert_ptr_equal(commands_text(c, getpid(), 1), own);
	assert_ptr_equal(commands_text(c, NOBODY, 2), own);
	commands_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_bound)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
