/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of IRQs, kernel addresses and stacks. Asked of the running kernel when a number first
 * appears: the thing may be gone when the report is made. */
#ifndef CULPRIT_LIVE_NAMES_H
#define CULPRIT_LIVE_NAMES_H

#include <stdbool.h>
#include "collect/probes.h"
#include "model/names.h"

struct live_names;

/* Finds the kernel's symbols, also those that the loaded probes need. NULL: out of memory.
 * `probes` must outlive it. commands: command lines are wanted. */
struct live_names *live_names_new(struct probes *probes, enum owner_by by, bool commands);
void live_names_free(struct live_names *n);

/* Names the user stacks of askers, too, where the probes note them. debug: see user_stacks_new().
 * Call it before live_names(), while this process has all its rights. 0, or -1 with the reason
 * said. */
int live_names_want_user(struct live_names *n, const char *debug);

/* Waits for names that are still being looked for, some seconds at most. NULL: does nothing. */
void live_names_settle(struct live_names *n);

/* Valid, with all strings from it, until it is freed. */
const struct names *live_names(const struct live_names *n);

bool live_names_hidden(const struct live_names *n); /* the kernel hides its addresses */

/* Number of handlers that share an IRQ line; ctx is the struct live_names. */
unsigned live_irq_actions(void *ctx, uint32_t irq);

#endif
