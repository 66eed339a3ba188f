/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words of the Markdown report: names and commands as code, prose as text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/markdown.h"
#include "base/phrase.h"
#include "render/markdown_parts.h"

const char *markdown_name(const char *name, char buf[CODE_MAX])
{
	char text[CODE_MAX - 32];

	return markdown_code(escape_text(name, SIZE_MAX, text, sizeof(text)), buf, CODE_MAX);
}

/* Writes a marked text (model/report.h) with its names as code. */
static void write_marked(char *text, FILE *out)
{
	char name[CODE_MAX];

	for (char *at = text, *end; *at; at = end) {
		bool is_name = *at == *REPORT_NAME;

		at += is_name;
		end = at + strcspn(at, is_name ? REPORT_END : REPORT_NAME);
		if (is_name && *end)
			*end++ = '\0';
		if (is_name)
			fputs(markdown_code(at, name, sizeof(name)), out);
		else
			fwrite(at, 1, end - at, out);
	}
}

/* A cell of marked lines, joined by semicolons. */
void markdown_marked(struct table *t, char *lines)
{
	char *text = NULL, *save = NULL;
	size_t len;
	FILE *out = lines ? open_memstream(&text, &len) : NULL;

	for (char *line = out ? strtok_r(lines, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		fputs(ftell(out) ? "; " : "", out);
		write_marked(line, out);
	}
	table_cell(t, NULL, out && !fclose(out) ? text : "?");
	free(text);
}

void markdown_who(struct table *t, const char *who, char *notes)
{
	char *lines = NULL;

	if (asprintf(&lines, "%s\n%s", who, notes ? notes : "") < 0)
		lines = NULL;
	markdown_marked(t, lines);
	free(lines);
	free(notes);
}

/* code: as it is typed. */
static void write_part(const char *text, size_t len, bool code, FILE *out)
{
	char part[CODE_MAX / 4], safe[CODE_MAX - 32], buf[2 * CODE_MAX];

	snprintf(part, sizeof(part), "%.*s", (int)(len < sizeof(part) ? len : sizeof(part)), text);
	if (code)
		escape_command(part, safe, sizeof(safe));
	else
		escape_text(part, SIZE_MAX, safe, sizeof(safe));
	fputs(code ? markdown_code(safe, buf, sizeof(buf)) : markdown_text(safe, buf, sizeof(buf)),
	      out);
}

void markdown_do(struct table *t, const struct report_row *r)
{
	const struct source *s = r->source;
	bool advised = !r->as_above && !(r->common && r->common->differs) && s->advice;
	struct phrase part = {0};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (out) {
		fprintf(out, "%s%s", s->cause ? s->cause : "", report_advice(r)[0] ? ": " : "");
		fputs(advised ? "" : report_advice(r), out);
		while (advised && phrase_next(s->advice, &part))
			write_part(part.text, part.len, part.code, out);
	}
	table_cell(t, NULL, out && !fclose(out) ? text : "?");
	free(text);
}

void markdown_verdict(const char *verdict, FILE *out)
{
	size_t command = phrase_command(verdict);

	fputs("**Verdict**: ", out);
	write_part(verdict, command, false, out);
	if (verdict[command])
		write_part(verdict + command, strlen(verdict + command), true, out);
	fputs("\n\n", out);
}
