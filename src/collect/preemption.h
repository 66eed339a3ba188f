/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Preemption of threads while they are in the kernel. */
#ifndef CULPRIT_PREEMPTION_H
#define CULPRIT_PREEMPTION_H

#include <stdbool.h>

/* False where a thread is known to keep its CPU in the kernel until it gives it up. */
bool kernel_preempts(void);

/* The same by what debugfs tells, "none voluntary (full)", or "" where it does not, and uname's
 * version. */
bool kernel_preempts_by(const char *mode, const char *version);

#endif
