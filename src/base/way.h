/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The directories on the way to a file that is to be made: a link that anybody could have put there
 * leads root wherever they like. */
#ifndef CULPRIT_WAY_H
#define CULPRIT_WAY_H

#include <stdbool.h>
#include <sys/stat.h>

/* Length of the directory in front of a file's name, with its slash; 0: there is none. */
int way_length(const char *path);

/* Asks stat(2) about that directory. 0 or -errno. */
int way_dir(const char *path, struct stat *st);

/* Directories in front of the file's name may be links, but not in a directory where anybody may
 * write. 0 or -ELOOP. */
int way_check(const char *path);

/* True for another user's pipe in a directory where anybody may write: st is of what the path
 * names, or of what was opened there. Whoever has put it there would get what is written. */
bool way_to_others(const char *path, const struct stat *st);

/* The words for an errno or -errno, for ELOOP those of a refused link. Static, or strerror's. */
const char *way_error(int error);

#endif
