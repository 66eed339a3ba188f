/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes foreign names safe to print. A process chooses its own comm and a driver the names of its
 * interrupts, so both may hold bytes that control a terminal (ESC, the C1 controls), change the
 * reading order (bidirectional controls) or are no UTF-8 at all. All text goes through
 * escape_char(), one character at a time, so that text and JSON output agree on the rules. */
#include "base/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Length of the well-formed character at s, 0 when it is not well-formed. Reads the bytes in order,
 * and a NUL is no continuation, so it reads nothing past the end of a C string. */
static size_t utf8_decode(const unsigned char *s, size_t len, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = 0;

	*code = s[0];
	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		n = 2;
	else if (s[0] >= 0xe0 && s[0] <= 0xef)
		n = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		n = 4;
	else
		return 0;
	*code &= 0x7fu >> n;
	for (size_t i = 1; i < n; i++) {
		if (i >= len || (s[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (s[i] & 0x3f);
	}
	/* A form longer than needed could smuggle a control character past a check of the bytes. */
	if (*code < least[n] || (*code >= 0xd800 && *code <= 0xdfff) || *code > 0x10ffff)
		return 0;
	return n;
}

static bool is_printable(uint32_t code)
{
	if (code < 0x20 || (code >= 0x7f && code <= 0x9f))
		return false;
	if (code == 0x61c || code == 0x200e || code == 0x200f)
		return false;
	if (code == 0xfffe || code == 0xffff) /* XML cannot hold them */
		return false;
	return !(code >= 0x2028 && code <= 0x202e) && !(code >= 0x2066 && code <= 0x2069);
}

size_t escape_char(const char *name, size_t len, char out[ESCAPE_CHAR])
{
	const unsigned char *s = (const unsigned char *)name;
	uint32_t code;
	size_t n;

	out[0] = '\0';
	if (!len || !*s)
		return 0;
	n = utf8_decode(s, len, &code);
	if (n && code == '\\') {
		strcpy(out, "\\\\");
	} else if (n && is_printable(code)) {
		memcpy(out, s, n);
		out[n] = '\0';
	} else {
		n = n ? n : 1;
		for (size_t i = 0; i < n; i++)
			sprintf(out + 4 * i, "\\x%02x", s[i]);
	}
	return n;
}

size_t escape_plain(const char *name, size_t len)
{
	size_t n = 0;
	uint64_t w;

	len = strnlen(name, len);
	for (; len - n >= sizeof(w); n += sizeof(w)) {
		memcpy(&w, name + n, sizeof(w));
		if (escape_some(w))
			break;
	}
	if (len - n < sizeof(w) && len > sizeof(w)) { /* the last bytes, with some seen already */
		memcpy(&w, name + len - sizeof(w), sizeof(w));
		if (!escape_some(w))
			return len;
	}
	while (n < len && name[n] >= ' ' && name[n] <= '~' && name[n] != '"' && name[n] != '\\')
		n++;
	return n;
}

size_t escape_command_char(const char *command, size_t len, char out[ESCAPE_CHAR])
{
	size_t used = escape_char(command, len, out);

	if (used && *command == '\\')
		out[1] = '\0';
	return used;
}

static char *escape_all(const char *name, size_t len, char *buf, size_t buflen,
			size_t (*escape)(const char *, size_t, char[ESCAPE_CHAR]))
{
	/* whole: the last place between characters that leaves room for the dots */
	size_t pos = 0, whole = 0;
	char piece[ESCAPE_CHAR];
	size_t used;

	if (!buflen)
		return buf;
	while ((used = escape(name, len, piece))) {
		size_t n = strlen(piece);

		if (pos + n >= buflen) {
			snprintf(buf + whole, buflen - whole, "...");
			return buf;
		}
		memcpy(buf + pos, piece, n);
		pos += n;
		if (pos + sizeof("...") <= buflen)
			whole = pos;
		name += used;
		len -= used;
	}
	buf[pos] = '\0';
	return buf;
}

char *escape_text(const char *name, size_t len, char *buf, size_t buflen)
{
	size_t n = strnlen(name, len < buflen ? len : buflen);

	if (n < buflen && escape_copy(buf, name, n)) {
		buf[n] = '\0';
		return buf;
	}
	return escape_all(name, len, buf, buflen, escape_char);
}

char *escape_command(const char *command, char *buf, size_t buflen)
{
	return escape_all(command, SIZE_MAX, buf, buflen, escape_command_char);
}

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

size_t text_columns(const char *utf8)
{
	size_t n = 0;

	for (; *utf8; utf8++)
		n += !is_continuation(*utf8);
	return n;
}

size_t text_fit(const char *utf8, size_t columns)
{
	size_t n = 0;

	for (; utf8[n]; n++) {
		if (is_continuation(utf8[n]))
			continue;
		if (!columns--)
			break;
	}
	return n;
}

char *shell_quote(const char *text, char *buf, size_t buflen)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./,:=+@%-";
	bool bare = text[0] && text[0] != '-' && !text[strspn(text, plain)];
	size_t n = 0;

	if (buflen < 3)
		return NULL;
	if (!bare)
		buf[n++] = '\'';
	while (*text) {
		char shown[ESCAPE_CHAR];
		size_t len = escape_char(text, SIZE_MAX, shown);
		size_t need = *text == '\'' ? 4 : len;

		if (!strncmp(shown, "\\x", 2) || n + need + 2 > buflen)
			return NULL;
		memcpy(buf + n, *text == '\'' ? "'\\''" : text, need);
		n += need;
		text += len;
	}
	if (!bare)
		buf[n++] = '\'';
	buf[n] = 0;
	return buf;
}
