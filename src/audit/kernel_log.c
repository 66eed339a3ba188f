/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's log. Names that users chose stand in it, at the begin of a line too where one has a
 * newline: so a message is known by more of its begin than the 15 bytes of a thread's name. */
#include <stdlib.h>
#include <string.h>

#include "audit/checks.h"
#include "base/begins.h"

const char *log_message(const char *line, double *time_s)
{
	char *end;

	*time_s = -1;
	if (*line == '<') /* the level, as syslog(2) has it */
		line += strchr(line, '>') ? strcspn(line, ">") + 1 : 0;
	if (*line != '[')
		return line;
	*time_s = strtod(line + 1, &end);
	if (*end != ']') {
		*time_s = -1;
		return line;
	}
	line = end + 1;
	if (*line == '[' && strchr(line, ']')) /* the thread or CPU: "[    T0]" */
		line = strchr(line, ']') + 1;
	return line + strspn(line, " ");
}

bool log_has_boot(const char *text)
{
	char line[LINE_MAX_TEXT];
	double time_s;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		first_line(text, line, sizeof(line));
		if (begins(log_message(line, &time_s), "Linux version ") || time_s == 0)
			return true;
	}
	return false;
}
