/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory: a recording may be made by anybody, so those who read one have a bound; and running out
 * of it never ends in half a report with status 0. */
#ifndef CULPRIT_MEMORY_H
#define CULPRIT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"

/* --memory, for a table that includes it: its field is a uint64_t of bytes. */
extern const struct opt memory_opts[];

/* Bounds what this process allocates from here on, for a command that reads recordings: the
 * allocation that goes beyond it says so in one line, and ends the process with status 1. bytes: of
 * --memory; 0: as its help says. Returns the bound. */
uint64_t memory_bound(uint64_t bytes);

/* From here on what is freed in blocks of 128 KiB or more goes back to the kernel, for a command
 * that runs for long: without this glibc keeps blocks of up to 32 MiB once one of them was freed.
 */
void memory_returns(void);

/* True when an allocation failed. */
bool memory_is_out(void);

#endif
