/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that come from the machine (comms, IRQ names, paths) may hold any byte. These functions
 * make them safe to print. */
#ifndef CULPRIT_ESCAPE_H
#define CULPRIT_ESCAPE_H

#include <stddef.h>

/* Copies `len` bytes of name (stops at the first NUL; len SIZE_MAX: a C string) as printable UTF-8
 * into buf. Control characters (C0, DEL, C1 also when well-formed UTF-8: U+009B is CSI), invalid
 * UTF-8, the bidirectional controls (U+061C, U+200E-200F, U+202A-202E, U+2066-2069), the line
 * separators U+2028/2029, and U+FFFE/FFFF, which no XML holds, become \xNN byte by byte, in lower
 * case. A backslash becomes two, so that two names never look the same. Where the text does not fit
 * (buflen >= 8) it is cut at a whole character or escape, and "..." added. Returns buf. Escape
 * once: say() and the JSON writer do it themselves. */
char *escape_text(const char *name, size_t len, char *buf, size_t buflen);

/* The same for a command, whose backslashes stay single: a reader gives it to a shell. */
char *escape_command(const char *command, char *buf, size_t buflen);

/* Holds any one escaped character and its NUL: three bytes as \xNN, or four of UTF-8. */
#define ESCAPE_CHAR 16

/* Writes the first character of name, escaped as above, to out. Returns the number of bytes of name
 * that it stands for, 0 at the end (out is empty then). */
size_t escape_char(const char *name, size_t len, char out[ESCAPE_CHAR]);

/* The same for a command, whose backslashes stay single: a reader gives it to a shell. */
size_t escape_command_char(const char *command, size_t len, char out[ESCAPE_CHAR]);

/* Length of the begin of the name that any format may print as it is: ASCII without controls,
 * quotes and backslashes. */
size_t escape_plain(const char *name, size_t len);

/* Number of terminal columns of printable UTF-8, one per code point (combining and wide characters
 * are not handled apart). */
size_t text_columns(const char *utf8);

/* Number of bytes of printable UTF-8 in its first `columns` columns: where to cut. */
size_t text_fit(const char *utf8, size_t columns);

/* Writes `text` as one word of a POSIX shell, in single quotes unless it is plain. Returns buf, or
 * NULL when it does not fit, or when escape_text would write a part of it as \xNN: a command must
 * be printed unchanged. */
char *shell_quote(const char *text, char *buf, size_t buflen);

#endif
