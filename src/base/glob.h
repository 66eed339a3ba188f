/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The simplest of globs: an asterisk stands for any bytes, or none. */
#ifndef CULPRIT_GLOB_H
#define CULPRIT_GLOB_H

#include <stdbool.h>

/* barrier: a byte that no asterisk takes, '/' for paths; 0: none. Takes at most the product of the
 * two lengths in time. */
bool glob_fits(const char *glob, const char *text, char barrier);

#endif
