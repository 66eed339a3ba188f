/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/flow.h"

#include <stdarg.h>
#include <string.h>

#include "base/escape.h"

#define ITEM_MAX 2048
#define TOGETHER 24 /* bytes in parentheses that stand on one line: "(10 of 20)" */

void flow_start(struct flow *f, FILE *out, unsigned width, const char *start, const char *separator,
		const char *lead)
{
	*f = (struct flow){.out = out, .width = width, .separator = separator, .lead = lead};
	fputs(start, out);
	f->column = text_columns(start);
}

/* Prints an item on this line, or on the next where it does not fit. An item too long for that
 * starts farther left. */
static void put(struct flow *f, const char *item, const char *separator, const char *lead)
{
	const char *tail = f->tail ? f->tail : "";
	unsigned columns = text_columns(item), with_tail = columns + text_columns(tail);
	unsigned room = f->width > with_tail ? f->width - with_tail : 0;
	size_t blanks = strspn(lead, " ");

	if (f->column + text_columns(separator) + with_tail > f->width) {
		while (blanks-- && text_columns(lead) > room)
			lead++;
		fprintf(f->out, "%s\n%s", tail, lead);
		f->column = text_columns(lead);
	} else {
		fputs(separator, f->out);
		f->column += text_columns(separator);
	}
	fputs(item, f->out);
	f->column += columns;
}

/* Cuts off the first part, up to " > ", or the first word, and returns the rest. A number and its
 * unit are one word, and so are ">" and the name behind it. */
static char *cut(char *part, bool words)
{
	char *end = strstr(part + 1, " > ");
	size_t len;

	if (words) {
		len = strcspn(part, " ");
		if (len == strspn(part, "0123456789.,>") && part[len])
			len += 1 + strcspn(part + len + 1, " ");
		end = part[len] ? part + len : NULL;
	}
	if (end)
		*end++ = '\0';
	return end;
}

static void put_broken(struct flow *f, char *item)
{
	const char *separator = f->some ? f->separator : " ", *lead = f->some ? f->lead : f->hang;

	for (char *part = item, *next; part; part = next) {
		bool words;

		next = cut(part, false);
		words = text_columns(f->hang) + text_columns(part) > f->width;
		for (char *word = part, *rest; word; word = rest) {
			rest = words ? cut(word, true) : NULL;
			put(f, word, separator, lead);
			separator = " ";
			lead = f->hang;
		}
	}
}

void flow_add(struct flow *f, const char *fmt, ...)
{
	char item[ITEM_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(item, sizeof(item), fmt, args);
	va_end(args);
	if (f->hang && (!f->some || text_columns(f->lead) + text_columns(item) > f->width)) {
		put_broken(f, item);
	} else if (f->some) {
		put(f, item, f->separator, f->lead);
	} else {
		fputs(item, f->out);
		f->column += text_columns(item);
	}
	f->some = true;
}

/* Length of a command's first word: behind a backslash and in quotes a blank is part of it. */
static size_t command_word(const char *text)
{
	char quote = '\0';
	size_t len = 0;

	for (; text[len] && (quote || text[len] != ' '); len++) {
		if (quote)
			quote = text[len] == quote ? '\0' : quote;
		else if (text[len] == '\'' || text[len] == '"')
			quote = text[len];
		else if (text[len] == '\\' && text[len + 1])
			len++;
	}
	return len;
}

void flow_words(struct flow *f, const char *text)
{
	while (*(text += strspn(text, " "))) {
		size_t len = f->tail ? command_word(text) : strcspn(text, " ");
		size_t closed = strcspn(text, ")");

		if (text[0] == '(' && text[closed] && closed > len && closed < TOGETHER)
			len = closed + strcspn(text + closed, " ");
		flow_add(f, "%.*s", (int)len, text);
		text += len;
	}
}

void flow_end(struct flow *f)
{
	fputc('\n', f->out);
}
