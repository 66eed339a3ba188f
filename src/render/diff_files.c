// SPDX-License-Identifier: GPL-2.0-or-later
/* The first part of a comparison: its files, and how their machines and measurements differ. */
#include "render/diff_page.h"

#include <string.h>

#include "base/escape.h"
#include "base/table.h"
#include "base/units.h"

#define FACTS_SHOWN 40
#define VALUE_MAX   300

static bool any_label(const struct diff *d)
{
	for (uint32_t k = 0; k < d->n; k++)
		for (uint32_t i = 0; i < d->side[k].n; i++)
			if (d->side[k].view[i]->run.label[0])
				return true;
	return false;
}

static void file_row(const struct page *p, struct table *t, uint32_t k, const char *name,
		     const struct view *v, bool labelled)
{
	uint32_t lanes = v->ncpus - diff_left_out(v); /* one at least: some time was observed */
	char text[TEXT_LEN];

	table_cell(t, "1", diff_letter(k));
	diff_name_cell(p, t, name);
	if (labelled)
		diff_name_cell(p, t, v->run.label);
	diff_name_cell(p, t, v->host.hostname);
	diff_name_cell(p, t, v->host.kernel);
	table_cell(t, NULL, cpus_format(&v->run.cpus, text, 40));
	table_cell(t, NULL, format_ns(diff_observed_ns(v) / lanes, text, sizeof(text)));
	table_cellf(t, NULL, "%.19s%s",
		    escape_text(v->run.started, sizeof(v->run.started), text, sizeof(text)),
		    v->run.started[0] ? "Z" : "");
	table_end_row(t);
}

void diff_files(const struct page *p)
{
	struct table *t = table_new(p->width, 2);
	bool labelled = any_label(p->d);

	if (!t)
		return;
	table_column(t, "side", ALIGN_LEFT, false);
	table_column(t, "path", ALIGN_LEFT, true);
	if (labelled)
		table_column(t, "label", ALIGN_LEFT, true);
	table_column(t, "host", ALIGN_LEFT, true);
	table_column(t, "kernel", ALIGN_LEFT, true);
	table_column(t, "cpu", ALIGN_LEFT, false);
	table_column(t, "observed", ALIGN_RIGHT, false);
	table_column(t, "started", ALIGN_LEFT, false);
	for (uint32_t k = 0, name = 0; k < p->d->n; k++)
		for (uint32_t i = 0; i < p->d->side[k].n; i++)
			file_row(p, t, k, p->names[name++], p->d->side[k].view[i], labelled);
	diff_print(p, t);
}

static bool several(const struct diff *d)
{
	for (uint32_t k = 0; k < d->n; k++)
		if (d->side[k].n > 1)
			return true;
	return false;
}

static uint32_t facts_shown(const struct diff *d)
{
	return d->facts < FACTS_SHOWN ? d->facts : FACTS_SHOWN;
}

/* True when the sides of this table differ in it. */
static bool differs(const struct page *p, const struct diff_fact *f)
{
	for (uint32_t i = 1; i < p->sides; i++) {
		const char *a = f->value[p->side[0]], *b = f->value[p->side[i]];

		if (!a != !b || (a && strcmp(a, b) != 0))
			return true;
	}
	return false;
}

static void fact_row(const struct page *p, struct table *t, const struct diff_fact *f)
{
	diff_name_cell(p, t, f->what);
	for (uint32_t i = 0; i < p->sides; i++) {
		const char *text = f->value[p->side[i]];
		char value[VALUE_MAX];

		if (text) {
			if (snprintf(value, sizeof(value), "%s", text) >= VALUE_MAX)
				strcpy(value + VALUE_MAX - 4, "...");
			diff_name_cell(p, t, value);
		} else {
			table_cell(t, NULL, "-");
		}
	}
	table_end_row(t);
}

static void fact_table(const struct page *p)
{
	const struct diff *d = p->d;
	struct table *t = NULL;

	for (uint32_t i = 0; i < facts_shown(d); i++) {
		if (!differs(p, &d->fact[i]))
			continue;
		if (!t) {
			if (!(t = table_new(p->width, 2)))
				return;
			table_column(t, "what", ALIGN_LEFT, true);
			diff_side_columns(p, t, ALIGN_LEFT, true);
		}
		fact_row(p, t, &d->fact[i]);
	}
	if (t)
		diff_heading(p, several(d) ? "not the same, by the first recording of each"
					   : "not the same");
	diff_print(p, t);
}

void diff_facts(const struct page *p)
{
	uint32_t shown = facts_shown(p->d);

	diff_blocks(p, fact_table);
	if (p->d->facts > shown)
		fprintf(p->out, "%s%u more %s in -f json\n", p->markdown ? "\n" : "  ",
			p->d->facts - shown, p->d->facts - shown == 1 ? "is" : "are");
}
