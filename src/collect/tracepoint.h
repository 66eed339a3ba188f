/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fields of a classic tracepoint, as its format in tracefs tells: so far for those of modules,
 * which the kernel's own type information does not have. */
#ifndef CULPRIT_TRACEPOINT_H
#define CULPRIT_TRACEPOINT_H

#include <stdint.h>

#define TRACEPOINT_FIELD_ANY 0

/* The offset in bytes of the field with this name, and of this size in bytes or
 * TRACEPOINT_FIELD_ANY, in the tracepoint GROUP/NAME. -ENOENT: this kernel has no such tracepoint
 * or field now; another -errno: the format cannot be read. */
int tracepoint_field(const char *tracepoint, const char *field, uint32_t size);

#endif
