/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In the report in Markdown, all that a workload measured. Where each series has a threshold of its
 * own, a last column says it, and how many windows were longer.
 *
 *   | of each   | count |     min |  median |     p99 |   p99.9 |     max |
 *   | :-------- | ----: | ------: | ------: | ------: | ------: | ------: |
 *   | `latency` |    40 | 2.60 us | 3.06 us | 3.59 us | 3.59 us | 3.59 us |
 */
#include <errno.h>

#include "base/escape.h"
#include "base/markdown.h"
#include "base/table.h"
#include "base/units.h"
#include "render/markdown_parts.h"

static void series_row(struct table *t, const struct series *s, bool several)
{
	uint64_t longest = several ? s->longest_ns * (s->fine ? 1000 : 1) : 0;
	const uint64_t value[] = {s->hist.min, hist_percentile(&s->hist, 50),
				  hist_percentile(&s->hist, 99), hist_percentile(&s->hist, 99.9),
				  longest > s->hist.max ? longest : s->hist.max};
	char a[32], b[32], name[4 * SERIES_NAME + 8], code[CODE_MAX];

	table_cell(t, NULL,
		   markdown_code(escape_text(s->name, sizeof(s->name), name, sizeof(name)), code,
				 sizeof(code)));
	table_cell(t, NULL, format_count(s->hist.count, a, sizeof(a)));
	for (size_t i = several; i < sizeof(value) / sizeof(value[0]); i++)
		if (!several || i != 3)
			table_cell(t, NULL,
				   s->fine ? format_ps(value[i], a, sizeof(a))
					   : format_ns(value[i], a, sizeof(a)));
	if (several && s->threshold_ns)
		table_cellf(t, NULL, "%s than %s", format_count(s->longer, a, sizeof(a)),
			    format_ns(s->threshold_ns, b, sizeof(b)));
	else if (several)
		table_cell(t, NULL, "");
	table_end_row(t);
}

int markdown_series(const struct cpu *c, FILE *out)
{
	static const char *const one[] = {"of each", "count", "min", "median",
					  "p99",     "p99.9", "max"};
	static const char *const each[] = {"of each", "count", "median", "p99", "max", "longer"};
	bool several = series_thresholds(c->series, c->nseries) > 1;
	struct table *t;

	if (!series_first(c->series, c->nseries))
		return 0;
	t = markdown_begin(several ? each : one, several ? "lrrrre" : "lrrrrrr");
	for (uint32_t i = 0; t && i < c->nseries; i++)
		if (c->series[i].hist.count)
			series_row(t, &c->series[i], several);
	if (markdown_finish(t, out))
		return -ENOMEM;
	fputc('\n', out);
	return 0;
}

static void group_cell(struct table *t, const struct group_series *s, double value)
{
	char a[32];

	table_cell(t, NULL,
		   s->one->fine ? format_ps(value, a, sizeof(a)) : format_ns(value, a, sizeof(a)));
}

int markdown_group_series(const struct view *v, const struct cpu_group *g, FILE *out)
{
	static const char *const headings[] = {
		"of each", "count", "median, least", "most", "p99 up to", "max", "at"};
	char a[32], name[4 * SERIES_NAME + 8], code[CODE_MAX], lane[REPORT_CPUS];
	struct table *t;

	if (!g->nseries)
		return 0;
	t = markdown_begin(headings, "lrrrrrl");
	for (uint32_t i = 0; t && i < g->nseries; i++) {
		const struct group_series *s = &g->series[i];

		escape_text(s->one->name, sizeof(s->one->name), name, sizeof(name));
		table_cell(t, NULL, markdown_code(name, code, sizeof(code)));
		table_cell(t, NULL, format_count(s->count, a, sizeof(a)));
		group_cell(t, s, s->median.least);
		group_cell(t, s, s->median.most);
		group_cell(t, s, s->p99.most);
		group_cell(t, s, s->max.most);
		table_cell(t, NULL, report_lane(v, s->max.lane, lane));
		table_end_row(t);
	}
	fputc('\n', out);
	return markdown_finish(t, out);
}
