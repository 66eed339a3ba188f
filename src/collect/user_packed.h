/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that a stripped program carries along, packed (.gnu_debugdata, as Fedora makes it): by
 * liblzma. Used in the process without rights that reads other people's files. */
#ifndef CULPRIT_USER_PACKED_H
#define CULPRIT_USER_PACKED_H

#include <stdbool.h>

#include "base/elf.h"

#define PACKED_UNPACKED (64U << 20) /* bytes; a file of more has no such functions */
#define PACKED_MEMORY   (72U << 20) /* for unpacking, beside them: xz -9 wants 65 MiB */

/* Opens the library. To be called while files may still be opened; without it, or without the
 * library, nothing is unpacked. */
void packed_load(void);

/* Adds these functions to their program. False: it has none, or they cannot be read. */
bool packed_add(struct elf *e);

#endif
