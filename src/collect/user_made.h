/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions that a process makes, as it tells them in a file of one of two forms
 * (base/perf_map.h, base/jitdump.h), for user_parse.c. */
#ifndef CULPRIT_USER_MADE_H
#define CULPRIT_USER_MADE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct made;

/* NULL: no memory. */
struct made *made_new(void);
void made_free(struct made *m);

/* Reads what the file has that it had not before; all of it when it has not merely grown. False: it
 * cannot be read to its end, or there is no room: what it says may be out of date. */
bool made_read(struct made *m, int fd);

/* Valid until made_read. NULL: none is known. */
const char *made_name(struct made *m, uint64_t address);

size_t made_bytes(const struct made *m); /* memory that it takes, about */

/* Reads `len` bytes of the file whose number `fd` points to; false: there are not so many. */
bool read_fd(void *fd, uint64_t at, void *to, size_t len);

#endif
