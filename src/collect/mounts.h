/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mounted file systems, from /proc/self/mounts (proc_pid_mounts(5)). */
#ifndef CULPRIT_MOUNTS_H
#define CULPRIT_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>

/* Finds the first mount of this type, with this option unless it is NULL, and writes its folder to
 * folder[len]. root: the directory that /proc is in; below 0: "/". False: there is none, or its
 * path does not fit. */
bool mounts_find(int root, const char *type, const char *option, char *folder, size_t len);

#endif
