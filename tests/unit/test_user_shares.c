/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order in which stacks that wait are looked at, as it must be, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "collect/user_shares.h"

#define MOST 64

struct stack {
	struct user_wait wait;
	char name;
	uint64_t ns; /* time on it */
};

static struct user_shares shares;
static struct stack stack[MOST];
static unsigned stacks;
static char served[MOST + 1];

static struct stack *add(char name, uint32_t uid, uint32_t tgid, uint64_t ns)
{
	struct stack *s = &stack[stacks++];

	*s = (struct stack){.name = name, .ns = ns};
	user_shares_add(&shares, &s->wait, uid, tgid);
	return s;
}

/* Serves so many. */
static const char *serve(unsigned n)
{
	unsigned i;

	for (i = 0; i < n && shares.first; i++) {
		struct stack *s = (struct stack *)user_shares_next(&shares);

		served[i] = s->name;
		user_shares_spend(&s->wait, s->ns);
		user_shares_remove(&shares, &s->wait);
	}
	served[i] = 0;
	return served;
}

static int begin(void **state)
{
	(void)state;
	memset(&shares, 0, sizeof(shares));
	stacks = 0;
	return 0;
}

static void test_order(void **state)
{
	(void)state;
	assert_null(user_shares_next(&shares));
	for (char name = 'a'; name <= 'e'; name++)
		add(name, 0, 1, 0);
	assert_string_equal(serve(9), "abcde");
}

/* Each stack of one user takes a second, those of another one a thousandth. */
static void test_slow(void **state)
{
	(void)state;
	for (int i = 0; i < 9; i++)
		add('S', 1000, 5, 1000);
	assert_string_equal(serve(3), "SSS");
	for (char name = 'a'; name <= 'd'; name++)
		add(name, 0, 1, 1);
	assert_string_equal(serve(10), "SabcdSSSSS");
	/* By many processes it has no more, and one of them that is quick gets its turn. */
	for (int i = 0; i < 6; i++)
		add('S', 1000, 10 + i % 3, 1000);
	add('q', 1000, 30, 1);
	add('a', 0, 1, 1);
	assert_string_equal(serve(9), "SaSSqSSS");
}

/* After an hour in which one user alone has asked, another one has half, and not an hour. */
static void test_saved(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++)
		add('o', 1, 1, 180);
	serve(12);
	for (int i = 0; i < 8; i++)
		add('n', 2, 2, 180);
	assert_string_equal(serve(8), "onononon");
}

static void test_processes(void **state)
{
	struct stack *later;

	(void)state;
	for (int i = 0; i < 4; i++)
		add('a', 7, 1, 10);
	serve(1);
	for (int i = 0; i < 3; i++)
		add('b', 7, 2, 10);
	assert_string_equal(serve(6), "ababab");
	later = add('l', 7, 3, 10);
	later->wait.later = true;
	add('c', 7, 4, 1000);
	add('c', 7, 4, 1000);
	assert_string_equal(serve(3), "ccl");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_order, begin),
		cmocka_unit_test_setup(test_slow, begin),
		cmocka_unit_test_setup(test_saved, begin),
		cmocka_unit_test_setup(test_processes, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
