/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program that makes a picture of pixels out of an SVG. It is started before the first byte of a
 * recording is read, so that who reads and draws need not start any (guard.h). */
#ifndef CULPRIT_CONVERTER_H
#define CULPRIT_CONVERTER_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct converter {
	FILE *svg; /* takes the picture to convert */
	int said;  /* the program's stderr */
	pid_t pid;
};

/* Starts it; the picture goes to `png`. 0, or -1 with the reason said. */
int converter_start(struct converter *c, FILE *png);

/* Ends what was given, and waits for the picture. give_up: nothing was, or not all, for a reason
 * that has been said. 0, or -1 with the reason said. */
int converter_end(struct converter *c, const char *path, bool give_up);

#endif
