/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing to a terminal that may take nothing: one that Ctrl-S has stopped, or at the other end of
 * a connection that hangs. */
#ifndef CULPRIT_OUTLET_H
#define CULPRIT_OUTLET_H

#include <stddef.h>
#include <sys/types.h>

#define OUTLET_PATIENCE_MS 1000 /* for a slow terminal; one that was stopped takes nothing */

/* The same terminal, opened anew so that writing to it does not wait: the flags of the one that was
 * inherited are the shell's, too. `fd` itself where that cannot be, as the terminal is another
 * user's or there is none. */
int outlet_open(int fd);

/* Writes what is taken at once, after waiting for so long at most. `opened` is outlet_open(fd).
 * Returns the bytes written, or -1 where the terminal has gone. */
ssize_t outlet_write(int opened, int fd, const char *text, size_t len, int wait_ms);

/* Writes all of it, unless nothing is taken for so long. Returns the bytes written. */
size_t outlet_finish(int opened, int fd, const char *text, size_t len, int wait_ms);

#endif
