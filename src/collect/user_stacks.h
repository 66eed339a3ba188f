/* SPDX-License-Identifier: GPL-2.0-or-later */
/* User stacks of askers, in culprit's own process: which stack an id means, and what another
 * process (user_reader.h) has found out about it. Nothing here waits but user_stacks_settle(). */
#ifndef CULPRIT_USER_STACKS_H
#define CULPRIT_USER_STACKS_H

#include <stdbool.h>
#include <stdint.h>

struct user_stacks;

/* map: of struct user_stack, see probes_map(). debug: a directory with debug information,
 * or NULL. Starts the other process, which has its rights from this one. NULL with the reason
 * said. */
struct user_stacks *user_stacks_new(int map, const char *debug);
void user_stacks_free(struct user_stacks *s);

/* The number of the user stack of a stack id from USER_FIRST on, from 1 on; the same for the same
 * calls of the same program. 0: none is known. *kernel: id of the kernel stack. */
uint32_t user_stacks_number(struct user_stacks *s, int32_t id, int32_t *kernel);

/* The calls (model/calls.h), valid until user_stacks_free; NULL: not known, or not yet. */
const char *user_stacks_calls(struct user_stacks *s, uint32_t number);

/* Waits until all is known, or for some seconds; then says how much is not. */
void user_stacks_settle(struct user_stacks *s);

#endif
