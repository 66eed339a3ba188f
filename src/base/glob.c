/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/glob.h"

#include <stddef.h>

/* Backtracks to the last star only: that is enough, because what a star takes can only grow. A
 * barrier in what it would take ends the search. */
bool glob_fits(const char *glob, const char *text, char barrier)
{
	const char *star = NULL, *from = NULL;

	while (*text) {
		if (*glob == '*') {
			star = glob++;
			from = text;
		} else if (*glob == *text) {
			glob++;
			text++;
		} else if (star && !(barrier && *from == barrier)) {
			glob = star + 1;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*glob == '*')
		glob++;
	return !*glob;
}
