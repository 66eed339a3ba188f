/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The descriptors that a process may have. */
#ifndef CULPRIT_DESCRIPTORS_H
#define CULPRIT_DESCRIPTORS_H

#include <stdint.h>

/* Lets this process have n beside what it opens otherwise, as far as it may: where its soft limit
 * is too low for that, it becomes the hard one. */
void descriptors_allow(uint32_t n);

/* Closes all but the standard streams and these two: locks and programs that it has by a fork go
 * when those go that had them. */
void descriptors_close_but(int a, int b);

#endif
