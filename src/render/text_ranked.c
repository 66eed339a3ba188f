/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of all CPUs, or watched threads, in the text report; those that are alike are one row:
 *
 *   60 CPUs, by share lost and longest gap in turn; of alike ones the most
 *     cpus               lost %    worst      p99  first cause
 *     34                  0.614  5.90 ms  55.3 us  backup [4711]
 *     4-33,35-63 (59)     0.467  55.4 us  55.3 us  local_timer > tick_nohz_handler
 */
#include <stdlib.h>
#include <string.h>

#include "base/flow.h"
#include "base/table.h"
#include "model/groups.h"
#include "model/report.h"
#include "render/text.h"

#define TABLE_ROWS 20
#define LIST_WIDTH 32
#define NARROW     80

static void table_row(const struct page *p, struct table *t, const struct cpu_group *g,
		      const struct report_column *column, uint32_t columns)
{
	size_t width = p->width < 100 ? LIST_WIDTH / 2 : LIST_WIDTH;
	const struct source *first = report_first_cause(p->view, g);
	char list[REPORT_CPUS], cell[32], who[REPORT_WHO];

	table_cell(t, BOLD, report_cpus_cell(p->view, g, width, list));
	for (uint32_t i = 0; i < columns; i++) {
		cell[0] = '\0';
		column[i].cell(g, cell);
		table_cell(t, NULL, cell);
	}
	table_cell(t, NULL, first ? report_who(first, who, sizeof(who)) : "");
	table_end_row(t);
}

void text_heading(const struct page *p, const char *text, struct flow *f)
{
	fprintf(p->out, "\n%s", text_style(p, BOLD));
	flow_start(f, p->out, p->width, text, " ", "  ");
	fputs(text_plain(p), p->out);
}

static void write_table(const struct page *p)
{
	const struct cpu_groups *all = &p->view->groups;
	uint32_t rows = p->fold && all->n > TABLE_ROWS + 1 ? TABLE_ROWS : all->n, more = 0;
	struct table *t = table_new(p->width, 2);
	struct report_column column[REPORT_COLUMNS];
	uint32_t columns = report_columns(p->view, column);
	char ranked[REPORT_CPUS], what[REPORT_CPUS], *comma;
	bool folded = false;
	struct flow f;

	if (!t)
		return;
	if (p->width < NARROW && columns == REPORT_COLUMNS) { /* the first and the last must do */
		column[1] = column[columns - 1];
		columns = 2;
	}
	table_column(t, view_threads(p->view) ? "threads" : "cpus", ALIGN_LEFT, false);
	for (uint32_t i = 0; i < columns; i++)
		table_column(t, column[i].heading, ALIGN_RIGHT, false);
	table_column(t, "first cause", ALIGN_LEFT, true);
	table_cut(t);
	for (uint32_t k = 0; k < rows; k++)
		table_row(p, t, &all->row[k], column, columns);
	for (uint32_t k = 0; k < all->n; k++) {
		folded |= k < rows && all->row[k].n > 1;
		more += k < rows ? 0 : all->row[k].n;
	}
	report_ranked(p->view, ranked);
	comma = strchr(ranked, ',');
	snprintf(what, sizeof(what), "%s%s", comma, folded ? "; of alike ones the most" : "");
	*comma = '\0';
	text_heading(p, ranked, &f);
	flow_words(&f, what);
	flow_end(&f);
	table_print(t, p->out, p->colour);
	table_free(t);
	if (more)
		fprintf(p->out, "  and %u more, further down in both lists (--all)\n", more);
}

void text_cpus(const struct page *p)
{
	uint32_t *order = calloc(p->view->ncpus + 1, sizeof(*order));

	if (order && p->view->groups.n) /* in the order of the table */
		for (uint32_t k = 0, n = 0; k < p->view->groups.n; k++)
			for (uint32_t i = 0; i < p->view->groups.row[k].n; i++)
				order[n++] = p->view->groups.row[k].lane[i];
	for (uint32_t i = 0; i < p->view->ncpus; i++)
		text_cpu(p, order && groups_shown(p->view) ? order[i] : i);
	free(order);
}

void text_table(const struct page *p)
{
	if (groups_shown(p->view))
		write_table(p);
}
