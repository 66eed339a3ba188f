/* In the text report, what a workload measured:
 *
 *      count       min    median       p90       p99     p99.9       max       mad
 *      2,000   12.1 us   34.8 us   51.0 us   98.3 us    412 us   2.20 ms   3.10 us  latency
 */
#include "base/escape.h"
#include "base/table.h"
#include "base/units.h"
#include "render/text.h"

static void ns_cell(struct table *t, uint64_t ns)
{
	char text[32];

	table_cell(t, NULL, format_ns(ns, text, sizeof(text)));
}

void text_series(const struct page *p, const struct cpu_run *r)
{
	static const char *const headings[] = {"count", "min", "median", "p90", "p99", "p99.9", "max", "mad"};
	struct table *t = table_new(p->width, 2);
	char text[32], name[4 * SERIES_NAME + 8];

	if (!t)
		return;
	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++)
		table_column(t, headings[i], ALIGN_RIGHT, false);
	table_column(t, "of each", ALIGN_LEFT, true);
	for (uint32_t i = 0; i < r->nseries; i++) {
		const struct hist *h = &r->series[i].hist;

		if (!h->count)
			continue;
		table_cell(t, NULL, format_count(h->count, text, sizeof(text)));
		ns_cell(t, h->min);
		ns_cell(t, hist_percentile(h, 50));
		ns_cell(t, hist_percentile(h, 90));
		ns_cell(t, hist_percentile(h, 99));
		ns_cell(t, hist_percentile(h, 99.9));
		ns_cell(t, h->max);
		ns_cell(t, hist_mad(h));
		table_cell(t, "1", escape_text(r->series[i].name, SIZE_MAX, name, sizeof(name)));
		table_end_row(t);
	}
	table_print(t, p->out, p->colour);
	table_free(t);
}
