/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A few threads that share work. One thread owns the crew: it hands out tasks, goes on with
 * something else, and takes part until all are done. The tasks see all that it writes before
 * crew_begin, and it sees all that they write after crew_end. */
#ifndef CULPRIT_CREW_H
#define CULPRIT_CREW_H

#include <stdint.h>

struct crew;

/* threads: the owner among them. Has fewer when the system gives no more. NULL: out of memory. */
struct crew *crew_new(unsigned threads);
void crew_free(struct crew *c); /* after crew_end */

/* Number of CPUs that this thread may run on, at most `most`. */
unsigned crew_cpus(unsigned most);

/* Hands out n tasks, in any order and several at once; ctx must last until crew_end. */
void crew_begin(struct crew *c, uint32_t n, void (*task)(void *ctx, uint32_t i), void *ctx);
void crew_end(struct crew *c); /* returns when all tasks are done; there may be none */

#endif
