/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files behind knobs. One is opened by its name each time, for no longer than one read or
 * write, and only if it is a regular one: all of sysfs and procfs are. `root` is put before the
 * path. */
#ifndef CULPRIT_COLLECT_KNOB_FILE_H
#define CULPRIT_COLLECT_KNOB_FILE_H

/* A descriptor or -errno. */
int knob_open(const char *root, const char *path, int flags);

/* Reads all of it to text[KNOB_VALUE], without a newline at its end. 0 or -errno. */
int knob_read(const char *root, const char *path, char *text);

/* Writes the text and a newline, with one write, as the kernel wants it. 0 or -errno. */
int knob_write(const char *root, const char *path, const char *text);

#endif
