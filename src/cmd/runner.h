/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs one command of the user's again and again, each time that something happens. A process of
 * its own does that: it is forked before this one opens anything of the kernel's, has no
 * capabilities, and neither has what it runs, though it is the same user. One command at a time:
 * while one runs, however long, no other is begun, and this process waits for none.
 */
#ifndef CULPRIT_RUNNER_H
#define CULPRIT_RUNNER_H

#include <stdbool.h>

#include "base/cpus.h"

struct runner;

#define RUNNER_TEXT 8192 /* bytes of the environment of a command, with its zeros */

/* command: for /bin/sh -c. cpus: on which it runs. NULL with the reason said. */
struct runner *runner_open(const char *command, const struct cpus *cpus);

/* Begins the command. environment: NAME=VALUE for each variable, to be set beside those of this
 * process, each with a zero behind it; len bytes of that. False: the last one still runs. */
bool runner_run(struct runner *r, const char *environment, size_t len);

/* Waits for the last command, but not for long: false, it still runs. */
bool runner_wait(struct runner *r);

void runner_close(struct runner *r); /* leaves a running command alone; NULL: nothing */

#endif
