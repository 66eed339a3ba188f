/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of a CPU's sources: who took the time, who asked for it, and what to do about it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/flow.h"
#include "base/table.h"
#include "base/units.h"
#include "model/report.h"
#include "render/render.h"
#include "render/text.h"

#define ADVICE_INDENT 11
#define NOTE_INDENT   2
#define NOTE_HANG     2
#define STRANGERS_MAX 12

void text_notes(struct table *t, char *notes)
{
	char *save = NULL;

	for (char *line = notes ? strtok_r(report_unmark(notes), "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save))
		table_note(t, DIM, NOTE_INDENT, NOTE_HANG, line);
	free(notes);
}

/* Writes it below a source, from the table's left edge on, so that a command fits in one line. */
void text_advice(struct table *t, const struct report_row *r)
{
	const struct source *s = r->source;
	char text[640];

	if (!s->cause)
		return;
	snprintf(text, sizeof(text), "[%s] %s", s->cause, report_advice(r));
	table_line(t, s->advice ? NULL : DIM, ADVICE_INDENT, strlen("[T01] "), text);
}

static void add_row(struct table *t, const struct report_rows *rows, const struct report_row *r)
{
	const struct source *s = r->source;
	char a[32], who[REPORT_WHO + 2];

	report_row_who(r, who);
	table_cell(t, NULL, report_share(r->ns, rows->whole_ns, a, sizeof(a)));
	table_cell(t, NULL, format_ns(r->ns, a, sizeof(a)));
	table_cell(t, NULL, s ? format_count(s->count, a, sizeof(a)) : "");
	table_cell(t, NULL, s ? format_ns(s->net.max, a, sizeof(a)) : "");
	table_cell(t, DIM, report_row_kind(r));
	table_cell(t, !s ? DIM : kind_is_interval(s->kind) ? BOLD : NULL, report_unmark(who));
	table_end_row(t);
}

static void declare_columns(struct table *t)
{
	static const char *const headings[] = {"share %", "time", "count", "max"};

	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++)
		table_column(t, headings[i], ALIGN_RIGHT, false);
	table_column(t, "kind", ALIGN_LEFT, false);
	table_column(t, "who", ALIGN_LEFT, true);
}

void text_sources(const struct page *p, uint32_t i)
{
	struct table *t = table_new(p->width, 2);
	struct report_rows rows;

	if (!t || report_rows(p->view, i, p->rows, &rows)) {
		table_free(t);
		return;
	}
	declare_columns(t);
	for (const struct report_row *r = rows.row; r < rows.row + rows.n; r++) {
		add_row(t, &rows, r);
		if (!r->source)
			continue;
		text_notes(t, report_notes(&p->view->cpu[i].sources, r->source, p->stacks));
		text_advice(t, r);
	}
	table_print(t, p->out, p->colour);
	table_free(t);
	free(rows.row);
}

/* ---- what the cause book does not have ---- */

/* A system vector alone is no name that the book could have: only its function is not known. */
static bool is_stranger(const struct source *s)
{
	return !s->cause && s->net.count && kind_is_interval(s->kind) && !source_is_idle(s) &&
	       !s->rest && !(s->function && s->function[0] == '[') &&
	       (s->function || s->kind != SOURCE_VECTOR);
}

/* Text to look up: the function, else the name. */
static const char *stranger_name(const struct source *s)
{
	return s->function ? s->function : s->name;
}

static bool listed(const struct source *const *some, uint32_t n, const struct source *s)
{
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(stranger_name(some[i]), stranger_name(s)))
			return true;
	return false;
}

/* Puts the first of each name into some, and those that found no room into rest. Returns how many
 * are in some; *left: in rest. rest: room for all sources. */
static uint32_t find_strangers(const struct view *v, const struct source *some[STRANGERS_MAX],
			       const char **rest, size_t *left)
{
	uint32_t n = 0;

	*left = 0;
	for (uint32_t i = 0; i < v->ncpus; i++) {
		const struct sources *t = &v->cpu[i].sources;

		for (uint32_t k = 0; k < t->count; k++) {
			if (!is_stranger(t->row[k]) || listed(some, n, t->row[k]))
				continue;
			if (n < STRANGERS_MAX)
				some[n++] = t->row[k];
			else
				rest[(*left)++] = stranger_name(t->row[k]);
		}
	}
	return n;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Counts the different ones; sorts them. */
static uint32_t count_names(const char **name, size_t n)
{
	uint32_t different = 0;

	qsort(name, n, sizeof(*name), by_text);
	for (size_t i = 0; i < n; i++)
		different += !i || strcmp(name[i], name[i - 1]) != 0;
	return different;
}

void text_not_in_book(const struct page *p)
{
	const struct source *some[STRANGERS_MAX];
	char name[NAME_MAX_ESCAPED];
	uint32_t n = 0, more = 0;
	size_t sources = 1, left = 0;
	const char **rest;
	struct flow f;

	for (uint32_t i = 0; i < p->view->ncpus; i++)
		sources += p->view->cpu[i].sources.count;
	rest = p->view->advised ? calloc(sources, sizeof(*rest)) : NULL;
	if (rest) {
		n = find_strangers(p->view, some, rest, &left);
		more = count_names(rest, left);
	}
	free(rest);
	if (!n)
		return;
	fputc('\n', p->out);
	flow_start(&f, p->out, p->width, "not in the book: ", ", ", "  ");
	for (uint32_t i = 0; i < n; i++)
		flow_add(&f, "%s",
			 escape_text(stranger_name(some[i]), SIZE_MAX, name, sizeof(name)));
	if (more)
		flow_add(&f, "%u more", more);
	flow_add(&f, "worth adding");
	flow_end(&f);
}
