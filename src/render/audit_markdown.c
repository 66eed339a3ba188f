/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The audit for tickets: a table of the findings, and below it one for each that concerns several
 * interrupts or workqueues alike.
 *
 *   ## 613 IRQs are delivered to cpus 4-31
 *
 *   | name | cpus | since boot | in this run |
 *   |---|---|---|---|
 *   | eth0-TxRx-10 (irq 74) | 14 | 1,234,567 | 1.20 ms |
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/markdown.h"
#include "base/units.h"
#include "render/audit.h"

#define LIST_SHOWN 20 /* rows of a list */
#define TEXT_MAX   4096

/* Escapes bars, which split cells, also inside code. */
static void unsplit(FILE *out, const char *marked)
{
	for (; *marked; marked++)
		fprintf(out, *marked == '|' ? "\\%c" : "%c", *marked);
}

/* Escapes what means something to Markdown; no text from the machine can begin a line here. */
static void words(FILE *out, const char *text)
{
	char safe[TEXT_MAX], marked[10 * TEXT_MAX]; /* room for at signs alone */

	escape_text(text ? text : "", SIZE_MAX, safe, sizeof(safe));
	unsplit(out, markdown_text(safe, marked, sizeof(marked)));
}

static void cell(FILE *out, const char *text)
{
	fputc(' ', out);
	words(out, text);
	fputs(" |", out);
}

/* As it is typed. text: up to TEXT_MAX bytes. */
static void code(FILE *out, const char *text)
{
	char safe[4 * TEXT_MAX + 8], span[3 * sizeof(safe)]; /* room for backquotes alone */

	escape_command(text, safe, sizeof(safe));
	unsplit(out, markdown_code(safe, span, sizeof(span)));
}

static void fix_cell(FILE *out, const struct finding *x)
{
	if (!x->fix || x->fix_kind == FIX_WORDS) {
		cell(out, x->fix);
		return;
	}
	fputc(' ', out);
	if (strlen(x->fix) > TEXT_MAX) {
		code(out, FINDING_SCRIPT);
		fputs(finding_elsewhere(x) + strlen(FINDING_SCRIPT), out);
	} else {
		code(out, x->fix);
		fputs(x->replaced ? " in place of " : "", out);
		code(out, x->replaced ? x->replaced : "");
	}
	fputs(" |", out);
}

static void write_list(const struct finding *x, FILE *out)
{
	char text[TEXT_MAX];

	fputs("\n## ", out);
	words(out, x->title);
	fputs("\n\n| name | cpus | since boot | in this run |\n|---|---|---|---|\n", out);
	for (uint32_t i = 0; i < x->list.count && i < LIST_SHOWN; i++) {
		const struct finding_item *one = &x->list.row[i];

		if (x->kind == SOURCE_IRQ)
			snprintf(text, sizeof(text), "%s (irq %u)", one->name, one->number);
		fputc('|', out);
		cell(out, x->kind == SOURCE_IRQ ? text : one->name);
		cell(out, cpus_format(&one->cpus, text, sizeof(text)));
		cell(out,
		     x->kind == SOURCE_IRQ ? format_count(one->count, text, sizeof(text)) : "");
		cell(out, one->cost_ns ? format_ns(one->cost_ns, text, sizeof(text)) : "");
		fputc('\n', out);
	}
	if (x->list.count > LIST_SHOWN)
		fprintf(out, "\nAnd %u more: all of them with -f json.\n",
			x->list.count - LIST_SHOWN);
}

int render_audit_markdown(const struct view *v, const struct render_options *options, FILE *out)
{
	uint32_t *order = calloc(v->findings.count + 1, sizeof(*order));
	char list[TEXT_MAX], title[FINDING_TITLE];

	(void)options;
	if (!order)
		return -ENOMEM;
	findings_order(&v->findings, order);
	cpus_format(&v->run.cpus, list, sizeof(list));
	fprintf(out, "# Audit of cpu %s\n\n", list[0] ? list : "none");
	fputs("| level | found | value | good | fix | cause |\n|---|---|---|---|---|---|\n", out);
	for (uint32_t i = 0; i < v->findings.count; i++) {
		const struct finding *x = &v->findings.row[order[i]];

		fputs("|", out);
		cell(out, x->known ? finding_level_name(x->level) : "?");
		cell(out, finding_title(x, title, sizeof(title)));
		cell(out, x->value);
		cell(out, x->good);
		fix_cell(out, x);
		cell(out, x->cause);
		fputc('\n', out);
	}
	for (uint32_t i = 0; i < v->findings.count; i++)
		if (v->findings.row[order[i]].list.count > 1)
			write_list(&v->findings.row[order[i]], out);
	free(order);
	return ferror(out) ? -EIO : 0;
}
