/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints an option table as help, at most 80 columns wide. */
#include <string.h>

#include "base/escape.h"
#include "base/opt.h"

#define HELP_COLUMNS 80
#define HELP_LEFT    28 /* longer options have their help on the next line */

/* Number of bytes of text[len] for a line of `room` columns: all, else whole words, else a part of
 * a long word. */
static size_t line_fit(const char *text, size_t len, size_t room)
{
	size_t fit = text_fit(text, room), n = fit;

	if (fit >= len)
		return len;
	while (n && text[n] != ' ')
		n--;
	while (n && text[n - 1] == ' ')
		n--;
	return n ? n : fit;
}

/* Prints text[len] from column `at`, its further lines indented like the first. A line that fits
 * keeps its inner blanks: examples stay in shape. */
static void print_line(FILE *out, const char *text, size_t len, size_t indent, size_t at)
{
	size_t blanks = strspn(text, " ");

	text += blanks;
	len -= blanks;
	indent += blanks < HELP_COLUMNS / 4 ? blanks : HELP_COLUMNS / 4;
	if (!len)
		putc('\n', out);
	while (len) {
		size_t n = line_fit(text, len, HELP_COLUMNS - indent);

		fprintf(out, "%*s%.*s\n", (int)(indent - at), "", (int)n, text);
		while (n < len && text[n] == ' ')
			n++;
		text += n;
		len -= n;
		at = 0;
	}
}

/* Prints text of any number of lines, indented, the first from column `at`. */
static void print_text(FILE *out, const char *text, size_t indent, size_t at)
{
	for (;; at = 0) {
		size_t len = strcspn(text, "\n");

		print_line(out, text, len, indent, at);
		if (!text[len] || !text[len + 1])
			return;
		text += len + 1;
	}
}

/* Writes "  -c, --cpus=CPUS"; returns its columns. */
static size_t left_text(const struct opt *row, char *buf, size_t len)
{
	char letter[] = {row->letter ? '-' : ' ', row->letter ? row->letter : ' ', '\0'};
	const char *dashes = row->letter ? ", --" : "  --", *equals = row->name ? "=" : " ";

	snprintf(buf, len, "  %s%s%s%s%s", letter, row->name ? dashes : "",
		 row->name ? row->name : "", row->value ? equals : "",
		 row->value ? row->value : "");
	return text_columns(buf);
}

/* Lines of "name  what it stands for", for words that tell. */
static void print_choices(FILE *out, const struct opt *row, size_t indent)
{
	const struct opt_choice *choice;
	size_t widest = 0;
	char name[64];

	for (size_t i = 0; (choice = opt_choice(row, i)); i++)
		if (choice->what && text_columns(choice->name) > widest)
			widest = text_columns(choice->name);
	for (size_t i = 0; (choice = opt_choice(row, i)); i++) {
		if (!choice->what)
			continue;
		snprintf(name, sizeof(name), "%*s%s", (int)indent, "", choice->name);
		fputs(name, out);
		print_text(out, choice->what, indent + widest + 2, text_columns(name));
	}
}

static void print_row(FILE *out, const struct opt *row, size_t left)
{
	char text[128], help[OPT_HELP_MAX];
	size_t columns = left_text(row, text, sizeof(text));

	if (columns > left) {
		print_text(out, text, 0, 0);
		columns = 0;
	} else {
		fputs(text, out);
	}
	print_text(out, opt_help_text(row, help, sizeof(help)), left + 2, columns);
	print_choices(out, row, left + 4);
}

const char *opt_help_text(const struct opt *row, char *buf, size_t len)
{
	snprintf(buf, len, "%s%s%s", row->help, row->preset ? "; default: " : "",
		 row->preset ? row->preset : "");
	return buf;
}

static void print_options(const struct opt_command *command, FILE *out)
{
	static const struct opt help = {.letter = 'h', .name = "help", .help = "Print this help."};
	struct opt_rows rows;
	char text[512];
	size_t left = left_text(&help, text, sizeof(text));

	opt_rows(command, &rows);
	fputs("\noptions:\n", out);
	for (size_t i = 0; i < rows.n; i++) {
		size_t columns = left_text(&rows.row[i], text, sizeof(text));

		if (rows.row[i].help && columns > left && columns <= HELP_LEFT)
			left = columns;
	}
	for (size_t i = 0; i < rows.n; i++)
		if (rows.row[i].help)
			print_row(out, &rows.row[i], left);
	print_row(out, &help, left);
}

static void print_examples(const struct opt_example *e, FILE *out)
{
	fputs("\nexamples:\n", out);
	for (; e->line; e++) {
		print_text(out, e->line, 2, 0);
		print_text(out, e->what, 6, 0);
	}
}

static void print_environment(const struct opt_choice *v, FILE *out)
{
	fputs("\nenvironment:\n", out);
	for (; v->name; v++) {
		print_text(out, v->name, 2, 0);
		print_text(out, v->what, 6, 0);
	}
}

void opt_help(const struct opt_command *command, FILE *out)
{
	char text[512];

	snprintf(text, sizeof(text), "usage: culprit %s [OPTIONS]%s%s", command->name,
		 command->operands ? " " : "", command->operands ? command->operands : "");
	print_text(out, text, 0, 0);
	putc('\n', out);
	print_text(out, command->summary, 0, 0);
	if (command->about) {
		putc('\n', out);
		print_text(out, command->about, 0, 0);
	}
	print_options(command, out);
	if (command->examples)
		print_examples(command->examples, out);
	if (command->environment)
		print_environment(command->environment, out);
}
