/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of mapped programs, for user_reader.c: opens them, has another process read them
 * (user_parse.h), and begins that one anew when a file was its end: only this file has no
 * functions then.
 */
#ifndef CULPRIT_USER_FILES_H
#define CULPRIT_USER_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/user_map.h"
#include "collect/user_parse.h"
#include "model/calls.h"
#include "user.h"

struct user_files;

struct user_file {
	char name[CALLS_FILE];   /* as its process calls it; the end of a longer one */
	char build[CALLS_BUILD]; /* "": not known */
	bool map;                /* see user_files_map() */
};

/* debug: where files with debug information are, by build id; NULL: in the usual place alone.
 * lost: told which file has no functions, and why. apart: a file that the process which reads is
 * not to have; -1: none. NULL: no process can be begun, and errno says why. */
struct user_files *user_files_new(const char *debug, void (*lost)(void *ctx, const char *why),
				  void *ctx, int apart);
/* The files are closed when this process ends: closing one may take for ever. */
void user_files_free(struct user_files *f);

/* To be called when no number is in use: those of maps of processes that are gone may be given to
 * others from here on, should there be too many. */
void user_files_rest(struct user_files *f);

/* The device of a mapping's file: as below. 0: not known. */
dev_t user_device(const char *inside);

/* The number of a mapping's file. inside: its device and number as /proc/PID/maps has them.
 * PARSE_FILES: there are too many, or it cannot be opened. */
uint32_t user_files_number(struct user_files *f, const struct user_stack *u, uint64_t begin,
			   uint64_t end, const char *inside, const char *name);

/* The number of the file in which a process tells the functions that it makes (user_map.h), as it
 * is now. PARSE_FILES: there is none that is its own, written since it began. */
uint32_t user_files_map(struct user_files *f, const struct user_stack *u,
			const struct user_dump *dump);

/* NULL for a number that is none. Valid until user_files_free. */
const struct user_file *user_files_at(const struct user_files *f, uint32_t number);

/* Finds the callers. False: not known. */
bool user_files_walk(struct user_files *f, const struct parse_ask *ask,
		     struct parse_answer *answer);

#endif
