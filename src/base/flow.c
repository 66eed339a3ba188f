/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/flow.h"

#include <stdarg.h>
#include <string.h>

#include "base/escape.h"
#include "base/phrase.h"

#define ITEM_MAX 2048
#define TOGETHER 24 /* bytes in parentheses that stand on one line: "(10 of 20)" */
#define LEAD_MAX 128
#define TAIL     " \\"

void flow_start(struct flow *f, FILE *out, unsigned width, const char *start, const char *separator,
		const char *lead)
{
	*f = (struct flow){.out = out, .width = width, .separator = separator, .lead = lead};
	fputs(start, out);
	f->column = text_columns(start);
}

/* A lead of fewer blanks where the columns would not fit behind it. */
static const char *fitting(const struct flow *f, const char *lead, size_t columns)
{
	size_t room = f->width > columns ? f->width - columns : 0, blanks = strspn(lead, " ");

	while (blanks-- && text_columns(lead) > room)
		lead++;
	return lead;
}

static void next_line(struct flow *f, const char *lead)
{
	fprintf(f->out, "\n%s", lead);
	f->column = text_columns(lead);
}

/* Prints an item on this line, or on the next where it does not fit. An item too long for that
 * starts farther left. */
static void put(struct flow *f, const char *item, const char *separator, const char *lead)
{
	size_t columns = text_columns(item);

	if (f->column + text_columns(separator) + columns > f->width) {
		next_line(f, fitting(f, lead, columns));
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

static void add_words(struct flow *f, const char *text, const char *end)
{
	while ((text += strspn(text, " ")) < end) {
		size_t len = strcspn(text, " "), closed = strcspn(text, ")");

		if (text[0] == '(' && text[closed] && closed > len && closed < TOGETHER)
			len = closed + strcspn(text + closed, " ");
		if (len > (size_t)(end - text))
			len = end - text;
		while (text[len - 1] == ' ')
			len--;
		flow_add(f, "%.*s", (int)len, text);
		text += len;
	}
}

void flow_words(struct flow *f, const char *text)
{
	add_words(f, text, text + strlen(text));
}

/* ---- commands ---- */

/* Length of a command's first word: behind a backslash and in quotes a blank is part of it. */
static size_t command_word(const char *text, size_t most)
{
	char quote = '\0';
	size_t len = 0;

	for (; len < most && (quote || text[len] != ' '); len++) {
		if (quote)
			quote = text[len] == quote ? '\0' : quote;
		else if (text[len] == '\'' || text[len] == '"')
			quote = text[len];
		else if (text[len] == '\\' && len + 1 < most)
			len++;
	}
	return len;
}

/* Length of a comment's first word; the mark that begins it is no word of its own. */
static size_t comment_word(const char *text, size_t most)
{
	size_t len = strspn(text, "# ");

	len += strcspn(text + len, " ");
	return len < most ? len : most;
}

/* Puts a command's words: a line that another one follows ends in a backslash, but a comment ends
 * with its line, so each of its lines is one. */
static void put_command_words(struct flow *f, const char *text, const char *end)
{
	const char *tail = TAIL, *separator = "";
	char item[ITEM_MAX], lead[LEAD_MAX];
	bool comment = false;
	size_t len, columns;

	snprintf(lead, sizeof(lead), "%s", f->lead);
	for (; text < end; text += len + strspn(text + len, " "), separator = " ") {
		bool begins = !comment && *separator && *text == '#';

		if (begins)
			tail = "";
		comment |= begins;
		len = comment ? comment_word(text, end - text) : command_word(text, end - text);
		snprintf(item, sizeof(item), "%.*s", (int)len, text);
		columns = text_columns(item) + (text + len < end ? text_columns(tail) : 0);
		if (*separator && f->column + 1 + columns > f->width) {
			fputs(tail, f->out);
			next_line(f, fitting(f, lead, columns));
			separator = "";
		}
		fprintf(f->out, "%s%s", separator, item);
		f->column += text_columns(separator) + text_columns(item);
		if (begins)
			snprintf(lead, sizeof(lead), "%s# ", f->lead);
	}
}

static void add_command(struct flow *f, const char *text, const char *end)
{
	size_t columns = text_columns(text) - text_columns(end);
	size_t lead = text_columns(f->lead), begin = f->some || f->column < lead ? lead : f->column;

	if (begin + columns <= f->width) {
		flow_add(f, "%.*s", (int)(end - text), text);
		return;
	}
	if (f->some)
		next_line(f, f->lead);
	put_command_words(f, text, end);
	f->some = true;
}

void flow_command(struct flow *f, const char *command)
{
	add_command(f, command, command + strlen(command));
}

/* With the brackets, backquotes and stops that it touches. */
static void add_in_prose(struct flow *f, const char **done, const char *text, const char *command,
			 size_t len)
{
	const char *end = command + len + strcspn(command + len, " ");

	while (command > text && command[-1] != ' ')
		command--;
	if (command < *done)
		return;
	add_words(f, *done, command);
	add_command(f, command, end);
	*done = end + strspn(end, " ");
}

void flow_advice(struct flow *f, const char *text)
{
	struct phrase part = {0};
	const char *done = text;

	while (phrase_next(text, &part))
		if (part.command)
			add_in_prose(f, &done, text, part.text, part.len);
	flow_words(f, done);
}

void flow_marked(struct flow *f, const char *text)
{
	const char *done = text, *open = text, *close;

	while ((open = strchr(open, '`')) && (close = strchr(open + 1, '`'))) {
		add_in_prose(f, &done, text, open + 1, close - open - 1);
		open = close + 1;
	}
	flow_words(f, done);
}

void flow_end(struct flow *f)
{
	fputc('\n', f->out);
}
