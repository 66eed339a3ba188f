/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report of pingpong as users of osjitter's pingpong know it: a row for each side, thread 0
 * being the one that sends first. With several methods, which it cannot have, one more column names
 * each.
 *
 *   Thread  TSC_khz  #delta  min_ns  max_ns  median_ns  p20_ns ... mad_ns
 *        0  2596140  500000     210   84610        257     246         10
 */
#include <errno.h>
#include <inttypes.h>

#include "base/escape.h"
#include "render/styles.h"

static void write_row(const struct view *v, unsigned thread, const struct series *s, bool named,
		      FILE *out)
{
	static const struct {
		double percentile;
		int width;
	} shown[] = {{50, 10}, {20, 7}, {80, 7}, {90, 7}, {99, 7}, {99.9, 9}};
	char name[4 * SERIES_NAME + 8];
	const struct hist *h = &s->hist;

	fprintf(out, "%6u %8" PRIu64 " %7" PRIu64 " %7" PRIu64 " %7" PRIu64, thread,
		v->host.tsc_khz, h->count, h->min, h->max);
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		fprintf(out, " %*" PRIu64, shown[i].width, hist_percentile(h, shown[i].percentile));
	fprintf(out, " %7" PRIu64, hist_mad(h));
	if (named)
		fprintf(out, " %s", escape_text(s->name, SERIES_NAME, name, sizeof(name)));
	putc('\n', out);
}

int render_pingpong(const struct view *v, const unsigned cpu[2], FILE *out)
{
	bool named = v->ncpus && v->cpu[0].nseries > 1;

	fprintf(out,
		"Thread  TSC_khz  #delta  min_ns  max_ns  median_ns  p20_ns  p80_ns  p90_ns  "
		"p99_ns  p99.9_ns  mad_ns%s\n",
		named ? " method" : "");
	for (unsigned thread = 0; thread < 2; thread++)
		for (uint32_t i = 0; i < v->ncpus; i++)
			for (uint32_t k = 0;
			     v->cpu[i].number == cpu[thread] && k < v->cpu[i].nseries; k++)
				if (v->cpu[i].series[k].hist.count)
					write_row(v, thread, &v->cpu[i].series[k], named, out);
	return ferror(out) ? -EIO : 0;
}

int render_pingpong_raw(const uint64_t *ns, uint64_t room, const uint64_t *count, FILE *out)
{
	fputs("[\n", out);
	for (unsigned thread = 0; thread < 2; thread++) {
		fputs("    [", out);
		for (uint64_t i = 0; i < count[thread]; i++)
			fprintf(out, "%s%" PRIu64, i ? ", " : " ", ns[thread * room + i]);
		fputs(thread ? "]\n" : "],\n", out);
	}
	fputs("]\n", out);
	return ferror(out) ? -EIO : 0;
}
