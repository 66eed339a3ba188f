/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/markdown.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static size_t longest_run(const char *text, size_t len)
{
	size_t longest = 0, run = 0;

	for (size_t i = 0; i < len; i++) {
		run = text[i] == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest;
}

/* A reader strips one blank from each side of a span, so a name may begin or end with a backquote,
 * or with blanks. */
static bool needs_pad(const char *text, size_t len)
{
	return len && (strchr("` ", text[0]) || strchr("` ", text[len - 1]));
}

char *markdown_code(const char *text, char *buf, size_t len)
{
	size_t n = strlen(text), run;
	bool pad;

	for (;; n--) {
		run = longest_run(text, n) + 1;
		pad = needs_pad(text, n);
		if (((unsigned char)text[n] & 0xc0) != 0x80 && n + 2 * (run + pad) < len)
			break;
	}
	if (!n)
		run = pad = 0;
	memset(buf, '`', run);
	snprintf(buf + run, len - run, "%s%.*s%s", pad ? " " : "", (int)n, text, pad ? " " : "");
	memset(buf + run + n + 2 * pad, '`', run);
	buf[2 * (run + pad) + n] = '\0';
	return buf;
}

/* Readers make links of what looks like one: of "www." and "://" unless these are escaped. */
static bool is_mark(const char *start, const char *at)
{
	return strchr("*_`<>[]\\~$@#&", *at) || !strncmp(at, "://", 3) ||
	       (*at == '.' && at - start >= 3 && !strncasecmp(at - 3, "www", 3));
}

char *markdown_text(const char *text, char *buf, size_t len)
{
	const char *start = text;
	size_t at = 0;

	for (size_t n; *text; text += n) {
		bool mark = is_mark(start, text);
		/* Names at places and mentions are looked for when escapes are gone: an empty
		 * comment parts them. */
		const char *behind = *text == '@' ? "<!-- -->" : "";

		for (n = 1; ((unsigned char)text[n] & 0xc0) == 0x80;)
			n++;
		if (at + mark + n + strlen(behind) >= len)
			break;
		buf[at] = '\\';
		memcpy(buf + at + mark, text, n);
		strcpy(buf + at + mark + n, behind);
		at += mark + n + strlen(behind);
	}
	buf[at] = '\0';
	return buf;
}
