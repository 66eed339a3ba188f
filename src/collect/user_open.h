/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens files of strangers: who serves the file system (FUSE) may never answer, and a call that
 * waits for him ends by a kill alone, or not even then: closing a file asks him, too. So does one
 * that waits for the lock of a process's memory, which he may have the process hold. So a process
 * of its own makes it, in this one's memory and with its files, and has a second for that, not
 * counting when it waits for a CPU. */
#ifndef CULPRIT_USER_OPEN_H
#define CULPRIT_USER_OPEN_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Devices that are not to be asked for anything. */
struct user_devices {
	/* Called in a process that shares all memory with this one, which waits for it. */
	bool (*shun)(const void *ctx, dev_t device);
	const void *ctx;
	dev_t at; /* the one that was asked last; 0: which it was is not known */
};

/* Opens a regular file for reading; nothing else is opened. root: a directory out of which no link
 * leads, and whose file is none; NULL: `path` may be any, through links. devices: those of the
 * file's directory and of the file, with `root`; NULL: any. Returns the file, which is the
 * caller's, with what it is; -ETIME: it took too long, twice; -EBUSY: no CPU did it in ten seconds;
 * -ENODEV: its device is not to be asked; -errno, -EINVAL: it is not regular. */
int user_open(const char *root, const char *path, struct user_devices *devices, struct stat *st);

/* Reads at most `most` bytes of a file of /proc. Returns them, which are the caller's, and their
 * number in *n; NULL: *n is -ETIME, it took too long; -EBUSY; or -errno. */
char *user_read(const char *path, size_t most, ssize_t *n);

/* Closes such a file. False: it took too long. Its number is free all the same, but for a process
 * that found no CPU, or that could not be begun. */
bool user_close(int fd);

#endif
