#include "cmd/manual.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "cmd/topic.h"

/* Options without help are hidden. */
static struct opt_rows *visible_rows(const struct opt_command *usage, struct opt_rows *rows)
{
	size_t n = 0;

	opt_rows(usage, rows);
	for (size_t i = 0; i < rows->n; i++)
		if (rows->row[i].help)
			rows->row[n++] = rows->row[i];
	rows->n = n;
	return rows;
}

#define FOR_EACH_OPTION(row_, usage)                                                               \
	for (struct opt_rows rows_, *all_ = visible_rows(usage, &rows_); all_; all_ = NULL)        \
		for (const struct opt *row_ = all_->row; row_ < all_->row + all_->n; row_++)

/* ---- man pages ---- */

void roff(const char *text, FILE *out)
{
	bool begins = true;

	for (const char *p = text; *p; p++) {
		if (begins && (*p == '.' || *p == '\''))
			fputs("\\&", out);
		begins = *p == '\n';
		if (*p == '\\')
			fputs("\\e", out);
		else if (*p == '-')
			fputs("\\-", out);
		else if (*p == '\n' && p[1] == '\n') {
			fputs("\n.PP\n", out);
			p++;
		} else {
			putc(*p, out);
		}
	}
}

void roff_heading(const char *name, int section, FILE *out)
{
	const char *of = section == 1   ? "User Commands"
			 : section == 5 ? "File Formats"
					: "Miscellaneous Information";

	fputs(".TH CULPRIT", out);
	if (name)
		putc('-', out);
	for (const char *p = name ? name : ""; *p; p++)
		putc(toupper((unsigned char)*p), out);
	fprintf(out, " %d \"\" \"culprit %s\" \"%s\"\n", section, CULPRIT_VERSION, of);
}

static void option(const struct opt *row, FILE *out)
{
	const struct opt_choice *choice;
	char help[OPT_HELP_MAX];

	fputs(".TP\n", out);
	if (row->letter)
		fprintf(out, "\\fB\\-%c\\fR%s", row->letter, row->name ? ", " : "");
	if (row->name) {
		fputs("\\fB\\-\\-", out);
		roff(row->name, out);
		fputs("\\fR", out);
	}
	if (row->value)
		fprintf(out, " \\fI%s\\fR", row->value);
	putc('\n', out);
	roff(opt_help_text(row, help, sizeof(help)), out);
	for (size_t i = 0; (choice = opt_choice(row, i)); i++) {
		fputs("\n.br\n\\fB", out);
		roff(choice->name, out);
		fputs(choice->what ? "\\fR: " : "\\fR", out);
		roff(choice->what ? choice->what : "", out);
	}
	putc('\n', out);
}

/* A word or a line, and what it is. */
static void tagged(const char *tag, const char *what, FILE *out)
{
	fputs(".TP\n\\fB", out);
	roff(tag, out);
	fputs("\\fR\n", out);
	roff(what, out);
	putc('\n', out);
}

/* The topics that speak of this command. */
static void see_also(const char *name, FILE *out)
{
	char use[64];

	snprintf(use, sizeof(use), "culprit %s", name);
	fputs(".SH SEE ALSO\n.BR culprit (1)", out);
	for (const struct topic *t = topics; t->name; t++)
		if (strstr(t->text, use))
			fprintf(out, ",\n.BR culprit\\-%s (%d)", t->name, t->section);
	putc('\n', out);
}

void manual_of(const struct opt_command *usage, FILE *out)
{
	roff_heading(usage->name, 1, out);
	fprintf(out, ".SH NAME\nculprit\\-%s \\- ", usage->name);
	roff(usage->summary, out);
	fprintf(out, "\n.SH SYNOPSIS\n.B culprit %s\n[\\fIOPTION\\fR]...", usage->name);
	if (usage->operands) {
		putc(' ', out);
		roff(usage->operands, out);
	}
	putc('\n', out);
	if (usage->about) {
		fputs(".SH DESCRIPTION\n", out);
		roff(usage->about, out);
		putc('\n', out);
	}
	fputs(".SH OPTIONS\n", out);
	FOR_EACH_OPTION(row, usage)
	option(row, out);
	fputs(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nPrint the help.\n.SH EXAMPLES\n", out);
	for (const struct opt_example *e = usage->examples; e && e->line; e++)
		tagged(e->line, e->what, out);
	fputs(".SH ENVIRONMENT\n", out);
	for (const struct opt_choice *v = usage->environment; v && v->name; v++)
		tagged(v->name, v->what, out);
	see_also(usage->name, out);
}

void manual_all(const struct command *commands, size_t n, FILE *out)
{
	roff_heading(NULL, 1, out);
	fputs(".SH NAME\nculprit \\- what interrupts a CPU, and who is to blame\n"
	      ".SH SYNOPSIS\n.B culprit\n\\fICOMMAND\\fR [\\fIOPTION\\fR]...\n"
	      ".SH DESCRIPTION\nA sampler spins on each CPU and notices every time it was away; "
	      "BPF programs record "
	      "what the\n"
	      "kernel ran there meanwhile, and who asked for it. The two are joined by time, so "
	      "that every gap ends "
	      "with\n"
	      "names, in nanoseconds.\n.PP\nTo begin: \\fBsudo culprit run\\fR\n.SH COMMANDS\n",
	      out);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, ".TP\n.BR culprit\\-%s (1)\n", commands[i].usage->name);
		roff(commands[i].usage->summary, out);
		putc('\n', out);
	}
	fputs(".SH TOPICS\n", out);
	for (const struct topic *t = topics; t->name; t++) {
		fprintf(out, ".TP\n.BR culprit\\-%s (%d)\n", t->name, t->section);
		roff(t->summary, out);
		putc('\n', out);
	}
	fputs(".SH EXIT STATUS\n0 done, 1 error (one line on standard error), 2 a threshold that "
	      "was given has been "
	      "crossed.\n",
	      out);
}

/* ---- completion ---- */

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

/* In single quotes, and within the brackets of _arguments. */
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
			fprintf(out, ":%s:", row->value);
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
