/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command lines of processes, read when a thread of theirs is first seen: the process may be gone
 * later, or have become another program.
 *
 * The kernel reads them from the process's own memory, which a process may keep from being read for
 * as long as it likes (userfaultfd(2), a file system of its own). So a thread of its own reads
 * each, and who waits for it does so for COMMAND_WAIT_NS at most, or a tenth while another has not
 * come back; what comes later is found when it is asked for again. With COMMANDS_PENDING of
 * them no other is read until one comes back.
 */
#ifndef CULPRIT_COMMANDS_H
#define CULPRIT_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

#define COMMAND_WAIT_NS  50000000 /* less than the rings hold at any rate (state.h) */
#define COMMANDS_PENDING 8
#define COMMANDS_MOST    65536 /* numbers; what comes later is not known */
#define COMMAND_MOST     240   /* bytes of a command line; a longer one ends with "..." */

struct commands;

struct commands *commands_new(void); /* NULL: out of memory */
void commands_free(struct commands *c);

/* The command line of this process, its words divided by spaces, any other bytes as they are. The
 * same for the same number until commands_free, once it is known: a process that has its PID later
 * does not get its name. NULL: not known, or not yet, or it has none. */
const char *commands_text(struct commands *c, uint32_t process, uint64_t number);
bool commands_lack(const struct commands *c); /* true: more than COMMANDS_MOST came */

#endif
