/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that disturb: each spins 3 ms and sleeps 30 ms in turn. They are spread over all online
 * CPUs, and end with culprit, however it ends. */
#ifndef CULPRIT_SPINNERS_H
#define CULPRIT_SPINNERS_H

#include <stdbool.h>
#include <stdint.h>

#define SPINNERS_MAX 4096

struct spinners;

/* Starts n of them. NULL, with the reason said: not all could be started, and none is left. */
struct spinners *spinners_start(uint64_t n);
/* False, with the reason said: somebody had killed one before. */
bool spinners_end(struct spinners *s);

#endif
