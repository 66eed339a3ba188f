/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CULPRIT_BENCH_TURNS_H
#define CULPRIT_BENCH_TURNS_H

/* mode: "spinning", "syscalls" or "switches". Runs until it is killed; the first 8 bytes of the new
 * file `path` count the turns. -1: it could not begin. */
int bench_turns(const char *mode, const char *path);

#endif
