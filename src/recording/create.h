/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of a recording, before anything is in it. */
#ifndef CULPRIT_RECORDING_CREATE_H
#define CULPRIT_RECORDING_CREATE_H

#include <stdbool.h>

/* Makes the file for its owner alone; force: writes over one that is there. Returns a descriptor,
 * or -1 with the reason said. */
int create_recording(const char *path, bool force);

/* Tells what create_recording would refuse because it exists, and makes nothing. 0, or -1 with the
 * reason said. */
int create_check(const char *path, bool force);

/* True where create_recording would remove what is there, with force. */
bool create_replaces(const char *path);

/* Removes it, where nothing is to be kept of it; not what is no file, or a link, as these are never
 * made. */
void create_remove(const char *path);

#endif
