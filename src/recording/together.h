/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stops of many CPUs at once (model/suspects.h), as bytes: numbers of measured CPUs, stops, one
 * of how many is kept, and threads that were too many; number of threads, and of each its tid,
 * whether it is the kernel's, and its name; number of stops, and of each its begin, since the begin
 * of the one before, its length, apart_ns, cell_ns, CPUs, rest, number of threads, and of each the
 * index, its share, and where it was there 1 + its CPU, and the system call. */
#ifndef CULPRIT_RECORDING_TOGETHER_H
#define CULPRIT_RECORDING_TOGETHER_H

#include "model/redact.h"
#include "recording/bytes.h"

/* redact: takes the names of users out; NULL: they stay. */
void put_suspects(struct bytes *b, const struct suspects *s, struct redact *redact);

/* Into what is all zeros. r is bad when they cannot be; suspects_free() in any case. */
void get_suspects(struct reading *r, struct suspects *s);

#endif
