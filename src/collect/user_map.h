/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file in which a process tells the functions that it makes (base/perf_map.h). */
#ifndef CULPRIT_USER_MAP_H
#define CULPRIT_USER_MAP_H

#include <stddef.h>
#include <sys/stat.h>

#include "user.h"

/* Opens it where the process sees it: a file of the process's user that not everybody may write,
 * written since the process began. Returns the file, which is the caller's until user_close(), with
 * its name there and what it is; -ETIME: it took too long; -errno: there is none. */
int user_map_open(const struct user_stack *u, char *name, size_t len, struct stat *st);

#endif
