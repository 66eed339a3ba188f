/* In the text report, what a workload measured:
 *
 *      count       min    median       p90       p99     p99.9       max       mad
 *      2,000   12.1 us   34.8 us   51.0 us   98.3 us    412 us   2.20 ms   3.10 us  latency
 *
 * Where each series has a threshold of its own, how many of its windows were longer stands in place of a percentile:
 *
 *      count      min   median      p90      p99      max      mad  longer    than  of each
 *     27,870  83.3 ns  83.5 ns  84.2 ns   103 ns  96.5 us  0.13 ns      97  840 ns  getpid
 */
#include "base/escape.h"
#include "base/table.h"
#include "base/units.h"
#include "render/text.h"

#define UNITS(fine) ((fine) ? 1000 : 1)

/* "0.34 ns", "24.1 ns", and from 100 ns on as all times are. */
static void value_cell(struct table *t, const struct series *s, uint64_t value)
{
	char text[32];

	if (s->fine && value < 99950)
		table_cellf(t, NULL, value < 9995 ? "%.2f ns" : "%.1f ns", value / 1000.0);
	else
		table_cell(t, NULL, format_ns((value + UNITS(s->fine) / 2) / UNITS(s->fine), text, sizeof(text)));
}

static void write_row(struct table *t, const struct series *s, bool several)
{
	uint64_t max = s->hist.max, longest = s->longest_ns * UNITS(s->fine);
	char text[32], name[4 * SERIES_NAME + 8];

	table_cell(t, NULL, format_count(s->hist.count, text, sizeof(text)));
	value_cell(t, s, s->hist.min);
	value_cell(t, s, hist_percentile(&s->hist, 50));
	value_cell(t, s, hist_percentile(&s->hist, 90));
	value_cell(t, s, hist_percentile(&s->hist, 99));
	if (!several)
		value_cell(t, s, hist_percentile(&s->hist, 99.9));
	value_cell(t, s, several && longest > max ? longest : max);
	value_cell(t, s, hist_mad(&s->hist));
	if (several) {
		table_cell(t, NULL, s->threshold_ns ? format_count(s->longer, text, sizeof(text)) : "");
		table_cell(t, NULL, s->threshold_ns ? format_ns(s->threshold_ns, text, sizeof(text)) : "");
	}
	table_cell(t, "1", escape_text(s->name, sizeof(s->name), name, sizeof(name)));
	table_end_row(t);
}

void text_series(const struct page *p, const struct cpu_run *r)
{
	static const char *const headings[2][9] = {
		{"count", "min", "median", "p90", "p99", "p99.9", "max", "mad"},
		{"count", "min", "median", "p90", "p99", "max", "mad", "longer", "than"},
	};
	bool several = series_thresholds(r->series, r->nseries) > 1;
	struct table *t = table_new(p->width, 2);

	if (!t)
		return;
	for (size_t i = 0; i < 9 && headings[several][i]; i++)
		table_column(t, headings[several][i], ALIGN_RIGHT, false);
	table_column(t, "of each", ALIGN_LEFT, true);
	for (uint32_t i = 0; i < r->nseries; i++)
		if (r->series[i].hist.count)
			write_row(t, &r->series[i], several);
	table_print(t, p->out, p->colour);
	table_free(t);
}
