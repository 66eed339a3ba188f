/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of /proc that the kernel makes from a process's own memory, or under the lock of it:
 * cmdline, environ, maps. A process may keep others waiting for that as long as it likes
 * (userfaultfd(2), a file system of its own). So a thread of its own reads each, and who wants it
 * waits for so long and no longer. */
#ifndef CULPRIT_READING_H
#define CULPRIT_READING_H

#include <stdbool.h>
#include <sys/types.h>

#define READINGS_PENDING 8 /* those of read_in_time() that have not come back */

struct reading;

/* Begins to read this file of the folder `at` (AT_FDCWD), `most` bytes of it. NULL: out of memory,
 * or of threads. */
struct reading *reading_begin(int at, const char *path, size_t most);

/* Waits so many ns at most. True: it has come back, reading_bytes() tells what with, and
 * reading_free() ends it. False: it stays, with its thread; ask again. */
bool reading_came(struct reading *r, long wait_ns);
ssize_t reading_bytes(struct reading *r, char **bytes); /* their number, or -errno */
void reading_free(struct reading *r);

/* All in one: puts at most `most` bytes into `buf` and returns their number, or -errno. Takes from
 * *wait_ns what it has waited, all of it at most. -ETIMEDOUT: it has not come back, and does so
 * when the same is asked again, which waits no more; or as many have not, and none is begun. For
 * one thread. */
ssize_t read_in_time(int at, const char *path, char *buf, size_t most, long *wait_ns);

#endif
