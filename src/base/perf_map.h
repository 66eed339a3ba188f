/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file in which a program that makes code while it runs tells its functions, as perf reads it
 * (linux: tools/perf/Documentation/jit-interface.txt): a line for each, with address and size in
 * hex, and a name. It grows; of several lines for one address the last counts. Strangers write it:
 * lines that are none are left out, and memory is bounded. */
#ifndef CULPRIT_PERF_MAP_H
#define CULPRIT_PERF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_MAP_LINES (1U << 20)  /* functions that are taken */
#define PERF_MAP_NAMES (32U << 20) /* bytes of their names, likewise */
#define PERF_MAP_LINE  1024        /* bytes of a line; longer ones are left out */

struct perf_map;

struct perf_map *perf_map_new(void);
void perf_map_free(struct perf_map *m);

/* Takes the next bytes of the file. A last line without its end waits for more. False: there is no
 * room, or no memory; what is at an address may be another function by now than what it says. */
bool perf_map_add(struct perf_map *m, const char *bytes, size_t len);

/* Keeps a name for functions: its number. False: there is no room, or no memory. */
bool perf_map_keep(struct perf_map *m, const char *name, uint32_t *number);
/* Adds a function of another file than this (base/jitdump.h); one of no bytes is none. when: of
 * several at an address the latest counts, and of those of the same time the last. False: likewise.
 */
bool perf_map_put(struct perf_map *m, uint64_t address, uint64_t bytes, uint64_t when,
		  uint32_t name);

/* The function at an address, as the file has it; valid until another is added. NULL: none is
 * known, or it has no name. */
const char *perf_map_name(struct perf_map *m, uint64_t address);

size_t perf_map_bytes(const struct perf_map *m); /* memory that it takes, about */

#endif
