/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render/sheet.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/escape.h"
#include "base/flow.h"
#include "base/markdown.h"
#include "render/html.h"

#define MOST 4096

/* Writes what means nothing to the form's markup. */
static void put(const struct sheet *s, const char *text)
{
	char safe[4 * MOST], plain[8 * MOST];

	if (s->form == SHEET_HTML) {
		html_name(s->out, text);
		return;
	}
	escape_text(text, SIZE_MAX, safe, sizeof(safe));
	fputs(s->form == SHEET_MARKDOWN ? markdown_text(safe, plain, sizeof(plain)) : safe, s->out);
}

static void put_words(const struct sheet *s, const char *start, const char *text)
{
	unsigned width = s->options->width ? s->options->width : 100;
	char safe[4 * MOST];
	struct flow f;

	flow_start(&f, s->out, width, start, " ", *start ? "    " : "  ");
	flow_advice(&f, escape_text(text, SIZE_MAX, safe, sizeof(safe)));
	flow_end(&f);
}

static void end_list(struct sheet *s)
{
	if (s->listing && s->form == SHEET_HTML)
		fputs("</ul>\n", s->out);
	s->listing = false;
}

void sheet_begin(struct sheet *s, const char *title, const char *about)
{
	char safe[4 * MOST];

	switch (s->form) {
	case SHEET_TEXT:
		fprintf(s->out, "%s%s%s · ", s->options->colour ? "\033[1m" : "",
			escape_text(title, SIZE_MAX, safe, sizeof(safe)),
			s->options->colour ? "\033[0m" : "");
		put(s, about);
		fputc('\n', s->out);
		break;
	case SHEET_MARKDOWN:
		fputs("# ", s->out);
		put(s, title);
		fputs("\n\n", s->out);
		put(s, about);
		fputc('\n', s->out);
		break;
	case SHEET_HTML:
		html_begin(s->out, escape_text(title, SIZE_MAX, safe, sizeof(safe)));
		fputs("<section class=\"view\">\n<h1>", s->out);
		put(s, title);
		fputs("</h1>\n<p class=\"meta\">", s->out);
		put(s, about);
		fputs("</p>\n", s->out);
	}
}

int sheet_end(struct sheet *s)
{
	end_list(s);
	if (s->form == SHEET_HTML)
		fputs("</section>\n</main>\n<footer><p>culprit " CULPRIT_VERSION "</p></footer>\n"
		      "</body>\n</html>\n",
		      s->out);
	return s->failed ? -ENOMEM : ferror(s->out) ? -EIO : 0;
}

void sheet_heading(struct sheet *s, const char *text)
{
	static const char *const before[] = {"\n", "\n## ", "<h2>"};
	static const char *const after[] = {"\n", "\n", "</h2>\n"};

	end_list(s);
	fputs(before[s->form], s->out);
	put(s, text);
	fputs(after[s->form], s->out);
}

void sheet_say(struct sheet *s, const char *fmt, ...)
{
	char text[MOST];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	end_list(s);
	if (s->form == SHEET_TEXT) {
		put_words(s, "", text);
		return;
	}
	fputs(s->form == SHEET_HTML ? "<p>" : "\n", s->out);
	put(s, text);
	fputs(s->form == SHEET_HTML ? "</p>\n" : "\n", s->out);
}

void sheet_item(struct sheet *s, const char *fmt, ...)
{
	char text[MOST];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (s->form == SHEET_TEXT) {
		put_words(s, "  ", text);
		return;
	}
	if (!s->listing)
		fputs(s->form == SHEET_HTML ? "<ul>\n" : "\n", s->out);
	s->listing = true;
	fputs(s->form == SHEET_HTML ? "<li>" : "* ", s->out);
	put(s, text);
	fputs(s->form == SHEET_HTML ? "</li>\n" : "\n", s->out);
}

void sheet_code(struct sheet *s, const char *text)
{
	char safe[4 * MOST], code[4 * MOST + 16];

	end_list(s);
	if (s->form == SHEET_HTML) {
		fputs("<p><code>", s->out);
		put(s, text);
		fputs("</code></p>\n", s->out);
		return;
	}
	escape_text(text, SIZE_MAX, safe, sizeof(safe));
	if (s->form == SHEET_TEXT)
		fprintf(s->out, "  %s\n", safe);
	else
		fprintf(s->out, "\n%s\n", markdown_code(safe, code, sizeof(code)));
}

/* ---- tables ---- */

void sheet_table(struct sheet *s, const char *const *headings, unsigned n, bool last_left)
{
	end_list(s);
	if (s->form == SHEET_HTML) {
		fputs("<div class=\"table\"><table><thead><tr>", s->out);
		for (unsigned i = 0; i < n; i++) {
			fputs("<th>", s->out);
			put(s, headings[i]);
			fputs("</th>", s->out);
		}
		fputs("</tr></thead><tbody>\n", s->out);
		return;
	}
	s->table = table_new(s->options->width ? s->options->width : 100, 2);
	s->failed |= !s->table;
	for (unsigned i = 0; s->table && i < n; i++)
		table_column(s->table, headings[i],
			     !i || (last_left && i + 1 == n) ? ALIGN_LEFT : ALIGN_RIGHT, !i);
}

void sheet_cell(struct sheet *s, const char *fmt, ...)
{
	char text[MOST], safe[4 * MOST], code[4 * MOST];
	va_list args;
	size_t at = 0;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (s->form == SHEET_HTML) {
		fputs(s->row ? "<td>" : "<tr><td>", s->out);
		s->row = true;
		put(s, text);
		fputs("</td>", s->out);
		return;
	}
	escape_text(text, SIZE_MAX, safe, sizeof(safe));
	/* bars are the table's */
	for (const char *c = safe; *c && at + 2 < sizeof(code); c++) {
		if (s->form == SHEET_MARKDOWN && strchr("*_`<>[]\\~$@#&", *c))
			code[at++] = '\\';
		code[at++] = *c;
	}
	code[at] = '\0';
	if (s->table)
		table_cell(s->table, NULL, code);
}

void sheet_end_row(struct sheet *s)
{
	if (s->form == SHEET_HTML)
		fputs("</tr>\n", s->out);
	else if (s->table)
		table_end_row(s->table);
	s->row = false;
}

void sheet_end_table(struct sheet *s)
{
	if (s->form == SHEET_HTML) {
		fputs("</tbody></table></div>\n", s->out);
		return;
	}
	if (s->table && s->form == SHEET_MARKDOWN) {
		fputc('\n', s->out);
		table_print_markdown(s->table, s->out);
	} else if (s->table) {
		table_print(s->table, s->out, s->options->colour);
	}
	table_free(s->table);
	s->table = NULL;
}
