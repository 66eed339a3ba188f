/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Completion for shells, made from the option tables. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cmd/manual.h"
#include "cmd/topic.h"

static void print_options(const struct opt_command *usage, FILE *out)
{
	FOR_EACH_OPTION(row, usage)
	{
		if (row->letter)
			fprintf(out, "-%c ", row->letter);
		if (row->name)
			fprintf(out, "--%s ", row->name);
	}
	fputs("-h --help", out);
}

void complete_bash(const struct command *commands, size_t n, FILE *out)
{
	fputs("# bash completion of culprit\n"
	      "_culprit()\n{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} "
	      "command=${COMP_WORDS[1]}\n"
	      "\tif [ \"$cur\" = = ]; then\n\t\tcur=\n"
	      "\telif [ \"$prev\" = = ]; then\n\t\tprev=${COMP_WORDS[COMP_CWORD-2]}\n\tfi\n"
	      "\tlocal options= words= commands=\"",
	      out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s ", commands[i].usage->name);
	fputs("help\"\n"
	      "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$commands\" -- \"$cur\"))\n\t\treturn\n\tfi\n"
	      "\tcase $command in\n\thelp)\n\t\twords=\"$commands",
	      out);
	for (const struct topic *t = topics; t->name; t++)
		fprintf(out, " %s", t->name);
	fputs("\"\n\t\t;;\n", out);
	for (size_t i = 0; i < n; i++) {
		const struct opt_command *usage = commands[i].usage;

		fprintf(out, "\t%s)\n\t\toptions=\"", usage->name);
		print_options(usage, out);
		fputs("\"\n\t\tcase $prev in\n", out);
		FOR_EACH_OPTION(row, usage)
		{
			const struct opt_choice *choice = opt_choice(row, 0);

			if (!choice)
				continue;
			fputs("\t\t", out);
			if (row->letter)
				fprintf(out, "-%c%s", row->letter, row->name ? " | " : "");
			if (row->name)
				fprintf(out, "--%s", row->name);
			fputs(") words=\"", out);
			for (size_t k = 0; (choice = opt_choice(row, k)); k++)
				fprintf(out, "%s%s", k ? " " : "", choice->name);
			fputs("\" ;;\n", out);
		}
		fputs("\t\tesac\n\t\t;;\n", out);
	}
	fputs("\tesac\n"
	      "\tif [ -n \"$words\" ]; then\n\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	      "\telif [[ $cur == -* ]]; then\n\t\tCOMPREPLY=($(compgen -W \"$options\" -- "
	      "\"$cur\"))\n"
	      "\telse\n\t\tcompopt -o filenames 2>/dev/null\n\t\tCOMPREPLY=($(compgen -f -- "
	      "\"$cur\"))\n\tfi\n"
	      "}\ncomplete -F _culprit culprit\n",
	      out);
}

/* Writes in single quotes. */
static void fish_text(const char *text, FILE *out)
{
	for (const char *p = text; *p && *p != '\n'; p++)
		fprintf(out, strchr("'\\", *p) ? "\\%c" : "%c", *p);
}

static void fish_option(const char *command, const struct opt *row, FILE *out)
{
	const struct opt_choice *choice;

	fprintf(out, "complete -c culprit -n '__fish_seen_subcommand_from %s'", command);
	if (row->letter)
		fprintf(out, " -s %c", row->letter);
	if (row->name)
		fprintf(out, " -l %s", row->name);
	if (row->value && opt_choice(row, 0)) {
		fputs(" -x -a '", out);
		for (size_t k = 0; (choice = opt_choice(row, k)); k++)
			fprintf(out, "%s%s", k ? " " : "", choice->name);
		putc('\'', out);
	} else if (row->value) {
		fputs(!strcmp(row->value, "FILE") || !strcmp(row->value, "PREFIX") ? " -r -F"
										   : " -x",
		      out);
	}
	fputs(" -d '", out);
	fish_text(row->help, out);
	fputs("'\n", out);
}

static void fish_word(const char *when, const char *word, const char *what, FILE *out)
{
	fprintf(out, "complete -c culprit -n '%s' -f -a %s -d '", when, word);
	fish_text(what, out);
	fputs("'\n", out);
}

void complete_fish(const struct command *commands, size_t n, FILE *out)
{
	static const char first[] = "__fish_use_subcommand",
			  helped[] = "__fish_seen_subcommand_from help";

	fputs("# fish completion of culprit\n", out);
	fish_word(first, "help", "the commands and topics, or the page of one", out);
	for (size_t i = 0; i < n; i++) {
		fish_word(first, commands[i].usage->name, commands[i].usage->summary, out);
		fish_word(helped, commands[i].usage->name, commands[i].usage->summary, out);
		FOR_EACH_OPTION(row, commands[i].usage)
		fish_option(commands[i].usage->name, row, out);
	}
	for (const struct topic *t = topics; t->name; t++)
		fish_word(helped, t->name, t->summary, out);
}

/* Writes in single quotes, and within the brackets of _arguments. */
static void zsh_text(const char *text, FILE *out)
{
	for (const char *p = text; *p && *p != '\n'; p++) {
		if (*p == '\'')
			fputs("'\\''", out);
		else if (strchr("[]:\\", *p))
			fprintf(out, "\\%c", *p);
		else
			putc(*p, out);
	}
}

static void zsh_option(const struct opt *row, FILE *out)
{
	const struct opt_choice *choice;
	char forms[2][64] = {"", ""};

	if (row->letter)
		snprintf(forms[0], sizeof(forms[0]), "-%c", row->letter);
	if (row->name)
		snprintf(forms[1], sizeof(forms[1]), "--%s", row->name);
	for (int i = 0; i < 2; i++) {
		if (!forms[i][0])
			continue;
		fprintf(out, "\t\t\t'*%s[", forms[i]);
		zsh_text(row->help, out);
		putc(']', out);
		if (row->value) {
			putc(':', out);
			zsh_text(row->value, out);
			putc(':', out);
			if (opt_choice(row, 0)) {
				putc('(', out);
				for (size_t k = 0; (choice = opt_choice(row, k)); k++)
					fprintf(out, "%s%s", k ? " " : "", choice->name);
				putc(')', out);
			} else if (!strcmp(row->value, "FILE") || !strcmp(row->value, "PREFIX")) {
				fputs("_files", out);
			}
		}
		fputs("' \\\n", out);
	}
}

void complete_zsh(const struct command *commands, size_t n, FILE *out)
{
	fputs("#compdef culprit\n"
	      "_culprit()\n{\n\tlocal -a commands\n\tcommands=(\n",
	      out);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "\t\t'%s:", commands[i].usage->name);
		zsh_text(commands[i].usage->summary, out);
		fputs("'\n", out);
	}
	fputs("\t\t'help:the commands, or the options of one'\n\t)\n\tlocal -a topics=(\n", out);
	for (const struct topic *t = topics; t->name; t++) {
		fprintf(out, "\t\t'%s:", t->name);
		zsh_text(t->summary, out);
		fputs("'\n", out);
	}
	fputs("\t)\n"
	      "\tif (( CURRENT == 2 )); then\n\t\t_describe command commands\n\t\treturn\n\tfi\n"
	      "\tlocal command=$words[2]\n\tshift words\n\t(( CURRENT-- ))\n\tcase $command in\n"
	      "\t\thelp) _describe command commands -- topics ;;\n",
	      out);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "\t\t%s)\n\t\t\t_arguments -s \\\n", commands[i].usage->name);
		FOR_EACH_OPTION(row, commands[i].usage)
		zsh_option(row, out);
		fprintf(out, "\t\t\t'(-)'{-h,--help}'[print the help]'%s\n\t\t\t;;\n",
			commands[i].usage->operands ? " \\\n\t\t\t'*:file:_files'" : "");
	}
	fputs("\tesac\n}\n_culprit \"$@\"\n", out);
}
