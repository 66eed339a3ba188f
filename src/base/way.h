/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The directories on the way to a file, or to a directory, that is to be made: a link that somebody
 * else could have put there leads root wherever they like. So the way is gone once, one directory
 * at a time, and what is done at its end is done in the directory that was reached, whatever is put
 * in the way meanwhile.
 */
#ifndef CULPRIT_WAY_H
#define CULPRIT_WAY_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

struct way {
	int dir;                 /* the directory, for *at() calls; -1: none */
	char name[NAME_MAX + 1]; /* the file's name in it, which may be a link */
	bool led;                /* by a link of another user, `guide` */
	uid_t guide;
	unsigned links; /* number of them so far */
};

/* Goes to the directory of the file. Links are followed, but not in a directory where anybody may
 * write, and those that another user, but for root, has put there, only into directories of that
 * user. 0 or -errno, then nothing is to be closed: -ELOOP for such a link, -EISDIR where the path
 * has no file's name.
 */
int way_open(struct way *w, const char *path);

/* Goes on to where the link at the end leads, by the same rules. 0 or -errno. */
int way_follow(struct way *w);

void way_close(struct way *w);

/* Makes the directory at the end of the way; the path may end with slashes. 1: made; 0: there is
 * one already, perhaps by links that way_follow() follows; or -errno, -ENOTDIR where something else
 * is there. */
int way_mkdir(const char *path, mode_t mode);

/* Removes the directory that way_mkdir() made, if it is empty. */
void way_rmdir(const char *path);

/* True where anybody may write in the directory, or that is not known. */
bool way_is_anybodys(const struct way *w);

/* True where nobody else can put anything in the directory, or exchange it: another user may
 * neither own it nor write in it. */
bool way_is_safe(const struct way *w);

/* True for another user's pipe in a directory that is not safe: st is of what the name says, or of
 * what was opened there. Whoever has put it there would get what is written. */
bool way_to_others(const struct way *w, const struct stat *st);

/* Standard output or standard error, when it is this file; else -1. Whoever redirected it there
 * has opened the file, and may have written to it. */
int way_standard(const struct stat *st);

/* True for what is written as it is, and not replaced: what is no file, and what standard output or
 * standard error goes to. */
bool way_stays(const struct stat *st);

/* -errno of a file that could not be made there; -EOPNOTSUPP for that of a directory that takes no
 * new ones, as in /proc. */
int way_unmade(const struct way *w, int err);

/* The words for an errno or -errno, for ELOOP those of a refused link, for EOPNOTSUPP those of a
 * directory like /proc's. Static, or strerror's. */
const char *way_error(int error);

#endif
