#include "base/glob.h"

#include <stddef.h>

/* Goes back to the last star only: enough, for what a star has taken can only grow. A barrier that
 * it would take ends that. */
bool glob_match(const char *glob, const char *text, char barrier)
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
