/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/manual.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "cmd/topic.h"

struct opt_rows *visible_rows(const struct opt_command *usage, struct opt_rows *rows)
{
	size_t n = 0;

	opt_rows(usage, rows);
	for (size_t i = 0; i < rows->n; i++)
		if (rows->row[i].help)
			rows->row[n++] = rows->row[i];
	rows->n = n;
	return rows;
}

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
	      "BPF programs record what the\n"
	      "kernel ran there meanwhile, and who asked for it. The two are joined by time, so "
	      "that every gap ends with\n"
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
	      "was given has been crossed.\n",
	      out);
}
