/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel symbols by address: what the kernel says of each when it is first asked for, which stays
 * its name; or the table /proc/kallsyms, which is read once, before the window. A module that has
 * gone before one of its addresses is asked for has no names, and one that comes within the window
 * none of the table; where it takes the place of one that has gone, those of that one. Strings live
 * as long as the symbols. */
#ifndef CULPRIT_SYMBOLS_H
#define CULPRIT_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

struct symbols;

/* NULL: out of memory. An unreadable or hidden kallsyms (kptr_restrict) gives a table without
 * symbols: see symbols_hidden. */
struct symbols *symbols_new(void);
/* The same from files as /proc/kallsyms and /proc/modules. */
struct symbols *symbols_of(const char *kallsyms, const char *modules);
/* Asks for each address once. ask: its text as in /proc/kallsyms, valid until the next call;
 * "0x..." where the kernel has no name for it, NULL where it cannot be asked. NULL: out of memory.
 */
struct symbols *symbols_asking(const char *(*ask)(void *ctx, uint64_t address), void *ctx);
void symbols_free(struct symbols *s);

/* "vmstat_update", with its module "e1000_intr [e1000]", or "[unknown 1]", numbered as they come.
 * Never NULL. */
const char *symbols_name(struct symbols *s, uint64_t address);

/* Likewise, of the function in whose frame a stack has this address. called: the one that it
 * called, or that interrupted it; NULL: the stack begins here, with a program of ours. */
const char *symbols_caller(struct symbols *s, uint64_t address, const char *called);

/* Address of a function of the kernel itself; 0: there is none of that name in the table. */
uint64_t symbols_address(const struct symbols *s, const char *name);

/* True when the kernel hides its addresses from this process. */
bool symbols_hidden(const struct symbols *s);

#endif
