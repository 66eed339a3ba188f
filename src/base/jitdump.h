/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The other file in which a program that makes code while it runs tells its functions, for perf
 * inject (linux: tools/perf/Documentation/jitdump-specification.txt, version 1): a header, and
 * records of functions that were made or moved, with their code. It grows. What is read goes into a
 * struct perf_map: of several functions at an address the one of the latest time counts, by the
 * clock that the file has (CLOCK_MONOTONIC, or the CPU's counter where a flag says so), which is
 * compared with nothing else. Strangers write it: nothing in it is believed, all is read in bounds,
 * and memory is bounded. Code, lines of code and unwinding tables in it are passed over. */
#ifndef CULPRIT_JITDUMP_H
#define CULPRIT_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/elf.h"
#include "base/perf_map.h"

#define JITDUMP_NAME 1024 /* bytes of a name that are kept, with its NUL */

struct jitdump;

/* True when a file of either byte order begins so. */
bool jitdump_is(const char begin[4]);

/* NULL: no memory. */
struct jitdump *jitdump_new(void);
void jitdump_free(struct jitdump *j);

/* Reads on from where it was, up to the last record that is whole in the file's `size` bytes, and
 * adds its functions to `map`, always the same. False: it is no such file, it is broken from here
 * on, or there is no room; see perf_map_add(). */
bool jitdump_read(struct jitdump *j, const struct elf_source *file, uint64_t size,
		  struct perf_map *map);

uint64_t jitdump_at(const struct jitdump *j);  /* bytes that were read, or passed over */
size_t jitdump_bytes(const struct jitdump *j); /* memory that it takes, about */

#endif
