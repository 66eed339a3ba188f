/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sources of programs as their symbols and debug information tell them, by libraries: readable
 * names of C++ and Rust (libiberty), lines (libdw of elfutils). Used where other people's files are
 * read, in a process without rights: the libraries may end it, or take long. */
#ifndef CULPRIT_USER_SOURCE_H
#define CULPRIT_USER_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/calls.h"

/* Opens what finds lines. To be called while files may still be opened; without it, or without the
 * library, there are no lines. */
void source_load(void);

/* The name as its source has it, without parameters: "app::Engine::tick" for
 * _ZN3app6Engine4tickEv. Another name as it is. Longer ones are cut. */
void source_name(const char *symbol, char name[CALLS_NAME]);

struct source;

/* Debug information of an open file, which has to stay open. NULL: it has none, or it cannot be
 * read. */
struct source *source_new(int fd);
void source_free(struct source *s);

/* The line that an address of the file (as elf_address() has it) belongs to: file and number,
 * "src/poke.c:84"; the end of a longer one. False: not known. */
bool source_line(const struct source *s, uint64_t address, char line[CALLS_LINE]);

#endif
