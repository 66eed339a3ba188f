/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A message between two threads with nothing around it. */
#ifndef CULPRIT_TESTS_PAIR_H
#define CULPRIT_TESTS_PAIR_H

void bench_pair(int a, int b, double ns_per_tick);

#endif
