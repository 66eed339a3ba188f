/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A lock by the name of a file or directory that its holder may remove. */
#ifndef CULPRIT_LOCK_H
#define CULPRIT_LOCK_H

#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>

/* Takes the lock of what was opened by this name, without waiting. False: somebody else has it, or
 * had it and has removed the name meanwhile, so that nobody else would come to this lock: close it,
 * and open the name anew. It ends with the descriptor and its copies. */
static inline bool lock_named(int fd, const char *path)
{
	struct stat held, named;

	return !flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, &held) && !stat(path, &named) &&
	       held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

#endif
