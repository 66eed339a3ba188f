/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits of a command that reads files from strangers: if one led it astray, it could read
 * what its user may, and write where the user said. And of the process that answers strangers, and
 * of the one that measures and meets the names that they chose. */
#ifndef CULPRIT_GUARD_H
#define CULPRIT_GUARD_H

#include <stdbool.h>
#include <stdint.h>

/* Before the first byte is read: bounds the memory, as memory_bound(), and keeps of all
 * capabilities the one that reads files; with `writes`, where it puts a file in place, those for
 * that. */
void guard_reader(uint64_t memory, bool writes);

/* From here on it starts no program and no process, connects to nobody, touches no other process,
 * and asks nothing of the kernel that only its administration needs: a system call for any of that
 * ends it with status 1 and a line on stderr. Unless it `writes` a file, it can write to none
 * (confine_writes()). A command that needs a converter starts it before this. Where there are no
 * filters, nothing happens. */
void guard_alone(bool writes);

/* Before this process becomes a program of others' that reads what a stranger made: it keeps only
 * these capabilities (base/confine.h), connects to nobody, touches no other process, asks nothing
 * of the kernel that only its administration needs, and writes to no file but what it has open.
 * Such calls fail. */
void guard_program(uint64_t keeps);

/* From here on this process keeps no capability, answers those who connect to it and uses what is
 * open: beyond what guard_alone() refuses it opens, makes and removes no files, either. Before it
 * begins threads. */
void guard_answerer(void);

/* A process that measures, before its window opens: from here on it starts no program, touches no
 * other process, has no other identity and does not administer the kernel: all that fails. Unless
 * it is to keep the right to write anybody's files (keeps: capabilities, base/confine.h), it
 * changes nothing of one either, but its contents. */
void guard_before_window(uint64_t keeps);

/* Once it is open, and has been announced: from here on it keeps only these capabilities. Unless
 * that right is among them, it can write to no file, but remove those below the folder `removes`
 * (NULL: none). */
void guard_in_window(uint64_t keeps, const char *removes);

#endif
