/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Other tools' options in culprit's words: those that hold only together with others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cmd/peer_cyclictest.c"
#include "cmd/peer_line.c"
#include "cmd/peer_pingpong.c"

static void take(struct peer_line *l, const struct peer_row *rows, char letter, const char *name,
		 const char *value)
{
	char why[128];

	for (const struct peer_row *r = rows; r->letter || r->name; r++)
		if (letter ? r->letter == letter : r->name && !strcmp(r->name, name)) {
			assert_int_equal(r->take(l, value, r, why, sizeof(why)), 0);
			return;
		}
	fail_msg("no option %c %s", letter, name);
}

static void check(const char *method, const char *looks, const char *first, const char *second)
{
	struct peer_line *l = calloc(1, sizeof(*l));

	assert_non_null(l);
	if (method)
		take(l, pingpong_rows, 0, method, NULL);
	if (looks)
		take(l, pingpong_rows, 'p', NULL, looks);
	assert_int_equal(pingpong_end(l, NULL), 0);
	assert_int_equal(l->n, second ? 2 : 1);
	assert_string_equal(l->word[0], first);
	if (second)
		assert_string_equal(l->word[1], second);
	free(l);
}

static void looks(void **state)
{
	(void)state;
	check(NULL, NULL, "--method=spin", NULL);
	check("spin-pause", NULL, "--method=spin-pause", NULL);
	check("spin-pause", "5", "--method=spin-pauses", "--looks=5");
	check("spin-pause", "0", "--method=spin-pause", NULL);
	check("pipe", "5", "--method=pipe", NULL);
	check(NULL, "5", "--method=spin", NULL);
}

static void histograms(void **state)
{
	struct peer_line *l = calloc(1, sizeof(*l));

	(void)state;
	assert_non_null(l);
	take(l, cyclictest_rows, 'H', NULL, "0");
	assert_int_equal(l->n, 0);
	take(l, cyclictest_rows, 'H', NULL, "400");
	assert_int_equal(l->n, 2);
	assert_string_equal(l->word[0], "--histogram=400");
	assert_string_equal(l->word[1], "--histogram-total");
	free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(looks),
		cmocka_unit_test(histograms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
