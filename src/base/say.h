/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages to the user outside a report: one line on stderr that begins with "culprit: ". */
#ifndef CULPRIT_SAY_H
#define CULPRIT_SAY_H

#include <stdbool.h>

/* One line on stderr: what, why, and what to do. Without a newline; the whole text is escaped
 * (escape.h), so pass names as they are: a hostile name cannot control the terminal. Cut with "..."
 * at 4 KiB. Clears a progress line first. Keeps errno. */
__attribute__((format(printf, 1, 2))) void say(const char *fmt, ...);

/* As say(), and returns -1: return complain("cpu %d is offline ...", cpu); */
__attribute__((format(printf, 1, 2))) int complain(const char *fmt, ...);

/* A progress line on stderr, rewritten in place; an empty string removes it. For a terminal only:
 * the caller asks isatty() first. Escaped, and cut to the terminal's width. */
void say_progress(const char *line);

/* False: from now on a terminal that takes nothing (stopped by Ctrl-S, or behind a connection that
 * hangs) is given up after a second by say(), at once by say_progress(), so that it does not stop
 * the measuring; true: as at first, it is waited for, and gets 4 KiB of the lines it has not taken
 * in between. What is not a terminal is always waited for. */
void say_wait(bool wait);

#endif
