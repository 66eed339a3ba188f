/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calls that led a thread's program to a request: its user stack, as one text. A line each, the
 * innermost first:
 *
 *	function TAB file TAB offset in the file, in hex TAB build id, in hex TAB line of code
 *
 * The function, the file, the build id, and the line ("src/poke.c:84") with its TAB are there where
 * they are known. The offset is 0 where there is no file, and of code that the process made, whose
 * file tells its functions: older recordings have an address there.
 *
 * A last line "?" says that the stack goes on, and nobody knows how. Programs choose names and
 * files: any bytes but a tabulator, a line feed and NUL, which calls_add() replaces.
 */
#ifndef CULPRIT_CALLS_H
#define CULPRIT_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "model/asker.h"

/* Lines, and bytes with their NUL: a function's and a file's name, where longer ones are cut, a
 * build id in hex, where 20 bytes are the most that is kept, and a line of code. */
#define CALLS_MOST  32
#define CALLS_NAME  128
#define CALLS_FILE  256
#define CALLS_BUILD 41
#define CALLS_LINE  160
#define CALLS_TEXT  (CALLS_MOST * (CALLS_NAME + CALLS_FILE + CALLS_LINE + 64))

struct call {
	bool gap; /* callers are not known; all else is empty */
	char name[CALLS_NAME], file[CALLS_FILE], build[CALLS_BUILD], line[CALLS_LINE];
	uint64_t offset;
};

/* Appends a line to a text of `len` bytes, not counting its NUL. Returns the new length. */
size_t calls_add(char text[CALLS_TEXT], size_t len, const struct call *c);

/* Reads the line at *text, and moves on to the next. False: there is no more. */
bool calls_next(const char **text, struct call *c);

/* "storm", "poke+0x1a2b" where no function is known, "[no file]" where no file is, "?" for a gap.
 * Not escaped. Returns buf. */
#define CALLS_FRAME (CALLS_NAME + CALLS_FILE + 24)
char *calls_frame(const struct call *c, char buf[CALLS_FRAME]);

/* "poke.c:84", the line without its directory; "" where it is not known. Not escaped. */
const char *calls_line(const struct call *c);

/* Writes the way to a request: "main > storm (poke.c:84) > membarrier() >
 * membarrier_private_expedited", the line of the innermost call that has one, the system call where
 * the kernel's stack shows it, and the kernel's function behind the request. What is beyond main
 * and beyond the CALLS_SHOWN innermost calls is left out. Without calls the kernel's function
 * alone; "": nothing is known. Not escaped. Returns buf. */
#define CALLS_SHOWN 6
#define CALLS_WAY   ((CALLS_SHOWN + 2) * CALLS_FRAME + CALLS_LINE)
char *calls_way(const struct asker_row *r, char buf[CALLS_WAY]);

#endif
