/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CULPRIT_USER_PROCESS_H
#define CULPRIT_USER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* A number of /proc/PID/stat, as proc(5) counts the fields, from the third on: 22 is when the
 * process began, in ticks since boot; 28 the address where its program's stack began. 0: not known.
 */
uint64_t process_field(uint32_t process, int number);

/* True when a process waits for something else than a CPU, right now. */
bool process_waits(uint32_t process);

/* Processes of a session that wait like that, as far as this process may see them. */
unsigned session_waits(uint32_t session);

/* CPU time that a process has used, ms, as exact as the kernel's ticks; 0: not known. */
int64_t process_used_ms(uint32_t process);

#endif
