/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CULPRIT_USER_PROCESS_H
#define CULPRIT_USER_PROCESS_H

#include <stdint.h>

/* A number of /proc/PID/stat, as proc(5) counts the fields, from the third on: 22 is when the
 * process began, in ticks since boot; 28 the address where its program's stack began. 0: not known.
 */
uint64_t process_field(uint32_t process, int number);

#endif
