/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that come from the machine (comms, IRQ names, paths) may hold any byte. These functions
 * make them safe to print. */
#ifndef CULPRIT_ESCAPE_H
#define CULPRIT_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

#define ESCAPE_EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* True when one of the eight bytes may need escaping; never false when one does. */
static inline bool escape_some(uint64_t w)
{
	uint64_t quote = w ^ ESCAPE_EACH('"'), backslash = w ^ ESCAPE_EACH('\\');
	uint64_t del = w ^ ESCAPE_EACH(0x7f), one = ESCAPE_EACH(1);

	return (w | (w - ESCAPE_EACH(' ')) | (quote - one) | (backslash - one) | (del - one)) &
	       ESCAPE_EACH(0x80);
}

/* Copies a name of this length that any format may print as it is. False: this one may need
 * escaping, and what it wrote is worth nothing. */
static inline bool escape_copy(char *to, const char *name, size_t len)
{
	bool some = false;
	uint64_t w;

	for (size_t n = 0; len - n >= sizeof(w); n += sizeof(w)) {
		memcpy(&w, name + n, sizeof(w));
		memcpy(to + n, &w, sizeof(w));
		some |= escape_some(w);
	}
	if (len >= sizeof(w)) { /* the last bytes, with some seen already */
		memcpy(&w, name + len - sizeof(w), sizeof(w));
		memcpy(to + len - sizeof(w), &w, sizeof(w));
	} else if (len >= sizeof(w) / 2) {
		uint32_t first, last;

		memcpy(&first, name, sizeof(first));
		memcpy(&last, name + len - sizeof(last), sizeof(last));
		memcpy(to, &first, sizeof(first));
		memcpy(to + len - sizeof(last), &last, sizeof(last));
		w = (uint64_t)first << 32 | last;
	} else {
		w = ESCAPE_EACH(' ');
		for (size_t n = 0; n < len; n++) {
			to[n] = name[n];
			w = w << 8 | (unsigned char)name[n];
		}
	}
	return !some && !escape_some(w);
}

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
