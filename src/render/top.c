/* At 80 columns:
 *
 *   culprit top · linux 6.12.1 · 42 s · by the last second
 *   cpu 3  0.41 % lost  ▁▁▂▁▁▇▁▁▁▁▁▁▁▂
 *      1s %    10s %     all %    count      max  cause  who
 *      0.21     0.20      0.20   12,400  9.80 us  T01    local_timer > tick_nohz_handler
 *   q quit  p pause  s sort  h help
 */
#include "model/report.h"
#include "render/top.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/table.h"
#include "base/units.h"
#include "render/render.h"

#define CPUS_SHOWN 8
#define ROWS_MAX   512
#define NARROW     60  /* columns: below this only what is indispensable */
#define WIDE       100 /* columns: room for everything */
#define TEXT_MAX   1024

struct line {
	uint32_t cpu, row;
	double second, ten, all;
	uint64_t max, count;
};

static const char *const sort_names[TOP_SORTS] = {"the last second", "the last ten seconds",
						  "all the time", "the longest", "count"};

/* Prints one line, cut to the width. */
static void put(const struct top_state *s, unsigned *left, const char *sgr, const char *text,
		FILE *out)
{
	size_t len = text_fit(text, s->width);

	if (!*left)
		return;
	--*left;
	if (s->colour && sgr)
		fprintf(out, "\033[%sm%.*s\033[0m", sgr, (int)len, text);
	else
		fprintf(out, "%.*s", (int)len, text);
	fputs(*left ? "\033[K\r\n" : "\033[K", out);
}

static void write_head(const struct top_state *s, const struct view *v, unsigned *left, FILE *out)
{
	char kernel[300], time[32], text[TEXT_MAX];

	format_ns(v->run.duration_ns, time, sizeof(time));
	escape_text(v->host.kernel, sizeof(v->host.kernel), kernel, sizeof(kernel));
	if (s->width < NARROW)
		snprintf(text, sizeof(text), "culprit top · %s%s", time,
			 s->paused ? " · paused" : "");
	else
		snprintf(text, sizeof(text), "culprit top · linux %s · %s · by %s%s", kernel, time,
			 sort_names[s->sort], s->paused ? " · paused" : "");
	put(s, left, "1", text, out);
}

/* A block for each second, the newest on the right; its height is the lost share, on a scale of
 * orders of magnitude: 0.001 % to 100 %. */
static void sparkline(const struct recent *r, uint32_t cpu, unsigned columns, char *buf, size_t len)
{
	static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	size_t at = 0;

	buf[0] = 0;
	for (unsigned i = columns; i-- > 0;) {
		double share = recent_share(r, cpu, i);
		unsigned height = 0;

		if (share < 0)
			continue;
		for (double limit = 1e-5; height < 7 && share > limit;
		     limit *= 5.18) /* 7 steps to 1 */
			height++;
		if (at + 4 < len)
			at += snprintf(buf + at, len - at, "%s", blocks[height]);
	}
}

static void write_cpus(const struct top_state *s, const struct view *v, const struct recent *r,
		       unsigned *left, FILE *out)
{
	for (uint32_t i = 0; i < v->ncpus && i<CPUS_SHOWN && * left> 4; i++) {
		char start[96], line[4 * RECENT_LINE], text[TEXT_MAX + 256], share[32];
		uint64_t observed = recent_observed(r, i, 1);
		unsigned used;

		format_percent(observed ? 100.0 * recent_lost(r, i, 1) / observed : 0, share,
			       sizeof(share));
		snprintf(start, sizeof(start), "cpu %u%s  %s %% lost  ", v->cpu[i].number,
			 s->width >= WIDE && cpus_has(&v->host.isolated, v->cpu[i].number)
				 ? " (isolated)"
				 : "",
			 share);
		used = text_columns(start);
		sparkline(r, i, s->width > used ? s->width - used : 0, line, sizeof(line));
		snprintf(text, sizeof(text), "%s%s", start, line);
		put(s, left, NULL, text, out);
	}
	if (v->ncpus > CPUS_SHOWN && *left > 4) {
		char text[64];

		snprintf(text, sizeof(text), "%u more CPUs", v->ncpus - CPUS_SHOWN);
		put(s, left, "2", text, out);
	}
}

static double key_of(const struct line *l, enum top_sort sort)
{
	const double keys[TOP_SORTS] = {l->second, l->ten, l->all, l->max, l->count};

	return keys[sort];
}

static int by_key(const void *a, const void *b, void *sort)
{
	const struct line *x = a, *y = b;
	double p = key_of(x, *(enum top_sort *)sort), q = key_of(y, *(enum top_sort *)sort);

	if (p != q)
		return p < q ? 1 : -1;
	if (x->all != y->all)
		return x->all < y->all ? 1 : -1;
	return x->cpu != y->cpu ? (x->cpu > y->cpu) - (x->cpu < y->cpu)
				: (x->row > y->row) - (x->row < y->row);
}

static double share_of(uint64_t ns, uint64_t observed)
{
	return observed ? 100.0 * ns / observed : 0;
}

static uint32_t collect_lines(const struct view *v, const struct recent *r, enum top_sort sort,
			      struct line *line, uint32_t room)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->ncpus; i++) {
		const struct sources *t = &v->cpu[i].sources;

		for (uint32_t k = 0; k < t->count && n < room; k++) {
			const struct source *x = t->row[k];

			if (!x->net.count)
				continue;
			line[n++] =
				(struct line){.cpu = i,
					      .row = k,
					      .second = share_of(recent_of(r, i, k, 1).ns,
								 recent_observed(r, i, 1)),
					      .ten = share_of(recent_of(r, i, k, 10).ns,
							      recent_observed(r, i, 10)),
					      .all = share_of(x->net.sum, v->cpu[i].observed_ns),
					      .max = x->net.max,
					      .count = x->count};
		}
	}
	qsort_r(line, n, sizeof(*line), by_key, &sort);
	return n;
}

static void share_cell(struct table *t, double share)
{
	if (share > 0 && share < 0.005)
		table_cell(t, NULL, "<0.01");
	else
		table_cellf(t, NULL, "%.2f", share);
}

static void declare(struct table *t, const struct top_state *s, bool cpus)
{
	const char *mark[TOP_SORTS] = {"1s %", "10s %", "all %", "max", "count"};

	table_column(t, mark[TOP_SECOND], ALIGN_RIGHT, false);
	if (s->width >= NARROW) {
		table_column(t, mark[TOP_TEN], ALIGN_RIGHT, false);
		table_column(t, mark[TOP_START], ALIGN_RIGHT, false);
		table_column(t, mark[TOP_COUNT], ALIGN_RIGHT, false);
	}
	table_column(t, mark[TOP_MAX], ALIGN_RIGHT, false);
	if (cpus)
		table_column(t, "cpu", ALIGN_RIGHT, false);
	if (s->width >= WIDE)
		table_column(t, "kind", ALIGN_LEFT, false);
	if (s->width >= NARROW)
		table_column(t, "cause", ALIGN_LEFT, false);
	table_column(t, "who", ALIGN_LEFT, true);
}

static void row(struct table *t, const struct top_state *s, const struct view *v,
		const struct line *l)
{
	const struct source *source = v->cpu[l->cpu].sources.row[l->row];
	char text[REPORT_WHO];

	share_cell(t, l->second);
	if (s->width >= NARROW) {
		share_cell(t, l->ten);
		share_cell(t, l->all);
		table_cell(t, NULL, format_count(l->count, text, sizeof(text)));
	}
	table_cell(t, NULL, format_ns(l->max, text, sizeof(text)));
	if (v->ncpus > 1)
		table_cellf(t, NULL, "%u", v->cpu[l->cpu].number);
	if (s->width >= WIDE)
		table_cell(t, "2", source_kind_name(source->kind));
	if (s->width >= NARROW)
		table_cell(t, NULL, source->cause ? source->cause : "");
	table_cell(t, "1", report_who(source, text, sizeof(text)));
	table_end_row(t);
}

/* Prints the table's lines, and clears the rest of each. */
static int print_table(const struct top_state *s, const struct table *t, unsigned *left, FILE *out)
{
	char *text = NULL, *line, *next;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return -ENOMEM;
	table_print(t, f, s->colour);
	fclose(f);
	for (line = text; line && *line && *left > 1; line = next) {
		char *end = strchr(line, '\n');

		next = end ? end + 1 : NULL;
		--*left;
		fprintf(out, "%.*s\033[K\r\n", (int)(end ? end - line : (long)strlen(line)), line);
	}
	free(text);
	return 0;
}

static int write_table(const struct top_state *s, const struct view *v, const struct recent *r,
		       unsigned *left, FILE *out)
{
	struct line *line = calloc(ROWS_MAX, sizeof(*line));
	struct table *t = table_new(s->width, 0);
	uint32_t n, rows = *left > 2 ? *left - 2 : 0;
	int err = -ENOMEM;

	if (line && t) {
		declare(t, s, v->ncpus > 1);
		n = collect_lines(v, r, s->sort, line, ROWS_MAX);
		for (uint32_t i = 0; i < n && i < rows; i++)
			row(t, s, v, &line[i]);
		err = print_table(s, t, left, out);
	}
	table_free(t);
	free(line);
	return err;
}

static void write_help(const struct top_state *s, unsigned *left, FILE *out)
{
	static const char *const lines[] = {
		"",
		"1, 0, a   sort by the last second, the last ten, all the time",
		"m, c      sort by the longest, by count",
		"s         the next of these",
		"p, space  pause the screen; measuring goes on",
		"q         quit; so does Ctrl-C",
		"h         back",
		"",
		"1s %, 10s %, all %: how much of its time the CPU lost to a source.",
		"cause: culprit explain ID says what it is and how to end it.",
		"The blocks: time lost in each second, 0.001 % to 100 %.",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]) && *left > 1; i++)
		put(s, left, NULL, lines[i], out);
}

int render_top(const struct view *v, const struct recent *r, const struct top_state *s, FILE *out)
{
	unsigned left = s->height;
	int err = 0;

	fputs("\033[H", out);
	write_head(s, v, &left, out);
	if (s->help) {
		write_help(s, &left, out);
	} else {
		write_cpus(s, v, r, &left, out);
		err = write_table(s, v, r, &left, out);
	}
	while (left > 1)
		put(s, &left, NULL, "", out);
	put(s, &left, "2",
	    s->width < NARROW ? "q quit p pause s sort h help" : "q quit  p pause  s sort  h help",
	    out);
	return err ? err : ferror(out) ? -EIO : 0;
}
