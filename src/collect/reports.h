/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The windows that a watched program reports itself (src/culprit.h): a file in /dev/shm, which it
 * may make at any time, or never. */
#ifndef CULPRIT_REPORTS_H
#define CULPRIT_REPORTS_H

#include <stdbool.h>
#include <stdint.h>

#include "culprit.h"

struct reports;

struct reports *reports_new(int32_t pid); /* 0: no program. NULL: out of memory */
void reports_free(struct reports *p);     /* removes what a killed process has left behind */

/* Looks for the file if it has not been there. All reports in one that was not there at the look
 * before, the first of which is reports_new's, have been made since; of one that was there, those
 * made before that look are never fetched, nor those that end before begin_ns. Neither counts. */
void reports_open(struct reports *p, uint64_t begin_ns);

#define REPORTS_WORK (1 << 20) /* records; takes 2 ms, or 20 where each is of another source */
/* Work of a report without its records: a look into /proc, a line of output. */
#define REPORTS_EACH 1024

/* Fetches the new reports since the last time, in their order, but for those whose times cannot be,
 * which are counted. */
void reports_fetch(struct reports *p);

/* Takes the next one that ended before `ns`, with times of this process's CLOCK_MONOTONIC. False:
 * none has, or those since the last fetch were work enough, and the others must wait for the next:
 * a program must not keep its watcher busy, whose priority may be above all others'. */
bool reports_next(struct reports *p, uint64_t ns, struct culprit_report *r);

/* Adds the work that its records were, as watch_window() has it. */
void reports_spend(struct reports *p, uint64_t work);

/* Notes that the window has ended: those made later are lost to nobody where they are not read. */
void reports_stop(struct reports *p);

/* Counts those that ended before `ns` and have not been taken as lost, and those that were never
 * whole: nobody will. Says how many were left out, and why. */
void reports_end(struct reports *p, uint64_t ns);

/* True for a report about a thread of the program's own; others are counted. process: the thread's,
 * as records tell; 0: they do not. */
bool reports_believe(struct reports *p, const struct culprit_report *r, uint32_t process);

/* Number of those that were left out: about threads of other processes, or of none; with times that
 * cannot be; that began before the window. */
uint64_t reports_strange(const struct reports *p);

/* Number of those that were overwritten before they were fetched, or never taken. */
uint64_t reports_lost(const struct reports *p);

#endif
