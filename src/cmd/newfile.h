/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that commands write, opened in one way: -o, --hiccups, --raw, --ready-file, --textfile.
 *
 * culprit runs as root in directories where others may write. So a regular file is always made as
 * new: nothing of the owner, the mode, the links and the open descriptors of what was there stays.
 * It has no name, or one that cannot be guessed, until it is put in place by a rename, which
 * follows no link. A device, a pipe and a fifo are opened as they are. Symbolic links are followed
 * by the rules of base/way.h, wherever in the path they are.
 */
#ifndef CULPRIT_NEWFILE_H
#define CULPRIT_NEWFILE_H

#include <stdbool.h>
#include <stdio.h>
#include "base/way.h"

/* Stays where it is in memory until it is closed. */
struct newfile {
	FILE *file;
	struct way way; /* place for it; without a directory: what it is is no regular file */
	char temp[NAME_MAX + 1]; /* temporary name until it is in place; "": none */
	bool made, placed;       /* made: nothing was there before */
};

/* Opens it for writing; what is at `path` stays as it is until newfile_place. 0 or -errno: see
 * newfile_error. */
int newfile_open(struct newfile *n, const char *path);

/* The same where nothing but a regular file may be replaced, nor a link be followed at the end:
 * -EEXIST for anything else. */
int newfile_open_plain(struct newfile *n, const char *path);

/* The same for its owner alone, in place of any file or link that has the name: no link is followed
 * at the end. */
int newfile_open_over(struct newfile *n, const char *path);

/* Puts it in place, where it may go on to grow. Again, and for what is no regular file, it does
 * nothing. 0 or -errno. */
int newfile_place(struct newfile *n);

/* Closes it; keep: puts it in place, when all that was written is in it, or else removes what was
 * placed where nothing was before. 0 or -errno of the first thing that failed. */
int newfile_close(struct newfile *n, bool keep);

/* Puts it in place and hands it over: the caller closes the file. NULL: errno, and it is closed. */
FILE *newfile_hand_over(struct newfile *n);

/* A file that is in place from the start. The caller closes it. NULL: errno. */
FILE *newfile_grow(const char *path);

/* For a file of lines in which one found no room: forgets what was not written, its error, and all
 * behind the last line that is whole. 0, or -errno: it may end within a line; -EINVAL where that is
 * no regular file, or what standard output goes to. */
int newfile_cut(FILE *file);

/* Text for behind the reason, by what newfile_cut has returned: what of the lines is in the file.
 */
const char *newfile_cut_said(int err);

/* Opens a file to append to, which stays as it is if it is there. A descriptor, or -errno: -EPERM
 * where somebody else may have put it, or a hard link to it, into a directory where anybody may
 * write. */
int newfile_append(const char *path);

/* True when it is what standard output or standard error goes to: a file, a pipe, a terminal. */
bool newfile_is_standard(const char *path);

/* Removes all that has only a temporary name yet, before an _exit(): those files are lost. May be
 * called in a signal handler. Some file systems have no files without a name; there SIGHUP, SIGINT,
 * SIGPIPE and SIGTERM do it, too, unless somebody else catches or ignores them. */
void newfile_abandon(void);

/* strerror for -errno or errno of these. */
const char *newfile_error(int error);

#endif
