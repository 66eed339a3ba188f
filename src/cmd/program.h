/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Somebody else's program that reads a file for culprit, or writes one. */
#ifndef CULPRIT_PROGRAM_H
#define CULPRIT_PROGRAM_H

#include <stdint.h>
#include <sys/types.h>

/* Starts argv[0], found by PATH, with these files as its 0, 1 and 2, and no more rights than
 * guard_program() leaves. The caller closes its own files and reaps the program. Its pid, or -errno
 * where it does not start. */
pid_t program_start(const char *const argv[], const int files[3], uint64_t keeps);

#endif
