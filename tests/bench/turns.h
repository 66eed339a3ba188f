/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CULPRIT_BENCH_TURNS_H
#define CULPRIT_BENCH_TURNS_H

/* mode: "spinning", "interrupted" (the same, by a timer that wakes nobody, 1,000 times a second),
 * "syscalls", "switches" (to another process and back) or "yields" (two threads, of which one
 * counts). Runs until it is killed; the first 8 bytes of the new file `path` count the turns. -1:
 * it could not begin. */
int bench_turns(const char *mode, const char *path);

#endif
