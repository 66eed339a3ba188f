/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The entries of the causes that a report names, folded, so that the file explains itself where
 * there is no culprit: a cause in a table is a link to its entry. */
#include <string.h>

#include "render/html.h"

static const struct book_entry *entry_of(const struct view *v, const char *id)
{
	for (uint32_t i = 0; i < v->entries.n; i++)
		if (!strcmp(v->entries.row[i].id, id))
			return &v->entries.row[i];
	return NULL;
}

void html_cause(const struct html *h, const char *id)
{
	const struct book_entry *e = entry_of(h->view, id);

	if (e)
		fprintf(h->out, "<a class=\"cause\" href=\"#r%u-%s\" title=\"", h->number, e->id);
	else
		fputs("<span class=\"cause", h->out);
	html_text(h->out, e ? e->title : "");
	fputs("\">", h->out);
	html_name(h->out, id);
	fputs(e ? "</a>" : "</span>", h->out);
}

/* Writes a text of the book; what stands in backquotes is code. */
static void write_text(FILE *out, const char *text)
{
	bool code = false;

	for (size_t n; *text; text += n) {
		if (*text == '`') {
			fputs(code ? "</code>" : "<code>", out);
			code = !code;
			n = 1;
			continue;
		}
		n = strcspn(text, "`");
		if (code)
			html_command_n(out, text, n);
		else
			html_name_n(out, text, n);
	}
	fputs(code ? "</code>" : "", out);
}

static void write_part(FILE *out, const char *name, const char *text)
{
	if (!text)
		return;
	fprintf(out, "<div><dt>%s</dt><dd>", name);
	write_text(out, text);
	fputs("</dd></div>", out);
}

void html_book(const struct html *h)
{
	const struct book_entries *all = &h->view->entries;

	if (!all->n)
		return;
	fputs("<h2>What the causes are</h2>\n<p class=\"say\">From the cause book; a click opens "
	      "an "
	      "entry.</p>\n<div class=\"book\">\n",
	      h->out);
	for (uint32_t i = 0; i < all->n; i++) {
		const struct book_entry *e = &all->row[i];

		fprintf(h->out, "<details><summary id=\"r%u-%s\"><span class=\"cause\">%s</span> ",
			h->number, e->id, e->id);
		write_text(h->out, e->title);
		fputs("</summary><dl class=\"facts\">", h->out);
		write_part(h->out, "what", e->what);
		write_part(h->out, "why", e->why);
		write_part(h->out, "confirm", e->confirm);
		write_part(h->out, "fix", e->fix);
		write_part(h->out, e->arch, e->here);
		write_part(h->out, "cost", e->cost);
		write_part(h->out, "source", e->source);
		fputs("</dl></details>\n", h->out);
	}
	fputs("</div>\n", h->out);
}
