/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens files of strangers: who serves the file system (FUSE) may never answer, and a call that
 * waits for him ends by a kill alone. So a process of its own makes it, in this one's memory and
 * with its files, and has a second for that. */
#ifndef CULPRIT_USER_OPEN_H
#define CULPRIT_USER_OPEN_H

#include <sys/stat.h>

/* Opens a regular file for reading; nothing else is opened. root: a directory out of which no link
 * leads, and whose file is none; NULL: `path` may be any, through links. Returns the file, which is
 * the caller's, with what it is; -ETIME: it took too long; -errno, -EINVAL: it is not regular. */
int user_open(const char *root, const char *path, struct stat *st);

#endif
