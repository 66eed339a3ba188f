/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes from the cause book what a report carries along. */
#ifndef CULPRIT_ENTRIES_H
#define CULPRIT_ENTRIES_H

#include "model/view.h"

/* Fills view.entries: of each cause that its sources with time and its findings have its entry, in
 * the book's order, with the measured CPUs filled in. 0 or -ENOMEM: some are missing. */
int entries_make(struct view *v);

#endif
