/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The terminal as a screen: entered, drawn to, read from, and left as it was before. */
#ifndef CULPRIT_TERMINAL_H
#define CULPRIT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/keys.h"

#define KEY_NONE (-1)
#define KEY_GONE (-2) /* the terminal has gone */

/* 0 where there is one that can be drawn on, and this process is in its foreground; or -1 after a
 * message. */
int terminal_check(void);

/* Switches to the terminal's other screen, and takes keys one by one. It is left when the process
 * ends, by a crash, too. 0, or -1 after a message. */
int terminal_enter(void);
void terminal_leave(void);
bool terminal_entered(void);

void terminal_size(unsigned *width, unsigned *height); /* 80 x 24 where it does not say */

/* Writes what the terminal takes at once, so that one that was stopped, or reads slowly, does not
 * stop the measuring. The bytes written; -1: the terminal has gone. */
ssize_t terminal_write(const char *text, size_t len);

/* Writes all of it, unless the terminal takes nothing for a second. */
void terminal_finish(const char *text, size_t len);

/* The next key that has been pressed: a byte, enum key, KEY_NONE or KEY_GONE. Does not wait, except
 * some milliseconds for the rest of a key's sequence. */
int terminal_key(void);

#endif
