/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verdicts as test cases: JUnit's XML and TAP, for the CI systems that read them. */
#ifndef CULPRIT_CASES_H
#define CULPRIT_CASES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cmd/newfile.h"

struct cases {
	const char *junit, *tap; /* the files; NULL: not wanted */
	struct newfile junit_file, tap_file;
	FILE *list; /* list of the cases, in memory */
	char *text;
	size_t len;
	uint32_t n, failed;
	bool open;
};

/* Opens the files, before anything is measured. 0, or -1 with the reason said. */
int cases_open(struct cases *c);

/* Adds a case, "cpu 3 of HOST: --max-hiccup 20 us"; host, lane and why may hold any bytes, `what`
 * is our own. why: it failed; NULL: it passed. seconds: of the window. Without files it
 * does nothing. */
void cases_add(struct cases *c, const char *host, const char *lane, const char *what,
	       double seconds, const char *why);

/* Closes the files; keep: writes them before, else none is made. The second call does nothing. 0,
 * or -1 with the reason said. */
int cases_close(struct cases *c, bool keep);

#endif
