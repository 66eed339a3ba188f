/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of system calls. */
#ifndef CULPRIT_SYSCALL_NAME_H
#define CULPRIT_SYSCALL_NAME_H

#include <stdbool.h>
#include <stdint.h>
#include "record.h"

/* Writes the name of a system call by its number in a table, "futex". False: it is not known. */
#define SYSCALL_NAME 32
bool syscall_name(enum syscall_table table, uint32_t number, char name[SYSCALL_NAME]);

#endif
