/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lacks of its host's recording that a run tells: at its begin, at its end, or at both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cmd/receipt.c"

#define S NSEC_PER_SEC

static void lacks(void **state)
{
	static const struct {
		struct receipt r;
		const char *says;
	} of[] = {
		{{RECEIVED_WHOLE, 9, 10 * S, 61 * S, 0}, ""},
		{{RECEIVED_WHOLE, 9, 30 * S, 61 * S, 0},
		 "its host came 10.0 s after the begin: not covered before"},
		{{RECEIVED_BROKE, 9, 10 * S, 55 * S, 0},
		 "its host broke off 5.00 s before the end: not covered from then on"},
		{{RECEIVED_BROKE, 9, 30 * S, 55 * S, 0},
		 "its host broke off 5.00 s before the end: not covered from then on; its host "
		 "came 10.0 s after the begin: not covered before"},
		{{RECEIVED_FULL, 9, 30 * S, 55 * S, 0},
		 "its host sent more than 256 MiB, and the rest was not taken: not covered; its "
		 "host came 10.0 s after the begin: not covered before"},
		{{RECEIVED_WHOLE, 0, 0, 61 * S, 0}, "its host sent no recording"},
		{{RECEIVED_NOTHING, 0, 0, 0, 0}, "its host did not come (--host-listen)"},
	};
	char text[200];

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		receipt_lack(&of[i].r, 20 * S, 60 * S, text, sizeof(text));
		assert_string_equal(text, of[i].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
