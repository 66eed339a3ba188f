/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In the comparison, what workloads measured:
 *
 *   latency  count     2,617    5,998
 *            median  40.2 us  34.0 us  0.825   0.544 - 1.25  same
 *            p90      113 us  47.4 us  0.399   0.149 - 1.07  same
 *            max     5.26 ms   131 ms   24.9      one value
 */
#include <math.h>

#include "base/escape.h"
#include "base/table.h"
#include "base/units.h"
#include "render/diff_page.h"

static const char *value_text(const struct diff_series *s, uint64_t value, char buf[32])
{
	return s->fine ? format_ps(value, buf, 32) : format_ns(value, buf, 32);
}

static void figure_row(const struct page *p, struct table *t, const struct diff_series *s,
		       enum diff_figure i)
{
	char a[32];

	table_cell(t, i ? "2" : NULL, diff_figure_name(i));
	for (uint32_t n = 0; n < p->sides; n++) {
		uint32_t k = p->side[n];
		const struct diff_value *v = &s->side[k][i];
		const char *text = s->count[k] ? value_text(s, v->value, a) : "-";

		if (k && p->d->n > 2 && v->verdict >= 0)
			table_cellf(t, diff_style(v->verdict), "%s %s",
				    diff_verdict_name(v->verdict), text);
		else
			table_cell(t, NULL, text);
	}
	if (p->d->n > 2)
		return;
	if (s->side[1][i].verdict < 0) {
		table_cell(t, NULL, render_diff_number(s->side[1][i].ratio.value, a, sizeof(a)));
		table_cell(t, NULL, isnan(s->side[1][i].ratio.value) ? "-" : "one value");
		table_cell(t, NULL, "");
		return;
	}
	diff_ratio_cells(t, &s->side[1][i].ratio);
	diff_verdict_cell(t, s->side[1][i].verdict);
}

static void series_rows(const struct page *p, struct table *t, const struct diff_series *s)
{
	char a[32], name[4 * SERIES_NAME + 8];

	escape_text(s->name, sizeof(s->name), name, sizeof(name));
	diff_name_cell(p, t, name);
	table_cell(t, "2", "count");
	for (uint32_t n = 0; n < p->sides; n++)
		table_cell(t, NULL, format_count(s->count[p->side[n]], a, sizeof(a)));
	table_end_row(t);
	for (int i = 0; i < DIFF_FIGURES; i++) {
		table_cell(t, NULL, "");
		figure_row(p, t, s, i);
		table_end_row(t);
	}
}

void diff_series(const struct page *p)
{
	struct table *t = p->d->nseries ? table_new(p->width, 2) : NULL;

	if (!t)
		return;
	diff_heading(p, "what was measured: all values, of which larger is worse");
	table_column(t, "", ALIGN_LEFT, true);
	diff_total_columns(p, t);
	for (uint32_t i = 0; i < p->d->nseries; i++)
		series_rows(p, t, &p->d->series[i]);
	diff_print(p, t);
}
